"""The log of recalls is off and free unless it is asked for; a replay gives the same ranking."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace import Memory, MemoryTools, UnavailableError
from commonplace.cli import main
from commonplace.plugin import RecallTrace, recall_trace, settings_fingerprint
from commonplace_why.replaying import citation_in, lines_of, recalls_of, replays_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

AT = 1_790_000_000.0
QUESTION = "which port does staging use?"
NOTES = {
    "MEMORY.md": "# Memory\n\n- The staging port is 8444.\n- Mia drinks tea.\n",
    "memory/2026-09-01.md": "# Tuesday\n\n- Staging was restarted; its port is the same.\n",
    "memory/2026-09-15.md": "# Another\n\n- The staging machine got a new disk.\n",
}


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Memory]:
    def make(search: dict[str, Any] | None = None, **recalls: bool) -> Memory:
        for path, text in NOTES.items():
            file = tmp_path / "ws" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.exists():
                file.write_text(text)
        env = {"COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
        config = {"memory": {"recalls": recalls, "search": search or {}}}
        return Memory.open(workspace=tmp_path / "ws", env=env, config=config)

    return make


@pytest.fixture
def at_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command, called without options, is about the notes of ``make``."""
    monkeypatch.setenv("COMMONPLACE_WORKSPACE", str(tmp_path / "ws"))
    monkeypatch.setenv("COMMONPLACE_STATE_DIR", str(tmp_path / "state"))


def ask(
    memory: Memory, question: str = QUESTION, arguments: Mapping[str, object] | None = None
) -> None:
    given = {"query": question, **(arguments or {})}
    assert not MemoryTools(memory).call("memory_search", given).failed


def logs(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "state").glob("recalls/*"))


def test_off_writes_no_file(make: Callable[..., Memory], tmp_path: Path) -> None:
    with make() as memory:
        ask(memory)
    assert logs(tmp_path) == []


def test_off_costs_no_import() -> None:
    code = (
        "import sys, tempfile, commonplace\n"
        "folder = tempfile.mkdtemp()\n"
        "open(folder + '/a.md', 'w').write('staging port 8444')\n"
        "env = {'COMMONPLACE_STATE_DIR': folder + '/state'}\n"
        "with commonplace.Memory.open(workspace=folder, env=env) as memory:\n"
        "    commonplace.MemoryTools(memory).call('memory_search', {'query': 'staging'})\n"
        "names = ('commonplace.tools.tracing', 'commonplace_why')\n"
        "print([name for name in names if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_without_text_no_word_of_question_or_notes_is_kept(
    make: Callable[..., Memory], tmp_path: Path
) -> None:
    with make(trace=True) as memory:
        ask(memory)
    (log,) = logs(tmp_path)
    record = json.loads(log.read_text())
    assert record["hits"][0][0] == "MEMORY.md#L1-L4"
    assert not {"staging", "port", "8444", "which"} & set(log.read_text().lower().split('"'))
    assert "staging" not in log.read_text()
    if os.name == "posix":
        assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_with_text_the_question_is_kept(make: Callable[..., Memory], tmp_path: Path) -> None:
    with make(trace=True, text=True) as memory:
        MemoryTools(memory, clock=lambda: AT).call("memory_search", {"query": QUESTION})
        (recall,) = recall_trace(memory.settings.state_dir, memory.settings.workspace).read()
    assert recall.asked.query == QUESTION
    assert recall.at == AT


@pytest.mark.usefixtures("at_workspace")
@pytest.mark.skipif(os.name != "posix", reason="a closed pipe is another error there")
def test_a_pager_that_was_closed_is_no_fault_of_the_log(make: Callable[..., Memory]) -> None:
    with make(trace=True) as memory:
        ask(memory)
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-u", "-m", "commonplace", "why", "MEMORY.md#L3"]
    ran = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert "recalls of agents are not logged" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_a_citation_has_its_recalls(make: Callable[..., Memory], tmp_path: Path) -> None:
    with make(trace=True) as memory:
        ask(memory)
        ask(memory, "tea for Mia")
        assert [one.rank for one in recalls_of(memory, "MEMORY.md#L3")] == [1, 1]
        assert all(one.same for one in recalls_of(memory, "MEMORY.md"))
        assert list(recalls_of(memory, "MEMORY.md#L9")) == []
        assert list(recalls_of(memory, "other.md")) == []
        (tmp_path / "ws/MEMORY.md").write_text("# Memory\n\n- Nothing.\n- At all.\n")
        assert not any(one.same for one in recalls_of(memory, "MEMORY.md#L3"))


