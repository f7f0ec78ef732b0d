"""Every setting that the product declares is read by some part, so that none passes in silence."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

READ_BY_CONFIGURATION = {
    "chain": "becomes the rankers of a profile",
    "fusion": "becomes a ranker of a profile",
    "driver": "has one value",
    "remember_across_conversations": "adds transcripts to the sources",
    "session_memory": "adds transcripts to the sources",
}
"""Settings that the configuration itself reads, to the end of another setting."""


def declared(tree: ast.AST) -> Iterator[str]:
    """Names of the settings of a module's groups."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Call):
            call = node.value.func
            if isinstance(call, ast.Name) and call.id == "setting":
                assert isinstance(node.target, ast.Name)
                yield node.target.id


def read(tree: ast.AST) -> Iterator[str]:
    """Names that a module reads from something: as attributes, or as keys of a mapping."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Load()):
                yield name
            case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(key)), *_]):
                yield key


def unread(files: Iterable[Path]) -> set[str]:
    """Settings that no module outside the configuration reads."""
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    wanted = {
        name
        for text in texts.values()
        if re.search(r"\bsetting\b", text)
        for name in declared(ast.parse(text))
    }
    for file, text in texts.items():
        # Most files need no parsing: they have none of the names behind a dot or a quote.
        words = re.findall(r"[.'\"]\s*(\w+)", text)
        if file.parent.name != "config" and not wanted.isdisjoint(words):
            wanted -= set(read(ast.parse(text)))
    return wanted


def test_every_setting_is_read(sources: list[Path]) -> None:
    assert unread(sources) == set(READ_BY_CONFIGURATION)


def test_a_setting_that_nothing_reads_is_seen(tmp_path: Path) -> None:
    group = tmp_path / "group.py"
    group.write_text('class G(Group):\n    one: int = setting("")\n    two: int = setting("")\n')
    reader = tmp_path / "reader.py"
    reader.write_text("def f(group):\n    return group.one\n")
    assert unread([group, reader]) == {"two"}
