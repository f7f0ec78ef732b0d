"""Commands of the memory tool for tests: single ones with their answers, and random sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

Json = dict[str, Any]

FILES = {
    "three.md": b"one\ntwo\nthree\n",
    "nonl.md": b"one\ntwo",
    "empty.md": b"",
    "crlf.md": b"a\r\nb\r\n",
    "dup.md": b"x\ny x\nz\nx\n",
    "breaks.md": "a\x0cb\u0085c\u2028d\n".encode(),
    "bom.md": b"\xef\xbb\xbfone\n",
    ".hidden.md": b"here\n",
    "d/x.md": b"x" * 1536,
    "d/e/f/g.md": b"deep\n",
}


FEW = {"a.md": b"one\ntwo\n", "d/a.md": b"two two\n", "d/e/c.md": b"x"}
"""Some of the files that random commands name."""


def fill(folder: Path, files: dict[str, bytes] = FILES) -> None:
    """Make ``files`` below ``folder``, and an empty folder."""
    for name, data in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    (folder / "emptydir").mkdir()


_NUMBERED = "Here's the content of {path} with line numbers:\n{lines}"
_MISSING = "The path {path} does not exist. Please provide a valid path."
_ESCAPES = "Path {path} would escape /memories directory"
_EDITED = (
    "The memory file has been edited. Here is the snippet showing the change "
    "(with line numbers):\n{lines}"
)


def view(path: str, *lines: str, start: int = 1, wanted: list[int] | None = None) -> Any:
    command: Json = {"command": "view", "path": path}
    if wanted is not None:
        command["view_range"] = wanted
    numbered = "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(lines, start))
    return command, _NUMBERED.format(path=path, lines=numbered)


def edited(path: str, old: str, new: str, *lines: str, start: int = 1) -> Any:
    command = {"command": "str_replace", "path": path, "old_str": old, "new_str": new}
    numbered = "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(lines, start))
    return command, _EDITED.format(lines=numbered)


def simple(answer: str, command: str, path: str, **fields: object) -> Any:
    return {"command": command, "path": path, **fields}, answer.format(path=path)


def rename(answer: str, old: str, new: str) -> Any:
    return {"command": "rename", "old_path": old, "new_path": new}, answer.format(old=old, new=new)


M = "/memories"
CASES: list[tuple[Json, str]] = [
    view(f"{M}/three.md", "one", "two", "three", ""),
    view(f"{M}/nonl.md", "one", "two"),
    view(f"{M}/empty.md", ""),
    view(f"{M}/crlf.md", "a\r", "b\r", ""),
    view(f"{M}/breaks.md", "a\x0cb\u0085c\u2028d", ""),
    view(f"{M}/bom.md", "\ufeffone", ""),
    view(f"{M}/.hidden.md", "here", ""),
    view(f"{M}/d/../three.md", "one", "two", "three", ""),
    view(f"{M}//three.md", "one", "two", "three", ""),
    view(f"{M}/three.md/", "one", "two", "three", ""),
    view(f"{M}/three.md", "two", "three", start=2, wanted=[2, 3]),
    view(f"{M}/three.md", "two", "three", "", start=2, wanted=[2, -1]),
    view(f"{M}/three.md", "one", "two", "three", "", wanted=[1, 99]),
    view(f"{M}/three.md", "one", wanted=[0, 1]),
    view(f"{M}/three.md", "one", wanted=[-5, 1]),
    view(f"{M}/three.md", start=3, wanted=[3, 2]),
    view(f"{M}/three.md", start=9, wanted=[9, 10]),
    view(f"{M}/three.md", "one", "two", "three", "", wanted=[2]),
    view(f"{M}/three.md", "one", "two", "three", "", wanted=[]),
    view(f"{M}/three.md", "one", "two", wanted=[1, -2]),
    simple(_MISSING, "view", f"{M}/missing.md"),
    simple(_MISSING, "view", f"{M}/three.md/x"),
    simple(_MISSING, "view", f"{M}X/three.md"),
    simple(_MISSING, "view", f"{M}/%2e%2e/x"),
    simple("Path must start with /memories, got: {path}", "view", "/etc/passwd"),
    simple("Path must start with /memories, got: {path}", "view", "memories/x"),
    simple("Path must start with /memories, got: {path}", "view", ""),
    simple(_ESCAPES, "view", f"{M}/../outside.md"),
    simple(_ESCAPES, "view", f"{M}/../../etc"),
    simple(_ESCAPES, "delete", f"{M}/.."),
    simple("File created successfully at: {path}", "create", f"{M}/n.md", file_text="new"),
    simple("File created successfully at: {path}", "create", f"{M}/p/q/n.md", file_text=""),
    simple("File created successfully at: {path}", "create", f"{M}/.h2.md", file_text="h"),
    simple("File {path} already exists", "create", f"{M}/three.md", file_text="x"),
    simple("File {path} already exists", "create", M, file_text="x"),
    simple("File {path} already exists", "create", f"{M}/d", file_text="x"),
    edited(f"{M}/three.md", "two", "2", "one", "2", "three", ""),
    edited(f"{M}/three.md", "two\n", "", "one", "three", ""),
    edited(f"{M}/empty.md", "", "q", "q"),
    simple(
        "No replacement was performed, old_str `zzz` did not appear verbatim in {path}.",
        *("str_replace", f"{M}/three.md"),
        old_str="zzz",
        new_str="y",
    ),
    simple(
        "No replacement was performed, old_str `a\nb` did not appear verbatim in {path}.",
        *("str_replace", f"{M}/crlf.md"),
        old_str="a\nb",
        new_str="y",
    ),
    simple(
        "No replacement was performed. Multiple occurrences of old_str `x` in lines: 1, 2, 4. "
        "Please ensure it is unique",
        *("str_replace", f"{M}/dup.md"),
        old_str="x",
        new_str="y",
    ),
    simple(
        "No replacement was performed. Multiple occurrences of old_str `` in lines: "
        "1, 1, 1, 1, 2, 2, 2, 2. Please ensure it is unique",
        *("str_replace", f"{M}/nonl.md"),
        old_str="",
        new_str="y",
    ),
    simple("The path {path} is not a file.", "str_replace", f"{M}/d", old_str="x", new_str="y"),
    simple("The path {path} is not a file.", "insert", f"{M}/d", insert_line=0, insert_text="x"),
    simple(_MISSING, "str_replace", f"{M}/missing.md", old_str="x", new_str="y"),
    simple(_MISSING, "insert", f"{M}/missing.md", insert_line=0, insert_text="x"),
    *(
        simple(
            "The file {path} has been edited.", "insert", path, insert_line=line, insert_text=text
        )
        for path, line, text in (
            (f"{M}/nonl.md", 0, "zero\n\n"),
            (f"{M}/nonl.md", 2, "end"),
            (f"{M}/empty.md", 0, ""),
            (f"{M}/crlf.md", 1, "mid"),
            (f"{M}/three.md", "1", "one and a half"),
        )
    ),
    *(
        simple(
            f"Invalid `insert_line` parameter: {line}. It should be within the range [0, 3].",
            *("insert", f"{M}/three.md"),
            insert_line=line,
            insert_text="x",
        )
        for line in (99, -1, 4)
    ),
    rename("Successfully renamed {old} to {new}", f"{M}/three.md", f"{M}/new.md"),
    rename("Successfully renamed {old} to {new}", f"{M}/three.md", f"{M}/u/v/new.md"),
    rename("Successfully renamed {old} to {new}", f"{M}/d", f"{M}/moved"),
    rename("Successfully renamed {old} to {new}", f"{M}/emptydir", f"{M}/d/e2"),
    rename("The destination {new} already exists", f"{M}/three.md", f"{M}/dup.md"),
    rename("The destination {new} already exists", f"{M}/three.md", f"{M}/d"),
    rename("The destination {new} already exists", f"{M}/three.md", f"{M}/three.md"),
    rename("The destination {new} already exists", f"{M}/three.md", M),
    rename("The path {old} does not exist", f"{M}/missing.md", f"{M}/new.md"),
    rename("Cannot rename the /memories directory itself", M, f"{M}/new"),
    rename("Path must start with /memories, got: {new}", f"{M}/three.md", "/elsewhere/x.md"),
    rename("Path {new} would escape /memories directory", f"{M}/three.md", f"{M}/../x.md"),
    simple("Successfully deleted {path}", "delete", f"{M}/three.md"),
    simple("Successfully deleted {path}", "delete", f"{M}/d"),
    simple("Successfully deleted {path}", "delete", f"{M}/emptydir"),
    simple("The path {path} does not exist", "delete", f"{M}/missing.md"),
    *(
        simple("Cannot delete the /memories directory itself", "delete", path)
        for path in (M, f"{M}/", f"{M}/.")
    ),
]
"""Commands on :data:`FILES` as they are, and the answers of Anthropic's own tool."""