@pytest.mark.parametrize("arguments", [{}, {"maxResults": 1}, {"minScore": 0.2}], ids=str)
def test_a_replay_gives_the_same_ranking(
    arguments: dict[str, object], make: Callable[..., Memory], tmp_path: Path
) -> None:
    with make(trace=True) as memory:
        ask(memory, QUESTION, arguments)
        (replay,) = replays_of(memory, f"  {QUESTION.upper()} ", 5)
    assert replay.same
    assert replay.reasons == ()
    with make(trace=True) as memory:  # in another process, too
        (replay,) = replays_of(memory, QUESTION, 5)
        assert replay.same
    assert len(logs(tmp_path)[0].read_text().splitlines()) == 1  # a replay is no recall


def test_a_replay_that_differs_says_why(make: Callable[..., Memory], tmp_path: Path) -> None:
    with make(trace=True) as memory:
        ask(memory)
    note = tmp_path / "ws/memory/2026-09-15.md"
    note.write_text("# Another\n\n- The staging port of staging is the port 9000.\n")
    with make(trace=True) as memory:
        (replay,) = replays_of(memory, QUESTION, 5)
        assert not replay.same
        assert any("the text changed at memory/2026-09-15.md" in one for one in replay.reasons)
    note.write_text(NOTES["memory/2026-09-15.md"])
    with make({"query": {"maxResults": 1}}, trace=True) as memory:
        (replay,) = replays_of(memory, QUESTION, 5)
        assert not replay.same
        assert any("settings" in reason for reason in replay.reasons)


def test_a_group_is_replayed_as_a_group(make: Callable[..., Memory]) -> None:
    with make(trace=True) as memory:
        tools = MemoryTools(memory, session_key="agent:main:x:group:1")
        tools.call("memory_search", {"query": QUESTION})
        (replay,) = replays_of(memory, QUESTION, 5)
    assert replay.same
    assert not any(citation.startswith("MEMORY.md") for citation, _ in replay.now)


def test_the_log_is_rotated(make: Callable[..., Memory], tmp_path: Path) -> None:
    from commonplace.tools.tracing import Asked

    with make() as memory:
        log = RecallTrace(str(tmp_path / "log"), most_bytes=2_000)
        result = memory.search(QUESTION)
        for number in range(40):
            log.record(memory, Asked(str(number)), result, AT + number)
        times = [recall.at - AT for recall in log.read()]
    assert times == sorted(times)
    assert times[-1] == 39
    assert 0 < times[0] < 39
    for file in ("log", "log.1"):
        assert (tmp_path / file).stat().st_size <= 2_000


def test_damaged_lines_are_passed_over_and_a_log_that_cannot_be_written_is_ignored(
    make: Callable[..., Memory], tmp_path: Path
) -> None:
    with make(trace=True) as memory:
        ask(memory)
        (log,) = logs(tmp_path)
        log.write_text('{"at": 1}\n[]\nnot json\n' + log.read_text() + '{"at"')
        assert len(list(recalls_of(memory, "MEMORY.md"))) == 1
        log.unlink()
        log.mkdir()
        ask(memory)
        with pytest.raises(UnavailableError, match="directory"):
            list(recalls_of(memory, "MEMORY.md"))


def test_settings_have_the_same_fingerprint_until_they_change(make: Callable[..., Memory]) -> None:
    with make() as one, make(trace=True) as same, make({"query": {"minScore": 0.1}}) as other:
        assert settings_fingerprint(one.settings) == settings_fingerprint(same.settings)
        assert settings_fingerprint(one.settings) != settings_fingerprint(other.settings)


