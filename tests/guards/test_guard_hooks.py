"""Every hook is documented with its arguments, and named in a test."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

from commonplace.host.discovery import CALLED
from commonplace.plugin import Hooks

if TYPE_CHECKING:
    from pathlib import Path

HOOKS = {name: hook for name, hook in vars(Hooks).items() if name.startswith("commonplace_")}


def sections(page: str) -> dict[str, str]:
    """Text by heading, of the headings that name a hook."""
    parts = re.split(r"^#+ +(.*)$", page, flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    return {heading: text for heading, text in found.items() if heading.startswith("commonplace_")}


def page(root: Path) -> str:
    """The page for authors of plugins."""
    return (root / "docs" / "plugins.md").read_text(encoding="utf-8")


def test_every_hook_has_a_heading_with_its_arguments_and_no_other_has_one(root: Path) -> None:
    signatures = []
    for name, hook in HOOKS.items():
        _, *arguments = inspect.signature(hook).parameters
        signatures.append(f"{name}({', '.join(arguments)})")
    assert list(sections(page(root))) == signatures


def test_what_a_hook_hands_to_factories_is_documented(root: Path) -> None:
    described = sections(page(root))
    for name, hook in HOOKS.items():
        text = described[next(h for h in described if h.startswith(f"{name}("))]
        factories = re.findall(r"``register\.(\w+)\(id, factory\)``: ``(.*?)``", hook.__doc__ or "")
        assert (not factories) is any(name in hooks for hooks in CALLED.values())
        for role, made in factories:
            assert f"`register.{role}(id, factory)`: `{made}`." in text


def test_every_hook_is_documented_in_the_specification() -> None:
    assert [name for name, hook in HOOKS.items() if not (hook.__doc__ or "").strip()] == []


def test_every_hook_is_named_in_a_test(root: Path) -> None:
    texts = [file.read_text(encoding="utf-8") for file in (root / "tests").rglob("test_*.py")]
    untested = [
        name for name in HOOKS if not any(re.search(rf"\b{name}\b", text) for text in texts)
    ]
    assert untested == []
