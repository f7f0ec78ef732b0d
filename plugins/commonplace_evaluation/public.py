"""Reads the files of public benchmarks of memory: documents, questions, and where answers stand.

Nothing is downloaded: the files are those that the benchmarks' authors publish. Only retrieval is
measured, so answers are not read; a question whose evidence the file does not name is left out.
"""

from __future__ import annotations

import os
import re
from hashlib import file_digest, sha256
from typing import TYPE_CHECKING, Any

from commonplace.plugin import CallerError, NamedTuple
from commonplace_evaluation.sets import parsed, plain_text, utf8_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_DAY = re.compile(r"(\d{4})[-/年](\d{1,2})[-/月](\d{1,2})")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_LONG_DAY = re.compile(r"(\d{1,2}) (" + "|".join(_MONTHS) + r"),? (\d{4})", re.IGNORECASE)


_MALFORMED = (
    *(OSError, ValueError, KeyError, TypeError, IndexError, AttributeError),
    *(OverflowError, RecursionError),
)
"""What reading raises for a file that is not in the format of its benchmark."""


class _MalformedError(ValueError):
    """What is wrong with a file, in words for its reader: other errors are those of Python."""


class Text(NamedTuple):
    """A document: what evidence names. ``day`` is ISO 8601, or empty where the file has none."""

    id: str
    text: str
    day: str = ""


class Question(NamedTuple):
    """A question and the ids of the documents that its answer needs."""

    text: str
    evidence: frozenset[str]
    category: str


class Corpus(NamedTuple):
    """Documents that are searched together, and the questions on them; ``left_out`` have none."""

    name: str
    documents: tuple[Text, ...]
    questions: tuple[Question, ...]
    left_out: int


class Benchmark(NamedTuple):
    """A public benchmark.

    ``read`` takes the path of its file or folder. ``files`` says which version of the format is
    read, ``holds`` what stands in it, ``document`` what a document is, and ``known`` names files by
    their SHA-256.
    """

    name: str
    files: str
    holds: str
    document: str
    read: Callable[[str], Iterator[Corpus]]
    known: dict[str, str]


def digest_of(path: str) -> str:
    """The SHA-256 of a file; of a folder that of the lines ``digest  path`` of all its files."""
    if os.path.isfile(path):
        with open(path, "rb") as file:
            return file_digest(file, sha256).hexdigest()
    lines = []
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in names:
            whole = os.path.join(folder, name)
            below = os.path.relpath(whole, path).replace(os.sep, "/")
            lines.append(f"{digest_of(whole)}  {below}\n")
    return sha256("".join(sorted(lines, key=lambda line: line[66:])).encode()).hexdigest()


def read_benchmark(benchmark: Benchmark, path: str) -> Iterator[Corpus]:
    """The corpora of ``benchmark`` in ``path``, one after the other.

    Raises :class:`~commonplace.errors.CallerError` for what is not in its format.
    """
    if not os.path.exists(path):
        raise CallerError(
            f"{path}: no such file or folder",
            hint=f"nothing is downloaded: get {benchmark.files} from its authors",
        )
    try:
        yield from benchmark.read(path)
    except _MALFORMED as error:
        raise _not_of(benchmark, path, error) from error


def _not_of(benchmark: Benchmark, path: str, error: Exception) -> CallerError:
    from commonplace_evaluation.guessing import benchmark_like

    why = f" ({error})" if isinstance(error, _MalformedError) else ""
    if isinstance(error, OSError):
        why = f" ({error.filename or path}: {error.strerror or error})"
    name, given_path = benchmark_like(path)
    hint = f"what is read: {benchmark.files}"
    if name and (name, given_path) != (benchmark.name, path):
        hint = f"it looks like {name}: commonplace bench {name} {given_path}"
    return CallerError(
        f"{path}: not a file of {benchmark.name}{why}: expected is {benchmark.holds}", hint=hint
    )


def _plain(value: object, name: str) -> None:
    try:
        plain_text(value, name)
    except ValueError as error:
        raise _MalformedError(str(error)) from error


def _corpus(
    name: str, documents: Iterable[Text], questions: Iterable[tuple[str, Iterable[str], str]]
) -> Corpus:
    """A corpus without the questions that name no evidence, or some that is not in ``documents``.

    Raises :class:`_MalformedError` for what is no text.
    """
    texts = tuple(documents)
    for text in texts:
        _plain(text.text or "-", f"the text of {text.id} in {name}")
    there = {text.id for text in texts}
    kept, left_out = [], 0
    for question, evidence, category in questions:
        named = frozenset(evidence)
        if named and named <= there:
            _plain(question, f"a question of {name}")
            kept.append(Question(question, named, category))
        else:
            left_out += 1
    return Corpus(name, texts, tuple(kept), left_out)


