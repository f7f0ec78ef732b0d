"""The question before the first upload: when it is asked, and what counts as an answer."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest

from commonplace.cli.progress import UploadQuestion
from commonplace.model.reports import Upload

FOUND = Upload(provider="vendor", host="https://v.test", texts=300, key="VENDOR_KEY")


class Terminal(StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y\n", True),
        (" YES \n", True),
        ("n\n", False),
        ("\n", False),
        ("what?\n", False),
        ("", None),
    ],
)
def test_only_a_yes_is_one_and_the_end_of_input_is_no_answer(
    typed: str, answer: bool | None
) -> None:
    err = Terminal()
    pauses: list[bool] = []
    ask = UploadQuestion(err, source=Terminal(typed), pause=lambda: pauses.append(True))
    assert ask(FOUND) is answer
    assert pauses == [True]
    for part in ("300 texts", "vendor", "https://v.test", "VENDOR_KEY", "--yes", "[y/N]"):
        assert part in err.getvalue()


@pytest.mark.parametrize(
    ("upload", "options"),
    [
        (FOUND.replace(named=True), {}),
        (FOUND, {"yes": True}),
        (FOUND.replace(declined=True), {"yes": True}),
        (FOUND, {"ask": False}),
        (FOUND.replace(query=True, named=True), {}),
    ],
)
def test_what_is_said_and_not_asked(upload: Upload, options: dict[str, Any]) -> None:
    err = Terminal()
    assert UploadQuestion(err, source=Terminal("n\n"), **options)(upload) is True
    assert err.getvalue().startswith("note: sending 300 texts of your notes to vendor at ")
    assert "?" not in err.getvalue()


@pytest.mark.parametrize("streams", [(StringIO, Terminal), (Terminal, StringIO)])
def test_without_a_terminal_there_is_no_question(
    streams: tuple[type[StringIO], type[StringIO]],
) -> None:
    err, source = streams[0](), streams[1]("n\n")
    assert UploadQuestion(err, source=source)(FOUND) is True
    assert err.getvalue().count("\n") == 1


@pytest.mark.parametrize("upload", [FOUND.replace(declined=True), FOUND.replace(query=True)])
def test_a_search_does_not_ask_and_a_no_is_not_asked_again(upload: Upload) -> None:
    err = Terminal()
    assert UploadQuestion(err, source=Terminal("y\n"))(upload) is None
    assert err.getvalue() == ""
