from __future__ import annotations

import json
import os
import random
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import CallerError, Memory, MemoryTools, NoteText, UnavailableError
from commonplace.cli import main
from commonplace.plugin import NoteLine, Recalled, facts, recall_log
from commonplace_dream.gates import Step, worded
from commonplace_dream.proposal import apply, diff_of, dream, edited

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DAY = 86_400.0
START = 1_790_000_000.0
SUBJECTS = "router staging printer backup garage invoice tenant boiler license mirror".split()  # noqa: SIM905
THINGS = "port owner colour supplier address deadline budget password vendor schedule".split()  # noqa: SIM905


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Memory]:
    def make(*, recalls: bool = True, **notes: str) -> Memory:
        workspace = tmp_path / "ws"
        (workspace / "memory").mkdir(parents=True, exist_ok=True)
        for name, text in notes.items():
            path = "MEMORY.md" if name == "MEMORY" else f"memory/{name.replace('_', '-')[1:]}.md"
            (workspace / path).write_text(text)
        env = {"COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
        config = {"memory": {"recalls": {"enabled": recalls}}}
        return Memory.open(workspace=workspace, env=env, config=config)

    return make


def ask(memory: Memory, question: str, *days: int) -> None:
    for day in days:
        MemoryTools(memory, clock=lambda day=day: START + day * DAY).call(  # type: ignore[misc]
            "memory_search", {"query": question}
        )


LOG = (
    "# Day\n\n- The staging port is 8444.\n- Ate soup with Ann at noon.\n"
    "- The printer needs toner 305A.\n"
)


def ask_often(memory: Memory, subject: str = "staging port") -> None:
    ask(memory, f"which {subject}?", 0, 1, 2)
    ask(memory, f"tell me the {subject} again", 2, 3)


def test_what_is_recalled_often_on_several_days_by_several_questions_is_proposed(
    make: Callable[..., Memory],
) -> None:
    with make(_2026_09_01=LOG, MEMORY="# Memory\n\n- Ann is the tenant.\n") as memory:
        ask_often(memory)
        found = dream(memory)
        (step,) = found.steps
        assert step.source.citation == "memory/2026-09-01.md#L3"
        assert (step.recalled.times, len(step.recalled.days)) == (5, 4)
        assert len(step.recalled.questions) == 2
        assert "+- The staging port is 8444. (Source: memory/2026-09-01.md#L3)" in diff_of(
            memory, found
        )
        assert [line.text for line in found.stale] == ["Ann is the tenant."]


def test_nothing_is_written_before_it_is_applied_and_an_undo_restores_every_byte(
    make: Callable[..., Memory], tmp_path: Path
) -> None:
    note = tmp_path / "ws/MEMORY.md"
    with make(_2026_09_01=LOG, MEMORY="# Memory\r\n\r\n- Ann is the tenant.") as memory:
        before = note.read_bytes()
        ask_often(memory)
        found = dream(memory)
        assert note.read_bytes() == before
        receipt = apply(memory, found.path, found.steps)
        assert "(Source: memory/2026-09-01.md#L3)" in note.read_text()
        assert b"\n" not in note.read_bytes().replace(b"\r\n", b"")
        assert dream(memory).steps == ()
        memory.writer(origin="owner", who="test").undo(receipt)
        assert note.read_bytes() == before


@pytest.mark.parametrize(
    ("question", "days"),
    [
        (("which staging port?",), (0, 1, 2, 3)),  # one question
        (("which staging port?", "tell the staging port"), (0,)),  # one day
        (("which staging port?",), (0, 1)),  # too rarely
        ((), ()),
    ],
)
def test_what_does_not_pass_every_gate_is_not_proposed(
    make: Callable[..., Memory], question: tuple[str, ...], days: tuple[int, ...]
) -> None:
    with make(_2026_09_01=LOG) as memory:
        for one in question:
            ask(memory, one, *days)
        assert dream(memory).steps == ()


def test_without_the_setting_nothing_is_recorded(make: Callable[..., Memory]) -> None:
    with make(recalls=False, _2026_09_01=LOG) as memory:
        ask_often(memory)
        assert dream(memory).recorded == 0
        settings = memory.settings
        assert recall_log(settings.state_dir, settings.workspace).read() == {}


def test_the_log_holds_no_text(make: Callable[..., Memory], tmp_path: Path) -> None:
    with make(_2026_09_01=LOG) as memory:
        ask_often(memory)
    (log,) = (tmp_path / "state/recalls").iterdir()
    assert log.stat().st_mode & 0o777 == 0o600
    text = log.read_text()
    assert "staging" not in text
    assert "8444" not in text


def test_half_a_line_of_the_log_is_skipped(make: Callable[..., Memory], tmp_path: Path) -> None:
    with make(_2026_09_01=LOG) as memory:
        ask_often(memory)
        (log,) = (tmp_path / "state/recalls").iterdir()
        log.write_text(log.read_text() + '{"day": "2026-')
        assert len(dream(memory).steps) == 1


def test_a_newer_value_takes_the_place_of_the_kept_one(make: Callable[..., Memory]) -> None:
    kept = "# Memory\n\n- The staging port is 8410.\n- Ann is the tenant.\n"
    later = "- The staging port is 8450.\n"
    with make(_2026_09_01=LOG, _2026_10_01=later, MEMORY=kept) as memory:
        ask_often(memory)
        found = dream(memory)
        (step,) = found.steps
        assert step.text == "The staging port is 8450."
        assert step.replaces is not None
        apply(memory, found.path, found.steps)
        text = memory.get("MEMORY.md").text
        assert "- The staging port is 8450. (Source: memory/2026-10-01.md#L1)\n" in text
        assert "8410" not in text
        assert "- Ann is the tenant." in text


def test_the_last_line_without_an_end_is_replaced_after_another_was_added() -> None:
    kept = NoteLine("MEMORY.md", 3, "The staging port is 8444.")
    steps = [
        Step(
            NoteLine("memory/2026-09-01.md", at, text),
            text,
            Recalled(9, frozenset("ab"), frozenset("cd")),
            replaces,
        )
        for at, (text, replaces) in enumerate([("Ann is out.", None), ("The port is 1.", kept)], 1)
    ]
    assert edited(b"# Facts\n\n- The staging port is 8444.", "MEMORY.md", steps) == (
        b"# Facts\n\n- The port is 1. (Source: memory/2026-09-01.md#L2)\n"
        b"- Ann is out. (Source: memory/2026-09-01.md#L1)\n"
    )


def test_a_conversation_s_words_are_not_proposed(make: Callable[..., Memory]) -> None:
    with make(_2026_09_01="# Day\n") as memory:
        session = memory.writer(origin="session", who="archive", allowed=True)
        path = "memory/2026-09-01.md"
        session.change(path, lambda old: (old or b"") + b"\n- The staging port is 8444.\n", why="t")
        ask_often(memory)
        assert dream(memory).steps == ()


def test_lines_are_counted_as_citations_count_them(make: Callable[..., Memory]) -> None:
    path = "memory/2026-09-01.md"
    first = "- chat one\u2028chat two\u2028chat three\x85chat four\n"
    with make(_2026_09_01=first) as memory:
        session = memory.writer(origin="session", who="archive", allowed=True)
        session.change(path, lambda old: (old or b"") + b"- The staging port is 8444.\n", why="t")
        owner = memory.writer(origin="owner", who="test")
        owner.change(path, lambda old: (old or b"") + b"- Ann\n- Bob\n- Cid\n- Dan\n", why="t")
        ask_often(memory)
        assert dream(memory).steps == ()
        found = facts(path, memory.get(path).text)
        assert ("The staging port is 8444.", 2) in [(line.text, line.number) for line in found]


def test_a_line_is_trusted_only_if_its_citation_says_it(
    make: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    def shifted(path: str, text: str, day: str = "") -> list[NoteLine]:
        return [line._replace(number=line.number + 1) for line in facts(path, text, day)]

    with make(_2026_09_01=LOG) as memory:
        ask_often(memory)
        assert dream(memory).steps
        monkeypatch.setattr("commonplace_dream.proposal.facts", shifted)
        assert dream(memory).steps == ()


def test_logs_of_a_plain_folder_of_notes_are_found(tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    (workspace / "commonplace").mkdir(parents=True)
    (workspace / "garden.md").write_text("# Garden\n\nRoses need water.\n")
    (workspace / "commonplace/2026-09-01.md").write_text(LOG)
    (workspace / "2026-09-02.md").write_text("- The printer port is 9100.\n")
    env = {"COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    config = {"memory": {"recalls": {"enabled": True}}}
    with Memory.open(workspace=workspace, env=env, config=config) as memory:
        ask_often(memory)
        ask_often(memory, "printer port")
        found = dream(memory)
        assert found.path == "commonplace/MEMORY.md"
        assert [step.source.citation for step in found.steps] == ["commonplace/2026-09-01.md#L3"]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig"])
def test_the_note_keeps_its_encoding(
    make: Callable[..., Memory], tmp_path: Path, encoding: str
) -> None:
    note = tmp_path / "ws/MEMORY.md"
    log = "- The café port is 8444.\n"
    text = "# Memory\r\n\r\n1. The café port is 8410.\r\n* Ann is à la plage.\r\n"
    with make(_2026_09_01=log) as memory:
        note.write_bytes(text.encode(encoding))
        ask_often(memory, "café port")
        found = dream(memory)
        assert "+1. The café port is 8444. (Source: memory/2026-09-01.md#L1)" in diff_of(
            memory, found
        )
        apply(memory, found.path, found.steps)
        assert note.read_bytes()[:10] == text.encode(encoding)[:10]
        lines = memory.get("MEMORY.md").text.split("\r\n")
        assert lines[2].endswith(" port is 8444. (Source: memory/2026-09-01.md#L1)")
        assert lines[2].startswith("1. The caf")
        assert lines[3:] == ["* Ann is à la plage."]


def test_what_is_kept_is_never_taken_for_nothing(
    make: Callable[..., Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an unreadable MEMORY.md, or log of recalls, no proposal follows."""
    with make(MEMORY="- The staging port is 8444.\n", _2026_09_01=LOG) as memory:
        ask_often(memory)
        assert dream(memory).steps == ()
        get = memory.get

        def refused(path: str) -> NoteText:
            if path == "MEMORY.md":
                raise UnavailableError("MEMORY.md cannot be read: Permission denied")
            return get(path)

        with monkeypatch.context() as patched:
            patched.setattr(memory, "get", refused)
            with pytest.raises(UnavailableError, match=r"MEMORY\.md cannot be read"):
                dream(memory)
        (log,) = (tmp_path / "state/recalls").glob("*.jsonl")
        log.unlink()
        log.mkdir()
        with pytest.raises(UnavailableError, match="cannot be read"):
            dream(memory)


def test_a_record_of_another_form_is_skipped(make: Callable[..., Memory], tmp_path: Path) -> None:
    with make(_2026_09_01=LOG) as memory:
        ask_often(memory)
        (log,) = (tmp_path / "state/recalls").iterdir()
        before = dream(memory).recorded
        wrong = ['{"lines": 3}', '{"lines": null}', '{"lines": "abc"}', '{"lines": [["a"], 1]}']
        log.write_text("\n".join([*wrong, log.read_text()]))
        assert dream(memory).recorded == before


def test_recalls_are_recorded_where_no_flag_refuses_links(
    make: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_NOFOLLOW", raising=False)
    with make(_2026_09_01=LOG) as memory:
        ask_often(memory)
        assert dream(memory).recorded == 1


@pytest.fixture
def run(
    make: Callable[..., Memory],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COMMONPLACE_STATE_DIR", str(tmp_path / "state"))
    with make(_2026_09_01=LOG) as memory:
        ask_often(memory)

    def run(*argv: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["dream", *argv, "--workspace", str(tmp_path / "ws")])
        return code, *capsys.readouterr()

    return run


def test_what_was_reviewed_is_applied_and_nothing_else(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    digest = run()[1].split()[-1]
    note = tmp_path / "ws/MEMORY.md"
    note.write_text("- The staging port is 8410.\n")
    code, _, err = run("--apply", "--if", digest)
    assert code != 0
    assert "the proposal has changed" in err
    assert note.read_text() == "- The staging port is 8410.\n"
    assert run("--if", digest)[0] == 2
    digest = json.loads(run("--json")[1])["digest"]
    assert run("--apply", "--only", "1", "--if", digest)[0] == 0
    assert "8444" in note.read_text()


def test_a_full_log_is_said(
    run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "size limit" not in run()[2]
    monkeypatch.setattr("commonplace.tools.recall_log._MOST_BYTES", 100)
    assert "note: the log of recalls has reached its size limit" in run()[2]
    assert json.loads(run("--json")[1])["logFull"] is True


@given(
    st.lists(st.sampled_from(["port", "8444", "staging", "new", "9999", "is", "the"]), max_size=9)
)
def test_a_wording_never_adds_a_fact(words: list[str]) -> None:
    text = "the staging port is 8444"
    result = worded(text, " ".join(words))
    assert "9999" not in result
    assert result == text or set(result.split()) <= {*text.split(), "new"}


def test_a_budget_holds(make: Callable[..., Memory]) -> None:
    with make(_2026_09_01=LOG) as memory:
        ask_often(memory)
        assert dream(memory, budget=20).steps == ()


def test_there_must_be_something_to_apply(make: Callable[..., Memory]) -> None:
    with make(_2026_09_01=LOG) as memory, pytest.raises(CallerError, match="nothing to apply"):
        apply(memory, "MEMORY.md", [])


def measure(make: Callable[..., Memory], durable: int, passing: int) -> tuple[float, float]:
    """Precision and recall of the proposal where agents ask about ``durable`` of the lines."""
    chance = random.Random(1)
    names = ["".join(parts) for parts in product(SUBJECTS, ("", "a", "e", "i", "o"), "bcdfgklmnp")]
    lines = [
        f"The {thing} of {name} is {chance.randrange(1000, 9999)}."
        for name in names
        for thing in chance.sample(THINGS, 2)
    ]
    chance.shuffle(lines)
    logs = (durable + passing) // 25
    lines = lines[: durable + passing]
    wanted = set(lines[:durable])
    chance.shuffle(lines)
    notes: dict[str, Any] = {
        f"_2026_{8 + day // 28:02}_{day % 28 + 1:02}": "".join(
            f"- {line}\n" for line in lines[day::logs]
        )
        for day in range(logs)
    }
    with make(**notes) as memory:
        for line in lines:
            subject = line.removeprefix("The ").partition(" is ")[0]
            if line in wanted:
                ask(memory, f"what is the {subject}?", 0, 5)
                ask(memory, f"{subject} please", 3, 9)
            elif chance.random() < 0.3:  # asked once, or again and again on one day
                ask(memory, f"what is the {subject}?", *[2] * chance.choice([1, 4]))
        proposed = {step.text for step in dream(memory, budget=10**6).steps}
    hits = len(proposed & wanted)
    return hits / max(1, len(proposed)), hits / len(wanted)


def test_lasting_lines_are_distinguished_from_passing_ones(make: Callable[..., Memory]) -> None:
    precision, recall = measure(make, 10, 90)
    assert precision >= 0.9
    assert recall >= 0.9


@pytest.mark.slow
def test_a_hundred_lasting_lines_are_distinguished_from_nine_hundred_passing_ones(
    make: Callable[..., Memory], record_property: Callable[[str, object], None]
) -> None:
    precision, recall = measure(make, 100, 900)
    record_property("precision", precision)
    record_property("recall", recall)
    assert precision >= 0.98
    assert recall >= 0.9