def _load(path: str) -> Any:
    return _parsed(utf8_text(path), path)


def _parsed(text: str, where: str) -> Any:
    try:
        return parsed(text)
    except ValueError as error:
        raise _MalformedError(f"{where} is no JSON: {error}") from error


def _day(text: str) -> str:
    """The first day named in ``text`` as ISO 8601, or nothing."""
    if found := _DAY.search(text):
        year, month, day = map(int, found.groups())
    elif found := _LONG_DAY.search(text):
        day, month, year = int(found[1]), _MONTHS.index(found[2].lower()) + 1, int(found[3])
    else:
        return ""
    return f"{year:04}-{month:02}-{day:02}"


_LOCOMO = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


def _locomo(path: str) -> Iterator[Corpus]:
    """A session is a document, laid out as ``NAME said, "TEXT"``, a line for each turn."""
    for number, sample in enumerate(_load(path), 1):
        talk, name = sample["conversation"], str(sample.get("sample_id", number))
        sessions = [key for key in talk if re.fullmatch(r"session_\d+", key)]
        documents = [
            Text(
                key,
                "\n".join(_turn(turn, f"{key} of {name}") for turn in talk[key]),
                _day(talk.get(f"{key}_date_time", "")),
            )
            for key in sorted(sessions, key=lambda key: int(key[8:]))
        ]
        questions = (
            (
                one["question"],
                # Some name several turns in one text, or a turn as D:11:26.
                {f"session_{int(at)}" for at in re.findall(r"D:?(\d+):", str(one["evidence"]))},
                _LOCOMO.get(one["category"], str(one["category"])),
            )
            for one in sample["qa"]
        )
        yield _corpus(name, documents, questions)


def _turn(turn: dict[str, str], where: str) -> str:
    for key in ("speaker", "text"):
        if key not in turn:
            raise _MalformedError(f"a turn in {where} has no {key!r}")
    return f'{turn["speaker"]} said, "{turn["text"]}"'


def _longmemeval(path: str) -> Iterator[Corpus]:
    """A session is a document: the user's turns, as in the authors' own retrieval."""
    for one in _load(path):
        sessions = zip(
            one["haystack_session_ids"],
            one["haystack_sessions"],
            one["haystack_dates"],
            strict=True,
        )
        documents = {
            id_: Text(
                id_,
                "\n".join(turn["content"] for turn in turns if turn["role"] == "user"),
                _day(date),
            )
            for id_, turns, date in sessions
        }
        abstention = one["question_id"].endswith("_abs")  # there is nothing to be found
        evidence = [] if abstention else one["answer_session_ids"]
        question = (one["question"], evidence, one["question_type"])
        yield _corpus(one["question_id"], documents.values(), [question])


def _beam(path: str) -> Iterator[Corpus]:
    """A user's message with the answer to it is a document; evidence names messages by id."""
    folders = [folder for folder, _, names in sorted(os.walk(path)) if "chat.json" in names]
    if not folders:
        raise _MalformedError("no chat.json in it or below")
    for folder in folders:
        file = os.path.join(folder, "probing_questions", "probing_questions.json")
        if not os.path.isfile(file):
            continue  # some chats are published without
        pairs: list[list[dict[str, Any]]] = []
        day: dict[int, str] = {}
        for batch in _load(os.path.join(folder, "chat.json")):
            for message in (message for turn in batch["turns"] for message in turn):
                if message["role"] == "user" or not pairs:
                    pairs.append([])
                pairs[-1].append(message)
                if anchor := message.get("time_anchor"):
                    day[len(pairs)] = _day(_turned(anchor))
        documents = []
        of_message: dict[int, str] = {}
        latest = ""
        for number, pair in enumerate(pairs, 1):
            latest = day.get(number, latest)
            text = "\n\n".join(f"{one['role']}: {one['content']}" for one in pair)
            documents.append(Text(str(number), text, latest))
            of_message |= {int(one["id"]): str(number) for one in pair}
        questions = (
            (
                one["question"],
                {of_message.get(at, "") for at in _numbers(one.get("source_chat_ids"))},
                category,
            )
            for category, those in _load(file).items()
            for one in those
        )
        yield _corpus(os.path.relpath(folder, path), documents, questions)


