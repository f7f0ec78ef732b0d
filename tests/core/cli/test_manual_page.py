"""The manual page: from the parsers, and valid for the programs that show it."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.cli.commands.man import Argument, Catalog, CommandFacts, catalog, manual

if TYPE_CHECKING:
    from collections.abc import Callable

Run = Any

needs_groff = pytest.mark.skipif(not shutil.which("groff"), reason="no groff")


def read(page: str) -> str:
    """``page`` as a terminal shows it, without styles, on lines of any length."""
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-P-c", "-ww", "-rLL=400n"],
        input=page, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stderr == ""
    plain = subprocess.run(
        ["col", "-bx"], input=done.stdout, capture_output=True, text=True, check=True, timeout=60
    )
    return plain.stdout


@needs_groff
def test_it_shows_every_command_option_and_example_as_help_does(run: Callable[..., Run]) -> None:
    ran = run("man")
    assert (ran.code, ran.err) == (0, "")
    shown = " ".join(read(ran.out).split())
    facts = catalog(os.environ)
    for command in facts.commands:
        assert f"commonplace {command.name}" in shown
        assert command.summary in shown
        for example in command.examples:
            assert example in shown
        for argument in command.arguments:
            assert " ".join(argument.about.split()) in shown
            for name in argument.names:
                assert name in shown
    for word in ("EXIT STATUS", "COMMONPLACE_WORKSPACE", "--version", "~/.config/commonplace"):
        assert word in shown


@needs_groff
def test_no_text_is_taken_for_a_command_of_the_page() -> None:
    odd = ".TH is no title; it's \\fB a -dash `tick` ^ ~ \"quote\" 'single"
    argument = Argument(("--odd",), "O", odd, "text")
    shown = read(manual(Catalog((CommandFacts("odd", odd, (odd,), (argument,)),), ())))
    assert shown.count(odd) == 3


def test_json_has_the_same_page(run: Callable[..., Run]) -> None:
    assert run("man", "--json").json == {
        "schemaVersion": 1,
        "page": run("man").out,
        "missing": [],
    }