@settings(max_examples=30)
@given(st.from_regex(r"[a-z/]{1,8}\.md", fullmatch=True), st.integers(1, 99), st.integers(0, 9))
def test_every_form_of_a_citation_is_read(path: str, first: int, more: int) -> None:
    last = first + more
    forms = (f"{path}#L{first}-L{last}", f"{path}:{first}-{last}", f"{path}#L{first}-{last}")
    assert {lines_of(form) for form in forms} == {(path, first, last)}
    assert lines_of(path)[0] == path


@pytest.mark.usefixtures("at_workspace")
def test_a_line_that_no_file_has_is_refused(
    make: Callable[..., Memory], capsys: pytest.CaptureFixture[str]
) -> None:
    make().close()
    assert main(["why", f"MEMORY.md#L{'9' * 5_000}"]) == 1
    assert "path not allowed" in capsys.readouterr().err


@pytest.mark.usefixtures("at_workspace")
def test_the_command_shows_recalls_and_replays(
    make: Callable[..., Memory],
    capsys: pytest.CaptureFixture[str],
) -> None:
    with make(trace=True) as memory:
        ask(memory)
    assert main(["why", "MEMORY.md#L3"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("MEMORY.md#L3 was part of 1 logged recall\n")
    assert "rank 1 of" in shown.out
    assert "commonplace config set memory.recalls.trace true" in shown.err
    assert main(["why", *QUESTION.split()]) == 0
    out = capsys.readouterr().out
    assert out.startswith("1. ")
    assert "keyword: bm25" in out
    assert "the same ranking now" in out
    assert main(["why", "the weather", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["replays"] == []


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("memory/2026-09-02.md", "did you mean memory/2026-09-0"),
        ("nosuch.md#L9", ""),
        ("MEMORI.md:3-4", "did you mean MEMORY.md"),
        ("nosuch#L9-L12", ""),
        ("talks/one.jsonl", ""),
    ],
)
@pytest.mark.usefixtures("at_workspace")
def test_a_mistyped_citation_is_no_question(
    words: str,
    hint: str,
    make: Callable[..., Memory],
    capsys: pytest.CaptureFixture[str],
) -> None:
    with make(trace=True) as memory:
        ask(memory)
    code = main(["get", words])
    by_get = capsys.readouterr()
    assert (main(["why", words]), code) == (code, 1)
    shown = capsys.readouterr()
    assert (shown.out, shown.err.split("\n", 1)[1]) == ("", by_get.err)
    assert hint in shown.err


@pytest.mark.usefixtures("at_workspace")
def test_what_looks_like_a_citation_may_be_a_question(
    make: Callable[..., Memory],
    capsys: pytest.CaptureFixture[str],
) -> None:
    with make(trace=True) as memory:
        ask(memory, "staging.md")
    assert main(["why", "staging.md"]) == 0
    assert "the same ranking now" in capsys.readouterr().out
    assert main(["why", "is it in nosuch.md"]) == 0
    assert main(["why", "MEMORY#L3"]) == 0  # as `get` has it, without the ending
    assert "MEMORY.md#L3 was part of" in capsys.readouterr().out


@pytest.mark.usefixtures("at_workspace")
def test_each_of_several_citations_is_explained(
    make: Callable[..., Memory], capsys: pytest.CaptureFixture[str]
) -> None:
    with make(trace=True) as memory:
        ask(memory)
    assert main(["why", "MEMORY.md#L4", "MEMORY:3", "memory/2026-09-01.md"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "was part of" in line]
    names = ("MEMORY.md#L4", "MEMORY.md#L3", "memory/2026-09-01.md")
    assert lines == [f"{name} was part of 1 logged recall" for name in names]
    assert main(["why", "MEMORY.md#L3", "MEMORY.md#L4", "--json"]) == 0
    passages = json.loads(capsys.readouterr().out)["passages"]
    assert [one["citation"] for one in passages] == ["MEMORY.md#L3", "MEMORY.md#L4"]
    assert main(["why", "MEMORY.md#L3", "and", "MEMORY.md#L4"]) == 0
    assert main(["why", "server:8444", "port:1"]) == 0
    assert "was part of" not in capsys.readouterr().out
    assert main(["why", "MEMORY.md#L3", "nosuch.md"]) == 1


@pytest.mark.parametrize(
    ("words", "citation", "note"),
    [
        ("MEMORY:3", "MEMORY.md#L3", ""),
        ("MEMORY.md:3", "MEMORY.md#L3", ""),
        ("MEMORY.md#L3-L4", "MEMORY.md#L3-L4", ""),
        ("MEMORY.md:3-4", "MEMORY.md#L3-L4", ""),
        ("MEMORY.md:4-3", "MEMORY.md#L3-L4", ""),
        ("MEMORY.md#L0", "MEMORY.md#L1", ""),
        ("MEMORY.md#L9999", "MEMORY.md#L9999", "note: MEMORY.md has 4 lines\n"),
    ],
)
@pytest.mark.usefixtures("at_workspace")
def test_lines_are_read_as_get_reads_them(
    words: str,
    citation: str,
    note: str,
    make: Callable[..., Memory],
    capsys: pytest.CaptureFixture[str],
) -> None:
    with make(trace=True) as memory:
        ask(memory)
    assert main(["why", words]) == 0
    shown = capsys.readouterr()
    count = "0 logged recalls" if note else "1 logged recall"
    assert shown.out.startswith(f"{citation} was part of {count}\n")
    assert shown.err.endswith(note)


@pytest.mark.usefixtures("at_workspace")
def test_an_index_that_is_not_up_to_date_is_named(
    make: Callable[..., Memory], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = [tmp_path / f"ws/memory/n{number}.md" for number in range(60)]
    (tmp_path / "ws/memory").mkdir(parents=True)
    for note in notes:
        note.write_text(f"# {note.stem}\n\nThe walnut tree stands at the wall.\n")
    with make(trace=True) as memory:
        memory.sync()
        ask(memory, "walnut")
    for note in notes:
        note.write_text(f"# {note.stem}\n\nThe maple tree fell over in the storm.\n")
    assert main(["why", "walnut"]) == 0
    shown = capsys.readouterr()
    assert "60 changed notes may not be in this answer as they are now" in shown.err
    assert main(["why", "walnut", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "60 changed notes" in found["notes"][0]
    assert found["replays"][0]["reasons"][0].startswith("the index does not know 60 changed files")


def test_a_citation_is_what_names_a_document_that_is_there_or_logged(
    make: Callable[..., Memory], tmp_path: Path
) -> None:
    with make(trace=True) as memory:
        (tmp_path / "ws/memory/my notes.md").write_text("# Staging port\n\nAnother port.\n")
        (tmp_path / "ws/memory/gone.md").write_text("# Staging port\n\nThe port of staging.\n")
        ask(memory)
        (tmp_path / "ws/memory/gone.md").unlink()
        for words, citation in {
            "MEMORY.md#L3": "MEMORY.md#L3",
            "./MEMORY.md#L3": "MEMORY.md#L3",
            f"{tmp_path}/ws/MEMORY.md#L3-L4": "MEMORY.md#L3-L4",
            f"{tmp_path}/ws/memory/gone.md": "memory/gone.md",
            "memory/gone.md#L3": "memory/gone.md#L3",
            "memory/my notes.md": "memory/my notes.md",
            "what is in MEMORY.md": None,
            "MEMORY.md or memory/gone.md": None,
            "memory": None,
            "never.md": None,
            QUESTION: None,
        }.items():
            assert citation_in(memory, words) == citation


def test_a_note_that_is_written_again_is_not_said_to_have_changed(
    make: Callable[..., Memory], tmp_path: Path
) -> None:
    with make(trace=True) as memory:
        ask(memory)
        os.utime(tmp_path / "ws/MEMORY.md", (1, 1))
        (replay,) = replays_of(memory, QUESTION, 1)
    assert replay.same
    assert "written again; the text of these hits is the same" in replay.reasons[0]