def _turned(anchor: str) -> str:
    """``March-15-2024`` as ``15 March 2024``."""
    month, _, rest = anchor.partition("-")
    day, _, year = rest.partition("-")
    return f"{day} {month} {year}"


def _numbers(value: object) -> Iterator[int]:
    """All integers in nested lists and objects."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, dict):
        yield from _numbers(list(value.values()))
    elif isinstance(value, list):
        for one in value:
            yield from _numbers(one)


def _madial(path: str) -> Iterator[Corpus]:
    """A memory is a document; the query is what was said before the first turn that is tested."""
    dialogues = sorted(name for name in os.listdir(path) if name.endswith("-dialogue.json"))
    if not dialogues:
        raise _MalformedError("no *-dialogue.json in it")
    for name in dialogues:
        memories = os.path.join(path, name.replace("-dialogue.json", "-memory.json"))
        documents = [
            Text(id_, f"{one['event']} ({one['scene']}, {one['emotion']})", _day(one["time"]))
            for record in _records(memories)
            for id_, one in record.items()
        ]
        questions = (
            (
                _without_speakers(one["dialogue"][: one["test-turn"][0]]),
                map(str, one["relevant-id"]),
                "-",
            )
            for one in _records(os.path.join(path, name))
        )
        yield _corpus(name.removesuffix("-dialogue.json"), documents, questions)


def _records(path: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(utf8_text(path).split("\n"), 1):
        if line.strip():
            yield _parsed(line, f"{path}:{number}")


def _without_speakers(turns: list[str]) -> str:
    """The words of ``turns`` without speakers and quotation marks, which are not of the query."""
    return " ".join(" ".join(re.sub(r'<\w+>:?|["“”]', " ", turn) for turn in turns).split())


def _memdaily(path: str) -> Iterator[Corpus]:
    """A message is a document; each trajectory is a corpus of its own."""
    for kind, scenes in _load(path).items():
        for scene, trajectories in scenes.items():
            for one in trajectories or ():
                documents = (
                    Text(str(message["mid"]), message["message"], _day(message["time"]))
                    for message in one["message_list"]
                )
                labelled = one["QA"]
                evidence = map(str, _numbers(labelled["target_step_id"]))
                question = (labelled["question"], evidence, kind)
                yield _corpus(f"{kind}/{scene}/{one['tid']}", documents, [question])


BENCHMARKS = {
    one.name: one
    for one in (
        Benchmark(
            "locomo",
            "locomo10.json of snap-research/locomo (2024)",
            'a list of objects with "conversation" (session_1, session_1_date_time, …) and "qa" '
            "(question, evidence, category)",
            "a session",
            _locomo,
            {
                "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4": "locomo10.json "
                "of March 2024"
            },
        ),
        Benchmark(
            "longmemeval",
            "longmemeval_s.json, longmemeval_m.json, longmemeval_oracle.json or their _cleaned "
            "editions (xiaowu0162, 2024 and 2025)",
            'a list of objects with "question_id", "question_type", "question", '
            '"haystack_sessions", "haystack_session_ids", "haystack_dates", "answer_session_ids"',
            "a session, the user's turns alone",
            _longmemeval,
            {
                "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442": "longmemeval_s_"
                "cleaned.json of 2025"
            },
        ),
        Benchmark(
            "beam",
            "a folder of chats (chats/100K of mohammadtavakoli78/BEAM, 2025): chat.json and "
            "probing_questions/ in each; not those of 10M tokens",
            'a folder with folders of chats: chat.json, a list of batches with "turns" of '
            "messages, and probing_questions/probing_questions.json, questions by category",
            "a user's message with the answer to it",
            _beam,
            {},
        ),
        Benchmark(
            "madial",
            "data/en or data/ch of hejunqing/MADial-Bench (2024): *-dialogue.json and "
            "*-memory.json",
            'a folder with *-dialogue.json (an object a line with "dialogue", "test-turn" and '
            '"relevant-id") and *-memory.json (an object a line, memories by id)',
            "a memory",
            _madial,
            {},
        ),
        Benchmark(
            "memdaily",
            "memdaily.json of nuster1128/MemSim (2024)",
            'an object of kinds ("simple", …), each an object of scenes, each a list of objects '
            'with "tid", "message_list" and "QA"',
            "a message",
            _memdaily,
            {},
        ),
    )
}
