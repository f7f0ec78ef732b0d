"""Every way to ask for a file that memory may not read, and the ways that are allowed."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import CallerError, NoteNotFoundError, PathNotAllowedError
from commonplace.files.reading import read_lines, resolve, split_citation
from commonplace.files.roots import ExtraRoot, Roots

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="names of POSIX")

WORDS = str(PathNotAllowedError())


@pytest.fixture
def roots(workspace: Path, plant: Callable[..., None]) -> Roots:
    plant("memory/a.md", "memory/deep/b.md", "memory/notes.txt", "secret.md", "docs/c.md")
    plant("docs/deep/d.md", "../beside/e.md", "../one.md", "../two.md", "../outside/secret.md")
    plant("memory/.git/f.md", "docs/node_modules/g.md", "memory/back\\slash.md", "memory/ .md")
    (workspace / "memory/link.md").symlink_to("a.md")
    (workspace / "memory/out").symlink_to("../../outside")
    (workspace / "memory/inside").symlink_to("deep")
    (workspace / "memory/folder.md").mkdir()
    os.mkfifo(workspace / "memory/pipe.md")
    return Roots(str(workspace), ["docs", "../beside", ExtraRoot("../one.md"), "missing"])


@pytest.mark.parametrize(
    ("asked", "stored"),
    [
        ("MEMORY.md", "MEMORY.md"),
        ("./MEMORY.md", "MEMORY.md"),
        ("memory/a.md", "memory/a.md"),
        ("memory//a.md", "memory/a.md"),
        ("memory/./deep/../a.md", "memory/a.md"),
        ("../ws/memory/a.md", "memory/a.md"),
        ("  memory/a.md\n", "memory/a.md"),
        ("memory/deep/b.md", "memory/deep/b.md"),
        ("memory/back\\slash.md", "memory/back\\slash.md"),
        ("memory/ .md", "memory/ .md"),
        ("docs/c.md", "docs/c.md"),
        ("docs/deep/d.md", "docs/deep/d.md"),
        ("../beside/e.md", "../beside/e.md"),
        ("../one.md", "../one.md"),
    ],
)
def test_what_may_be_read(roots: Roots, asked: str, stored: str) -> None:
    note = read_lines(roots, asked)
    assert note.path == stored
    assert note.text in (stored, "# Memory")
    absolute = os.path.join(roots.workspace, asked.strip())
    assert read_lines(roots, absolute).path == stored


@pytest.mark.parametrize(
    "asked",
    [
        "",
        " ",
        ".",
        "..",
        "/",
        "memory",
        "memory/",
        "MEMORY.md/",
        "memory/a.md/",
        "memory/a.md/x.md",
        "MEMORY.md/x.md",
        "memory/folder.md",
        "memory/notes.txt",
        "memory/a",
        "memory/a.MD",
        "memory/a.markdown",
        "Memory/a.md",
        "memory.MD",
        "USER.md",
        "secret.md",
        "./secret.md",
        "memory/../secret.md",
        "memory/../../outside/secret.md",
        "memory/deep/../../secret.md",
        "../outside/secret.md",
        "../outside/none.md",
        "../two.md",
        "../../../../../../etc/passwd",
        "/etc/passwd",
        "/etc/none.md",
        "//etc/x.md",
        "~/x.md",
        "file:///etc/x.md",
        "docs/../secret.md",
        "../beside/../outside/secret.md",
        "memory/link.md",
        "memory/out/secret.md",
        "memory/out/none.md",
        "memory/inside/b.md",
        "memory/inside/none.md",
        "memory/pipe.md",
        "memory/.git/f.md",
        "docs/node_modules/g.md",
        "memory\\a.md",
        "memory\\..\\secret.md",
        "..\\outside\\secret.md",
        "C:\\memory\\a.md",
        "C:memory/a.md",
        "C:/memory/a.md",
        "\\\\server\\share\\a.md",
        "\\\\?\\C:\\a.md",
        "//server/share/a.md",
        "memory/a.md\0",
        "memory/\0a.md",
        "\0",
        "memory/a.md\0.md",
        "memory/lone\ud800.md",
        "memory/byte\udcff.md",
        "memory/" + "x" * 300 + ".md",
        "memory/" + "x/" * 3000 + "a.md",
        "x" * 100_000 + ".md",
        "/dev/null",
        "/dev/stdin",
        "/proc/self/environ",
        "/proc/self/cwd/MEMORY.md",
        "/dev/fd/0",
        "memory/a.md#heading",
    ],
)
def test_what_may_not_be_read(roots: Roots, asked: str) -> None:
    for form in (asked, f"{roots.workspace}/{asked}", f" {asked} "):
        with pytest.raises(PathNotAllowedError) as caught:
            read_lines(roots, form)
        assert str(caught.value) == WORDS


@pytest.mark.parametrize(
    "asked",
    ["memory/%2e%2e/secret.md", "memory/..%2fsecret.md", "memory/．．/secret.md", "memory/a?.md"],
)
def test_nothing_is_decoded_or_expanded(roots: Roots, asked: str) -> None:
    with pytest.raises(NoteNotFoundError):
        read_lines(roots, asked)


@pytest.mark.parametrize(
    "pair",
    [
        ("../outside/secret.md", "../outside/none.md"),
        ("secret.md", "none.md"),
        ("memory/out/secret.md", "memory/out/none.md"),
        ("memory/link.md", "memory/inside/none.md"),
        ("/etc/hostname.md", "/none/none.md"),
    ],
)
def test_the_error_does_not_tell_whether_a_file_exists(roots: Roots, pair: tuple[str, str]) -> None:
    for asked in pair:
        with pytest.raises(PathNotAllowedError) as caught:
            read_lines(roots, asked)
        assert (str(caught.value), caught.value.__cause__) == (WORDS, None)


@pytest.mark.parametrize(
    "asked",
    ["memory.md", "memory/none.md", "memory/none/deep/x.md", "docs/none.md", "missing/x.md"],
)
def test_an_allowed_place_without_a_note(roots: Roots, asked: str) -> None:
    with pytest.raises(NoteNotFoundError) as caught:
        read_lines(roots, asked)
    assert asked in str(caught.value)
    assert caught.value.hint


def test_a_pattern_confines_too(workspace: Path, plant: Callable[..., None]) -> None:
    plant("docs/a.md", "docs/deep/b.md")
    roots = Roots(str(workspace), [ExtraRoot("docs", "*.md")])
    assert read_lines(roots, "docs/a.md").text == "docs/a.md"
    with pytest.raises(PathNotAllowedError):
        read_lines(roots, "docs/deep/b.md")


def test_absolute_paths_through_a_linked_workspace(
    workspace: Path, plant: Callable[..., None]
) -> None:
    plant("memory/a.md", "secret.md")
    link = workspace.parent / "link"
    link.symlink_to(workspace)
    roots = Roots(str(link))
    for asked in ("memory/a.md", str(link / "memory/a.md"), str(workspace / "memory/a.md")):
        assert read_lines(roots, asked).path == "memory/a.md"
    with pytest.raises(PathNotAllowedError):
        read_lines(roots, str(workspace / "secret.md"))


def test_an_extra_path_behind_a_link_in_the_workspace(
    workspace: Path, plant: Callable[..., None]
) -> None:
    plant("../outside/deep/secret.md")
    (workspace / "docs").symlink_to("../outside")
    roots = Roots(str(workspace), ["docs/deep"])
    for asked in ("docs/deep/secret.md", str(workspace / "../outside/deep/secret.md")):
        with pytest.raises(PathNotAllowedError):
            read_lines(roots, asked)


_PIECES = st.sampled_from(
    [
        *("", "..", ".", "/", "\\", " ", "\n"),
        *("memory", "docs", "deep", "beside", "ws", "outside", "out", "inside"),
        *("MEMORY.md", "a.md", "b.md", "c.md", "e.md", "secret.md", "link.md"),
    ]
)


def _assert_confined(roots: Roots, asked: str) -> None:
    try:
        note = read_lines(roots, asked)
    except CallerError:
        return
    real = os.path.realpath(os.path.join(roots.workspace, note.path))
    home = os.path.dirname(os.path.realpath(roots.workspace))
    allowed = ("ws/MEMORY.md", "ws/memory/", "ws/docs/", "beside/", "one.md")
    assert os.path.relpath(real, home).startswith(allowed)
    assert "secret" not in note.text


def test_no_path_leads_out(roots: Roots) -> None:
    @given(st.lists(_PIECES, max_size=7), st.booleans())
    def law(pieces: list[str], absolute: bool) -> None:
        path = "/".join(pieces)
        _assert_confined(roots, f"{roots.workspace}/{path}" if absolute else path)

    law()


def test_no_text_is_anything_but_a_refusal_or_a_note(roots: Roots) -> None:
    @given(st.text(st.characters(codec=None), max_size=30))
    def law(text: str) -> None:
        for asked in (text, f"memory/{text}", f"memory/{text}.md", f"{text}.md"):
            _assert_confined(roots, asked)

    law()


def test_resolving_looks_nothing_up() -> None:
    roots = Roots("/nowhere/ws", ["../beside"])
    root, relative = resolve(roots, "memory/deep/a.md")
    assert (root.stored, relative) == ("memory", "deep/a.md")
    root, relative = resolve(roots, "../beside/x.md")
    assert (root.stored, relative) == ("../beside", "x.md")
    root, relative = resolve(roots, "/nowhere/ws/MEMORY.md")
    assert (root.stored, relative) == ("MEMORY.md", "")


@pytest.mark.parametrize(
    ("cited", "parts"),
    [
        ("memory/a.md#L3-L9", ("memory/a.md", 3, 9)),
        ("memory/a.md#L3-9", ("memory/a.md", 3, 9)),
        ("memory/a.md#L3", ("memory/a.md", 3, 3)),
        ("memory/a.md#L9-L3", ("memory/a.md", 3, 9)),
        ("  memory/a.md#L3 \n", ("  memory/a.md", 3, 3)),
        ("memory/a#L3.md", ("memory/a#L3.md", None, None)),
        ("memory/a#L3.md#L4", ("memory/a#L3.md", 4, 4)),
        ("memory/a.md", ("memory/a.md", None, None)),
        ("memory/a.md:3-9", ("memory/a.md", 3, 9)),
        ("memory/a.md:9-3", ("memory/a.md", 3, 9)),
        ("memory/a.md:15", ("memory/a.md", 15, 15)),
        ("memory/a:15", ("memory/a", 15, 15)),
        ("memory/a:15.md", ("memory/a:15.md", None, None)),
        ("memory/a.md:", ("memory/a.md:", None, None)),
        ("memory/a.md:3-", ("memory/a.md:3-", None, None)),
        ("memory/a.md:L3", ("memory/a.md:L3", None, None)),
        ("memory/a.md#L", ("memory/a.md#L", None, None)),
        ("memory/a.md#L3-", ("memory/a.md#L3-", None, None)),
        ("memory/a.md#L3-L9x", ("memory/a.md#L3-L9x", None, None)),
        ("memory/a.md#L" + "9" * 400, ("memory/a.md#L" + "9" * 400, None, None)),
        ("#L3", ("", 3, 3)),
    ],
)
def test_citations(cited: str, parts: tuple[str, int | None, int | None]) -> None:
    assert split_citation(cited) == parts
