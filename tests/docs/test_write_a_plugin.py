"""What the tutorial shows is what the example is made of."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "commonplace_example_milvus"

SHOWN = re.compile(r"^`([\w/.]+)`:\n\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def tutorial(docs: Path) -> str:
    return (docs / "write-a-plugin.md").read_text(encoding="utf-8")


def test_each_piece_of_code_stands_in_the_file_it_is_said_to_be_of(tutorial: str) -> None:
    shown = SHOWN.findall(tutorial)
    assert len(shown) >= 20
    for name, _, code in shown:
        held = (EXAMPLE / name).read_text(encoding="utf-8")
        assert f"\n{code.rstrip()}\n" in f"\n{held}\n", f"{name} has no longer:\n{code}"


def test_every_block_is_of_a_file_or_a_command_line(tutorial: str) -> None:
    named = {code for _, _, code in SHOWN.findall(tutorial)}
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", tutorial, re.MULTILINE | re.DOTALL)
    assert {language for language, code in blocks if code not in named} == {"console"}


def test_all_that_the_distribution_offers_is_shown(tutorial: str) -> None:
    project: dict[str, Any] = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    for name in project["entry-points"]["commonplace"]:
        assert f"`{name}`" in tutorial
    hooks = re.findall(r"^def (commonplace_register_\w+)", _text("plugin.py"), re.MULTILINE)
    assert len(hooks) == 3


def test_links_lead_to_files(docs: Path, tutorial: str, read_page: Callable[[Path], Any]) -> None:
    pages = [docs / "write-a-plugin.md", docs / "plugins.md", *(docs / "hooks").iterdir()]
    for page in pages:
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[\w-]+)?\)", read_page(page).text):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page.name}: {link}"
    for anchor in re.findall(r"\]\(#([\w-]+)\)", tutorial):
        headings = re.findall(r"^##+ (.*)$", tutorial, re.MULTILINE)
        assert anchor in {
            re.sub(r"[^\w -]", "", heading.casefold()).replace(" ", "-") for heading in headings
        }


def _text(module: str) -> str:
    return (EXAMPLE / "commonplace_example_milvus" / module).read_text(encoding="utf-8")
