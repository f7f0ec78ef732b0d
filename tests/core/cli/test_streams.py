"""Nothing that the command line prints steers a terminal, or passes for what it is not."""

from __future__ import annotations

import io
import json
import re
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.cli.test_hits_output import RESULT

from commonplace.cli import main
from commonplace.cli.commands.search import plain_hits
from commonplace.cli.jsonify import dumps
from commonplace.cli.progress import ProgressLine
from commonplace.cli.streams import PrintableStream, one_line
from commonplace.cli.terminal import style_of
from commonplace.model.reports import Progress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.core.cli.conftest import Ran

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;;[!-~]*\x1b\\")
EVIL = "\x1b]0;pwned\x07\x1b[2J\x9b2J\u202egpj.exe\r0.999 forged.md#L1-L2\n\x1b[31mred"
HIT = re.compile(r"^[0-9.]+ .*#L\d+", re.MULTILINE)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    """Runs a command line on a terminal: the exit code, and all that the terminal was sent."""

    def run(*argv: str) -> tuple[int, str]:
        screen = Terminal()
        monkeypatch.setattr(sys, "stdout", screen)
        monkeypatch.setattr(sys, "stderr", screen)
        # Its line, which a library draws, is a matter of how fast this machine is.
        monkeypatch.setattr("commonplace.cli.progress._DELAY", 1e9)
        code = main(argv)
        assert sys.stdout is screen, "the stream is given back"
        return code, screen.getvalue()

    return run


texts = st.text() | st.text(st.sampled_from("\x1b[]0;m\x07\x9b\r\n\t\u202ea"))


@given(texts)
def test_what_is_written_steers_nothing(text: str) -> None:
    screen = Terminal()
    PrintableStream(screen).write("x" + text)
    assert not STEERING.search(screen.getvalue())
    assert len(screen.getvalue()) == len(text) + 1
    assert screen.getvalue().count("\n") == text.count("\n")


def test_a_line_is_redrawn_only_by_its_own_beginning() -> None:
    screen = Terminal()
    stream = PrintableStream(screen)
    stream.write("\rdownloading a\rb")
    assert screen.getvalue() == "\rdownloading a b"


@given(texts.filter(bool))
def test_decorations_are_ours_alone(text: str) -> None:
    screen = Terminal()
    style = style_of(screen, {"TERM": "xterm"})
    stream = PrintableStream(screen)
    stream.write(style_of(stream, {"TERM": "xterm"}).strong(text))  # type: ignore[arg-type]  # what it needs of one
    assert screen.getvalue().startswith("\x1b[1m")
    assert screen.getvalue().endswith("\x1b[0m")
    assert not STEERING.search(OURS.sub("", screen.getvalue()))
    assert OURS.findall(screen.getvalue()) == OURS.findall(style.strong("x"))


@given(st.recursive(texts, lambda inner: st.lists(inner) | st.dictionaries(texts, inner)))
def test_json_means_the_same_and_steers_nothing(value: object) -> None:
    shown = dumps(value, "utf-8")
    assert not STEERING.search(shown)
    assert json.loads(shown) == value


@given(texts, texts)
def test_no_name_and_no_line_of_a_note_passes_for_a_hit(path: str, snippet: str) -> None:
    forged = "\n0.999 memory/forged.md#L1-L2\n"
    (hit, *_) = RESULT.hits
    result = RESULT.replace(
        hits=(hit.replace(path=f"a{path}{forged}{path}.md", snippet=f"{snippet}{forged}{snippet}"),)
    )
    shown = plain_hits(result, explain=False)
    assert not STEERING.search(shown)
    assert len(HIT.findall(shown)) == 1
    assert not re.search(r"^[^ \n]", shown.partition("\n")[2], re.MULTILINE)


def test_a_name_with_a_line_break_stays_on_its_line() -> None:
    assert one_line("a\nnote: b\r\nc") == "a\ufffdnote: b \ufffdc"


@pytest.mark.parametrize(
    "argv",
    [
        ("search", "x", "--config", f"{EVIL}.json5"),
        ("search", "x", "--workspace", f"/nowhere/{EVIL}"),
        ("config", "path", "--config", f"{EVIL}.json5"),
        ("config", "show", EVIL),
        ("get", EVIL, "--json"),
        ("get", f"memory/{EVIL}.md"),
        (EVIL,),
        ("search", f"--{EVIL}"),
        ("search", "x", "-n", EVIL),
        ("search", f'path:"{EVIL}" after:{EVIL} zzz'),
    ],
    ids=str,
)
def test_what_was_typed_steers_nothing_when_it_comes_back(
    argv: tuple[str, ...], workspace: str, terminal: Callable[..., tuple[int, str]]
) -> None:
    more = () if "--workspace" in argv or len(argv) == 1 else ("--workspace", workspace)
    _, screen = terminal(*argv, *more)
    assert screen
    assert not STEERING.search(OURS.sub("", screen))


def test_a_note_that_is_shown_on_a_terminal_steers_nothing(
    tmp_path: Path, terminal: Callable[..., tuple[int, str]]
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "MEMORY.md").write_text(f"# Walrus {EVIL}\n\nwalrus {EVIL}\n", encoding="utf-8")
    (notes / "evil\x1b[2J\nnote: x.md").write_text("walrus\n", encoding="utf-8")
    for command in ("index", "search walrus", "search walrus --format md", "get MEMORY.md", "list"):
        code, screen = terminal(*command.split(), "--workspace", str(notes))
        assert code == 0, screen
        assert not STEERING.search(OURS.sub("", screen)), command


def test_a_note_that_is_piped_arrives_as_it_is(tmp_path: Path, run: Callable[..., Ran]) -> None:
    (tmp_path / "MEMORY.md").write_text("a\x1b[31mb\u202ec\n", encoding="utf-8")
    assert run("get", "MEMORY.md", "--workspace", str(tmp_path)).out == "a\x1b[31mb\u202ec\n"


def test_the_progress_line_is_drawn_and_its_words_steer_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    screen = Terminal()
    stream = PrintableStream(screen)
    with ProgressLine(stream, {"TERM": "xterm"}, clock=iter(range(0, 99, 9)).__next__) as line:  # type: ignore[arg-type]  # what it needs of one
        line(Progress(label=f"waiting for {EVIL}", completed=1, total=2))
        line(Progress(label=f"waiting for {EVIL}", completed=2, total=2))
    assert screen.getvalue().startswith("\rwaiting for ")
    assert screen.getvalue().endswith("\r\x1b[K")
    drawn = re.sub(r"(?:^|(?<=\x1b\[K))\r|\x1b\[K", "", screen.getvalue())
    assert not STEERING.search(drawn)