_NOTES = (".h.md", "a.md", "b.md", "d/a.md", "d/b.md", "d/e/c.md", "n/m/k.md")
_FOLDERS = ("d", "e", "d/e", "n")
_ODD = ("", "/", "/.", "/..", "/../x.md", "X/a.md", "//a.md", "/d/../a.md", "/a.md/", "/a.md/b.md")
_LINES = ("one", "two", "two two", "", "a\r", "ä ö 記憶", "x" * 90, "\u2028", "\ufeff")


def sequence(random: Random, length: int) -> list[Json]:
    """``length`` commands on a few names, so that they meet; a few are wrong."""
    return [_command(random) for _ in range(length)]


def _command(random: Random) -> Json:
    name = random.choice(("view", "create", "create", "str_replace", "insert", "delete", "rename"))
    command: Json = {"command": name}
    names: tuple[str, ...]
    if name == "rename":
        names = random.choice((_NOTES[1:], _NOTES[1:], _FOLDERS))  # notes stay notes
        command |= {"old_path": _path(random, names), "new_path": _path(random, names)}
    else:
        names = _NOTES if name == "create" else _NOTES + _FOLDERS
        command["path"] = _path(random, names)
    if name == "view" and random.random() < 0.5:
        command["view_range"] = [random.randint(-2, 6) for _ in range(random.choice((1, 2, 2, 2)))]
    elif name == "create":
        command["file_text"] = _text(random)
    elif name == "str_replace":
        words = ("", "two", "one\n", "a", "x", "zzz", "\n", "xx")
        command |= {"old_str": random.choice(words), "new_str": random.choice((*words, "new"))}
    elif name == "insert":
        command |= {"insert_line": random.randint(-1, 5), "insert_text": _text(random)}
    if random.random() < 0.02:
        command.pop(random.choice(list(command)))
    return command


def _path(random: Random, names: tuple[str, ...]) -> str:
    odd = random.random() < 0.12 and names is not _FOLDERS
    return M + random.choice(_ODD) if odd else f"{M}/{random.choice(names)}"


def _text(random: Random) -> str:
    lines = "\n".join(random.choices(_LINES, k=random.randint(0, 5)))
    return lines + random.choice(("", "\n"))
