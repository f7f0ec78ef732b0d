"""Notes are found by what they write in other letters, or in other numerals, than the query."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from commonplace import Memory
from commonplace.errors import DeclinedError, UnavailableError
from commonplace.model.search import Arm, Found, KeywordQuery, Query, StoredChunk
from commonplace.search.asking_again import with_spellings
from commonplace.text.analyse import make_analyser

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

ANALYSER = make_analyser()

NOTES = {
    "simplified": "钢琴课改到周三晚上。电脑的密码在资料夹里。",
    "traditional": "網路儲存設備買了群暉。颱風過後屋頂漏水。",
    "katakana": "メガネの度数を測った。スマートフォンを買い替えた。",
    "hiragana": "らーめんは駅前の店がうまい。",
    "name": "渡辺さんの電話は三番です。",
    "chinese": "备份保留六十天。每次用两个鸡蛋。押金一百零五元。",
    "japanese": "餃子の皮を三十枚と、豚ひき肉。",
    "digits": "冰糖30克，小火炖45分钟。",
    "korean": "로그는 육십일 동안 보관한다.",
    "thai": "เก็บไฟล์สำรองไว้หกสิบวัน",
    "thai digits": "จ่ายค่าไฟ ๑๔๕๐ บาท ปี ๒๕๖๘",
    "arabic digits": "رقم الشقة ٤٧١٢ في المبنى",
    "hindi digits": "किराया ८२५० रुपये",
}
CASES = [
    ("鋼琴課", "simplified"),
    ("電腦密碼", "simplified"),
    ("資料夾", "simplified"),
    ("网络储存", "traditional"),
    ("台风", "traditional"),
    ("屋顶漏水吗", "traditional"),
    ("めがね", "katakana"),
    ("すまーとふぉん", "katakana"),
    ("ﾒｶﾞﾈ", "katakana"),
    ("ラーメン", "hiragana"),
    ("ﾗｰﾒﾝ", "hiragana"),
    ("渡邉", "name"),
    ("渡邊さん", "name"),
    ("60天", "chinese"),
    ("６０天", "chinese"),
    ("2个", "chinese"),
    ("105元", "chinese"),
    ("30枚", "japanese"),
    ("三十克", "digits"),
    ("四十五分钟", "digits"),
    ("60일", "korean"),
    ("60 วัน", "thai"),
    ("๖๐ วัน", "thai"),
    ("1450", "thai digits"),
    ("2568", "thai digits"),
    ("๑๔๕๐", "thai digits"),
    ("4712", "arabic digits"),
    ("٤٧١٢", "arabic digits"),
    ("8250", "hindi digits"),
]


@pytest.fixture(scope="module", params=["builtin", "inmemory"])
def memory(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Memory]:
    home = tmp_path_factory.mktemp("spellings")
    notes = home / "notes" / "memory"
    notes.mkdir(parents=True)
    for name, text in NOTES.items():
        (notes / f"{name}.md").write_text(f"{text}\n", "utf-8")
    env = {"HOME": str(home), "COMMONPLACE_STATE_DIR": str(home / "state")}
    config = {"memory": {"backend": [request.param]}}
    with Memory.open(workspace=home / "notes", config=config, env=env) as memory:
        memory.sync()
        yield memory


@pytest.mark.parametrize(("query", "name"), CASES)
def test_what_is_written_otherwise_is_found(memory: Memory, query: str, name: str) -> None:
    result = memory.search(query)
    assert [hit.path for hit in result.hits[:1]] == [f"memory/{name}.md"]
    assert result.notes == ()


@pytest.mark.parametrize(
    ("query", "shown"),
    [("電腦密碼", {"电脑", "密码"}), ("ラーメン", {"らーめん"}), ("1450", {"๑๔๕๐"})],
)
def test_what_is_found_is_marked_in_the_snippet(
    memory: Memory, query: str, shown: set[str]
) -> None:
    hit = memory.search(query).hits[0]
    marked = {hit.snippet[start:end] for start, end in hit.highlights}
    assert all(any(part in one for one in marked) for part in shown)


@pytest.mark.parametrize(
    "query", ["歷史課", "コーヒー", "渡会", "70天", "七十天", "4713", "三十一克"]
)
def test_what_no_note_has_in_any_letters_is_not_found_for_them(memory: Memory, query: str) -> None:
    first = memory.search(query).hits[:1]
    assert not [hit for hit in first if hit.score > 0.7]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ('"鋼琴課"', "simplified"),
        ('"電腦的密碼" 資料夾', "simplified"),
        ('"屋顶"', "traditional"),
        ('"台风过后" "漏水"', "traditional"),
    ],
)
def test_a_quoted_phrase_is_found_in_the_other_script(
    memory: Memory, query: str, name: str
) -> None:
    result = memory.search(query)
    assert [hit.path for hit in result.hits] == [f"memory/{name}.md"]
    assert result.notes == ()
    assert all(f'"{phrase}"' in result.hits[0].explain.filters for phrase in query.split('"')[1:2])


@pytest.mark.parametrize("query", ['"課鋼琴"', '"電腦密碼"', '"網路颱風"'])
def test_the_quotes_are_dropped_of_what_no_note_has_side_by_side_in_any_letters(
    memory: Memory, query: str
) -> None:
    assert memory.search(query).notes == (
        "no note has the quoted words side by side; shown is what comes near",
    )


def test_what_is_excluded_stays_so_in_other_letters(memory: Memory) -> None:
    paths = [hit.path for hit in memory.search("鋼琴課 -钢琴课").hits]
    assert "memory/simplified.md" not in paths


MIXED = {
    "s": "钢琴课改到周三晚上。台风打破了窗户。",
    "t": "鋼琴課的老師姓林。颱風過後屋頂漏水。",
    "both": "鋼琴調音一百元。钢琴放在客厅。",
    "other": "其他的筆記，沒有關係。",
}


@pytest.fixture(scope="module", params=["builtin", "inmemory"])
def mixed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Memory]:
    home = tmp_path_factory.mktemp("mixed")
    notes = home / "notes" / "memory"
    notes.mkdir(parents=True)
    for name, text in MIXED.items():
        (notes / f"{name}.md").write_text(f"{text}\n", "utf-8")
    env = {"HOME": str(home), "COMMONPLACE_STATE_DIR": str(home / "state")}
    config = {"memory": {"backend": [request.param]}}
    with Memory.open(workspace=home / "notes", config=config, env=env) as memory:
        memory.sync()
        yield memory


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("鋼琴課", ["t", "s"]),
        ("钢琴课", ["s", "t"]),
        ("钢琴课老师是谁", ["t", "s"]),  # 老师 is in the other script alone
        ("鋼琴課改到什麼時候", ["s", "t"]),
        ('"鋼琴課"', ["t", "s"]),
        ('"钢琴课"', ["s", "t"]),
    ],
)
def test_of_notes_in_both_scripts_those_of_either_are_found(
    mixed: Memory, query: str, names: list[str]
) -> None:
    result = mixed.search(query)
    found = [hit for hit in result.hits if hit.path != "memory/both.md"]
    assert [hit.path for hit in found[:2]] == [f"memory/{name}.md" for name in names]
    assert all(hit.highlights for hit in found[:2])
    assert len({hit.citation for hit in result.hits}) == len(result.hits)
    assert result.notes == ()


def test_the_explanation_says_what_is_in_the_other_script(mixed: Memory) -> None:
    notes = {hit.path: hit.explain.arms[0].note for hit in mixed.search("鋼琴課").hits}
    assert notes["memory/s.md"].endswith("; evidence x 0.95: it is in the other script")
    assert not notes["memory/t.md"].endswith("in the other script")


def test_a_note_of_both_scripts_is_scored_by_that_which_it_has_more_of(mixed: Memory) -> None:
    scores = {hit.path: hit.score for hit in mixed.search("钢琴调音").hits}
    assert max(scores, key=lambda path: scores[path]) == "memory/both.md"


def test_the_compatible_profile_finds_as_the_original_does(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "a.md").write_text(f"{NOTES['simplified']}\n", "utf-8")
    config = {"memory": {"search": {"ranking": {"profile": "compat"}}}}
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    with Memory.open(workspace=tmp_path, config=config, env=env) as compat:
        compat.sync()
        assert not compat.search("鋼琴課").hits


def test_an_index_of_other_digits_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from commonplace.text import tokens
    from commonplace.text.standard import StandardAnalyser

    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "a.md").write_text(f"{NOTES['thai digits']}\n", "utf-8")
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    with monkeypatch.context() as before:
        before.setattr(StandardAnalyser, "id", "standard-10")
        before.setattr(tokens, "in_our_digits", lambda word: word)
        with Memory.open(workspace=tmp_path, env=env) as old:
            old.sync()
            assert not old.search("1450").hits
    with Memory.open(workspace=tmp_path, env=env) as new:
        assert new.sync().changed
        assert [hit.path for hit in new.search("1450").hits] == ["memory/a.md"]


class Store:
    """Counts chunks by a table of tokens, and remembers what it was asked for."""

    def __init__(self, counts: Mapping[str, int], *texts: str) -> None:
        chunks = [
            StoredChunk(at, "memory", f"{at}.md", 1, 1, text) for at, text in enumerate(texts)
        ]
        self._found = tuple(Found(chunk, 1.0) for chunk in chunks)
        self._counts, self.lookups, self.queries = counts, list[set[str]](), list[Query]()

    def holders(self, tokens: Collection[str]) -> Mapping[str, int]:
        self.lookups.append(set(tokens))
        return {token: self._counts.get(token, 0) for token in tokens}

    def ask(self, query: Query) -> tuple[Arm, ...]:
        self.queries.append(query)
        return (Arm("again", "bm25", ()),)

    def search(self, text: str, keyword: KeywordQuery) -> Query:
        unknown = frozenset(keyword.should) - self._counts.keys()
        arms = (Arm("keyword", "bm25", self._found, unknown=unknown, holders=self.holders),)
        query, _, notes = with_spellings(Query(text, keyword), arms, [text], ANALYSER, self.ask)
        assert not notes
        return query


def test_notes_in_one_script_cost_one_look_at_single_letters() -> None:
    store = Store({"里面": 1, "里": 1, "面": 1})
    keyword = KeywordQuery(should=("发展", "展里", "里面"))
    assert store.search("发展里面", keyword).keyword == keyword
    assert (store.lookups, store.queries) == ([set("發髮展裡裏")], [])


def test_where_notes_have_the_script_of_a_query_its_known_letters_are_not_looked_up() -> None:
    known = {"展会": 1, "展": 1, "会": 1, "发": 1, "斉": 1, "藤": 1}
    keyword = KeywordQuery(should=("展会", "会发", "会", "发"))
    store = Store(known)
    assert store.search("展会发", keyword).keyword == keyword
    assert store.lookups == []
    store = Store(known | {"斎": 1, "斎藤": 1})
    wider = store.search("展会斉藤", KeywordQuery(should=("展会", "斉藤", "斉", "藤"))).keyword
    assert wider.should == ("展会", "斉", "藤", "斎藤")


@pytest.mark.parametrize(
    ("text", "looks"),
    [("钢琴在客厅里。", 0), ("鋼琴在客廳裡。", 1), ("琴在那。", 0), ("鋼琴" + "的" * 99, 0)],
)
def test_a_few_letters_tell_whether_notes_have_the_query_in_the_other_script(
    text: str, looks: int
) -> None:
    pairs = [a + b for a, b in pairwise("发展览馆电脑网络线丝绸缎绣锦纺织")]
    store = Store(dict.fromkeys(pairs, 1), text)
    keyword = KeywordQuery(should=tuple(pairs))
    assert store.search("".join(pairs), keyword).keyword == keyword
    assert (len(store.lookups), store.queries) == (looks, [])
    assert all(len(letters) <= 6 and letters <= set("發髮覽館電") for letters in store.lookups)


def test_what_notes_have_takes_the_place_of_what_they_lack() -> None:
    store = Store(
        {"电": 2, "脑": 1, "电脑": 1, "密": 1, "密码": 1, "码": 1, "现": 1, "在": 1, "现在": 1}
    )
    keyword = KeywordQuery(
        should=("電腦", "腦密", "密碼", "現在"),
        selective=("電腦", "密碼"),
        neighbours=(("電腦", "腦密"), ("腦密", "密碼")),
        timed=frozenset(("現在",)),
    )
    wider = store.search("電腦密碼現在", keyword).keyword
    assert set(wider.should) == {"电脑", "腦密", "密码", "现在"}
    assert set(wider.selective) >= {"电脑", "密码"}
    assert wider.neighbours == (("电脑", "腦密"), ("腦密", "密码"))
    assert wider.instead == {"电脑", "密码", "现在"}
    assert not wider.beside
    assert wider.timed == {"现在"}


def test_a_number_that_some_notes_have_as_typed_is_searched_for_in_both_forms() -> None:
    store = Store({"60": 1, "六十": 1, "十天": 1})
    wider = store.search("60天", KeywordQuery(should=("60", "天"))).keyword
    assert set(wider.should) == {"60", "天", "六十", "十天"}
    assert wider.beside == {"六十", "十天"}


def test_hiragana_is_taken_for_a_word_where_two_pairs_stand_side_by_side() -> None:
    store = Store({"メガ": 1, "ガネ": 1, "デス": 1})
    keyword = KeywordQuery(should=("めが", "がね", "ねで", "です", "すか"))
    wider = store.search("めがねですか", keyword).keyword
    assert set(wider.should) == {"メガ", "ガネ", "ねで", "です", "すか"}


def test_a_word_in_katakana_is_held_whole() -> None:
    store = Store({"らー": 1, "ーめ": 1})
    keyword = KeywordQuery(should=("ラー", "ーメ", "メン"))
    assert store.search("ラーメン", keyword).keyword == keyword


def test_a_long_text_looks_up_few_runs_and_numbers() -> None:
    store = Store({})
    kana = "".join(chr(0x3041 + at % 80) for at in range(0, 9_000, 7))
    text = kana + "".join(f"{number}天" for number in range(1_000, 3_000))
    pairs = tuple(dict.fromkeys(map("".join, pairwise(kana))))
    store.search(text, KeywordQuery(should=pairs[:256]))
    assert sum(map(len, store.lookups)) < 1_500


@pytest.mark.parametrize("error", [UnavailableError("it is busy"), DeclinedError("it is busy")])
def test_the_first_answer_holds_where_nothing_can_be_looked_up(
    error: UnavailableError | DeclinedError,
) -> None:
    def broken(tokens: Collection[str]) -> Mapping[str, int]:
        raise error

    def ask(query: Query) -> tuple[Arm, ...]:
        raise AssertionError

    query = Query("電腦", KeywordQuery(should=("電腦",)))
    arms = (Arm("keyword", "bm25", (), unknown=frozenset(("電腦",)), holders=broken),)
    answer = with_spellings(query, arms, ["電腦"], ANALYSER, ask)
    assert answer == (query, arms, ("similar words could not be looked up: it is busy",))


def test_a_store_that_counts_nothing_is_asked_once() -> None:
    query = Query("電腦", KeywordQuery(should=("電腦",)))
    arms = (Arm("keyword", "bm25", (), unknown=frozenset(("電腦",))),)
    assert with_spellings(query, arms, ["電腦"], ANALYSER, lambda _: ()) == (query, arms, ())
