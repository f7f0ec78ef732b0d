"""Read the docstrings of the API reference as Markdown; an extension of griffe for mkdocs.yml."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from griffe import Extension

if TYPE_CHECKING:
    from griffe import Object


class PlainDocstrings(Extension):  # type: ignore[misc, unused-ignore]  # griffe may be missing
    """Turns the three marks of reStructuredText that the docstrings use into Markdown."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite roles, ``::`` before a block of code, and the prompts of doctest."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)


def markdown(text: str) -> str:
    """The same docstring; a text without such marks is unchanged."""
    text = re.sub(r":[a-z]+:`~?([^`]+)`", r"`\1`", text)
    text = re.sub(r"(?<=\S)::$", ":", text, flags=re.MULTILINE)
    # A session goes on to the next blank line, what is printed included.
    return re.sub(r"(?m)^>>> .*(?:\n.+)*", r"```pycon\n\g<0>\n```", text)
