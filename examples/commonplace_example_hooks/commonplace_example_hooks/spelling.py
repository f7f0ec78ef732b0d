"""Corrects words that are nearly those of a list, whatever other plugins made of the query."""

from collections.abc import Generator
from difflib import get_close_matches

from commonplace.plugin import hookimpl

WORDS = ("calendar", "kubernetes", "meeting", "postgres", "workshop")


@hookimpl(wrapper=True)
def commonplace_rewrite_query(query: str) -> Generator[None, str | None, str | None]:
    """Correct what the other plugins made of the query."""
    rewritten = yield
    asked = query if rewritten is None else rewritten
    return " ".join(corrected(word) for word in asked.split(" "))


def corrected(word: str) -> str:
    """The word of the list that was most likely meant, else the word itself."""
    if not word.isalpha():  # a filter, a phrase, a -word
        return word
    near = get_close_matches(word.lower(), WORDS, n=1, cutoff=0.8)
    return near[0] if near else word
