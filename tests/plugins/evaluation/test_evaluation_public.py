"""Files of public benchmarks, as small samples in the format that their authors publish."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import CallerError
from commonplace_evaluation.public import (
    BENCHMARKS,
    Corpus,
    Question,
    Text,
    digest_of,
    read_benchmark,
)

if TYPE_CHECKING:
    from pathlib import Path


def _read(name: str, path: Path) -> list[Corpus]:
    return list(read_benchmark(BENCHMARKS[name], str(path)))


def _write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def locomo(folder: Path) -> Path:
    """Two sessions; evidence is a list of turns, sometimes several in one text."""
    talk = {
        "speaker_a": "Caroline",
        "speaker_b": "Melanie",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Caroline", "dia_id": "D1:1", "text": "I joined a pottery class."},
            {"speaker": "Melanie", "dia_id": "D1:2", "text": "How lovely!", "img_url": ["x"]},
        ],
        "session_2_date_time": "9:55 am on 22 October, 2023",
        "session_2": [{"speaker": "Melanie", "dia_id": "D2:1", "text": "My sailing boat sank."}],
    }
    questions = [
        ("What class did Caroline join?", ["D1:1"], 4),
        ("What happened to the sailing boat?", ["D2:1; D1:2"], 1),
        ("When?", ["D:2:1"], 2),
        ("What is not there?", [], 5),
    ]
    qa = [
        {"question": text, "answer": "x", "evidence": evidence, "category": category}
        for text, evidence, category in questions
    ]
    sample = {"sample_id": "conv-1", "conversation": talk, "qa": qa, "event_summary": {}}
    return _write(folder / "locomo10.json", [sample])


def test_locomo(tmp_path: Path) -> None:
    (corpus,) = _read("locomo", locomo(tmp_path))
    assert corpus.documents == (
        Text(
            "session_1",
            'Caroline said, "I joined a pottery class."\nMelanie said, "How lovely!"',
            "2023-05-08",
        ),
        Text("session_2", 'Melanie said, "My sailing boat sank."', "2023-10-22"),
    )
    assert [question.evidence for question in corpus.questions] == [
        {"session_1"},
        {"session_1", "session_2"},
        {"session_2"},
    ]
    assert [question.category for question in corpus.questions] == [
        "single-hop",
        "multi-hop",
        "temporal",
    ]
    assert corpus.left_out == 1


def test_longmemeval(tmp_path: Path) -> None:
    def one(id_: str) -> dict[str, Any]:
        return {
            "question_id": id_,
            "question_type": "single-session-user",
            "question": "What degree did I graduate with?",
            "answer": "x",
            "question_date": "2023/05/30 (Tue) 23:40",
            "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
            "haystack_session_ids": ["answer_280352e9", "sharegpt_1"],
            "haystack_sessions": [
                [
                    {"role": "user", "content": "My degree is in trade.", "has_answer": True},
                    {"role": "assistant", "content": "Congratulations."},
                ],
                [{"role": "user", "content": "Write a poem."}],
            ],
            "answer_session_ids": ["answer_280352e9"],
        }

    file = _write(tmp_path / "longmemeval_s.json", [one("e47becba"), one("e47becba_abs")])
    first, second = _read("longmemeval", file)
    assert first.documents[0] == Text("answer_280352e9", "My degree is in trade.", "2023-05-20")
    assert first.questions == (
        Question(
            "What degree did I graduate with?",
            frozenset({"answer_280352e9"}),
            "single-session-user",
        ),
    )
    assert (second.questions, second.left_out) == ((), 1)  # an abstention


def test_beam(tmp_path: Path) -> None:
    def said(id_: int, role: str, content: str, **more: str) -> dict[str, Any]:
        return {"role": role, "id": id_, "content": content, **more}

    chat = [
        {
            "batch_number": 1,
            "turns": [
                [
                    said(0, "user", "I use Flask.", time_anchor="March-15-2024", index="1,1"),
                    said(1, "assistant", "Good."),
                    said(2, "user", "The sprint ends on March 29."),
                    said(3, "assistant", "Noted."),
                ],
                [said(4, "user", "Now 250 ms."), said(5, "assistant", "Fast.")],
            ],
        }
    ]
    asked = {
        "abstention": [{"question": "Who am I?", "rubric": []}],
        "information_extraction": [{"question": "When?", "source_chat_ids": [2, 3]}],
        "knowledge_update": [
            {"question": "How fast?", "source_chat_ids": {"original": [0], "updated": [4]}}
        ],
    }
    _write(tmp_path / "100K" / "1" / "chat.json", chat)
    _write(tmp_path / "100K" / "1" / "probing_questions" / "probing_questions.json", asked)
    (corpus,) = _read("beam", tmp_path / "100K")
    assert corpus.name == "1"
    assert corpus.documents[0] == Text("1", "user: I use Flask.\n\nassistant: Good.", "2024-03-15")
    assert [text.day for text in corpus.documents] == ["2024-03-15"] * 3
    assert {q.category: set(q.evidence) for q in corpus.questions} == {
        "information_extraction": {"2"},
        "knowledge_update": {"1", "3"},
    }
    assert corpus.left_out == 1


def test_madial(tmp_path: Path) -> None:
    memories = [
        {"1": {"time": "2023-12-25", "scene": "活动类", "emotion": "开心", "event": "Bart跳舞。"}},
        {"78": {"time": "2023-05-03", "scene": "喜好类", "emotion": "开心", "event": "Bart演唱。"}},
    ]
    dialogue = {
        "dialogue": ["<BOD>\n", '<Bart>:"我要表演魔术！"\n', '<Assistant>:"记得跳舞吗？"\n'],
        "test-turn": [2],
        "relevant-id": [1],
        "user-id": 1,
        "id": 0,
    }
    missing = {**dialogue, "relevant-id": [1, 161]}
    for name, records in (("memory", memories), ("dialogue", [dialogue, missing])):
        (tmp_path / f"MADial-Bench-zh-{name}.json").write_text(
            "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8"
        )
    (corpus,) = _read("madial", tmp_path)
    assert corpus.documents[0] == Text("1", "Bart跳舞。 (活动类, 开心)", "2023-12-25")
    # The words alone, for quotation marks are syntax of queries.
    assert corpus.questions == (Question("我要表演魔术！", frozenset({"1"}), "-"),)
    assert corpus.left_out == 1  # a search cannot find all of what is not there


def test_memdaily(tmp_path: Path) -> None:
    message = {"mid": 0, "message": "我的上司名叫赵雅琳。", "time": "2024年04月02日 周二 08:04"}
    asked = {"qid": 0, "question": "我的上司叫什么？", "target_step_id": [0], "answer": "x"}
    one = {"tid": 7, "message_list": [message], "QA": asked}
    file = _write(tmp_path / "memdaily.json", {"simple": {"roles": [one], "items": None}})
    (corpus,) = _read("memdaily", file)
    assert corpus.name == "simple/roles/7"
    assert corpus.documents == (Text("0", "我的上司名叫赵雅琳。", "2024-04-02"),)
    assert corpus.questions == (Question("我的上司叫什么？", frozenset({"0"}), "simple"),)


@pytest.mark.parametrize("name", sorted(BENCHMARKS))
def test_what_is_not_in_the_format_is_an_error_that_names_it(tmp_path: Path, name: str) -> None:
    with pytest.raises(CallerError, match="no such file"):
        _read(name, tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    for wrong in (tmp_path / "empty", _write(tmp_path / "wrong.json", [{"x": 1}])):
        with pytest.raises(CallerError, match=f"not a file of {name}"):
            _read(name, wrong)


SHAPES = {
    "locomo": [{"conversation": {}, "qa": []}],
    "longmemeval": [{"question_id": "a", "haystack_sessions": []}],
    "memdaily": {"empty": None, "simple": {"roles": [{"tid": 1, "message_list": [], "QA": {}}]}},
}
HOLDS = {
    "locomo": '"conversation"',
    "longmemeval": '"haystack_sessions"',
    "beam": "chat.json",
    "madial": r"\*-dialogue\.json",
    "memdaily": '"message_list"',
}


@pytest.mark.parametrize("name", sorted(BENCHMARKS))
@pytest.mark.parametrize("shape", [*SHAPES, "list", "text", "number", "none"])
def test_a_wrong_file_is_answered_with_what_was_expected(
    tmp_path: Path, name: str, shape: str
) -> None:
    others = {"list": [{"x": 1}], "text": "a", "number": [3], "none": [None]}
    file = _write(tmp_path / "some.json", {**SHAPES, **others}[shape])
    if name == shape:
        return
    with pytest.raises(CallerError, match=f"expected is .*{HOLDS[name]}") as caught:
        _read(name, file)
    assert not re.search(r"[A-Z]\w+Error|Traceback|object has no|indices|Errno", str(caught.value))
    like = f"it looks like {shape}: commonplace bench {shape} {file}"
    assert caught.value.hint.startswith(like if shape in SHAPES else "what is read: ")


@pytest.mark.parametrize(
    ("name", "inside"), [("beam", "1/chat.json"), ("madial", "en-dialogue.json")]
)
def test_a_folder_of_another_benchmark_is_recognised(
    tmp_path: Path, name: str, inside: str
) -> None:
    file = _write(tmp_path / "data" / inside, [{"x": 1}])
    for path in (tmp_path / "data", file):
        with pytest.raises(CallerError, match="not a file of lo") as caught:
            _read("locomo" if path == file else "longmemeval", path)
        given = path if path != file else file.parent
        assert caught.value.hint == f"it looks like {name}: commonplace bench {name} {given}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('[{"conversation": {"session_1": 1e999}, "qa": []}]', "not a file of locomo"),
        (
            '[{"conversation": {"session_1": [{"speaker": "A", "text": "\\ud800"}]}, "qa": []}]',
            "half of a character",
        ),
        (
            '[{"sample_id": "s7", "conversation": {"session_1": [{"speaker": "A"}]}, "qa": []}]',
            "a turn in session_1 of s7 has no 'text'",
        ),
        (
            (
                '[{"conversation": {"session_1": [{"speaker": "A", "text": "b"}]}, "qa": '
                '[{"question": null, "evidence": ["D1:1"], "category": 1}]}]'
            ),
            "must be a text",
        ),
    ],
)
def test_a_malformed_file_is_an_error_in_words(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "locomo10.json").write_text(text, encoding="utf-8")
    with pytest.raises(CallerError, match=words):
        _read("locomo", tmp_path / "locomo10.json")


def test_a_file_is_utf_8_with_or_without_a_byte_order_mark(tmp_path: Path) -> None:
    good = locomo(tmp_path)
    (tmp_path / "bom.json").write_bytes(b"\xef\xbb\xbf" + good.read_bytes())
    assert _read("locomo", tmp_path / "bom.json") == _read("locomo", good)
    (tmp_path / "latin.json").write_bytes(b'[\n"\xe9"]')
    with pytest.raises(CallerError, match=r"latin\.json:2: not UTF-8"):
        _read("locomo", tmp_path / "latin.json")


def test_a_digest_is_that_of_sha256sum(tmp_path: Path) -> None:
    for name in ("b/two.json", "a.json"):
        _write(tmp_path / "data" / name, name)
    one = digest_of(str(tmp_path / "data" / "a.json"))
    two = digest_of(str(tmp_path / "data" / "b" / "two.json"))
    assert one == sha256(b'"a.json"').hexdigest()
    listed = f"{one}  a.json\n{two}  b/two.json\n"
    assert digest_of(str(tmp_path / "data")) == sha256(listed.encode()).hexdigest()
