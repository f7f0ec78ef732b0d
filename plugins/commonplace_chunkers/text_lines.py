r"""A text as lines with their places; lines end at ``\n`` or ``\r\n`` and at nothing else."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

__all__ = ["TextLines"]


class TextLines:
    r"""Line ``i`` (0-based) is ``text[starts[i]:ends[i]]``, its line end left out.

    There are as many lines as ``text.split("\n")`` has: a text that ends in a line end has an
    empty last line. A carriage return that the text ends in counts as a line end cut short.
    """

    __slots__ = ("contents", "ends", "starts", "text")

    def __init__(self, text: str) -> None:
        lines = text.split("\n")
        after = list(accumulate(len(line) + 1 for line in lines))
        self.text = text
        self.starts = [0, *after[:-1]]
        self.ends = [end - 1 for end in after]
        self.contents = lines
        if "\r" in text:
            self.contents = [line.removesuffix("\r") for line in lines]
            pairs = zip(self.starts, self.contents, strict=True)
            self.ends = [start + len(line) for start, line in pairs]

    def __len__(self) -> int:
        return len(self.starts)

    def number_at(self, offset: int) -> int:
        """The line in which the character at ``offset`` stands."""
        return bisect_right(self.starts, offset) - 1

    def is_blank(self, line: int) -> bool:
        """Whether the line holds nothing but white space."""
        content = self.contents[line]
        return not content or content.isspace()
