"""What a Markdown note says of itself: title, other names, tags and day, in front matter or text.

Front matter is read as far as notes use it (Obsidian, Logseq, Jekyll, Hugo, Zettlr): text, lists on
one line or several, in YAML; TOML between lines of ``+++``. What is not understood is left alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date


_MOST_LINES = 500
"""Front matter that is longer is none."""

_LONGEST_NUMBER = 64
"""The most bits of a number that is a title, a name or a tag: ``str`` refuses very long ones."""

_KEY = re.compile(r"""(?:([\w.-]+)|"([^"]*)"|'([^']*)')[ \t]*:(?:[ \t]+(.*?))?[ \t]*\Z""")
_COMMENT = re.compile(r"""(?:^|[ \t])#.*\Z""")
_DAY = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?![0-9])")
# As Obsidian has it: a tag has a letter, and stands at the start of a word.
_TAG = re.compile(r"(?<![^\s(\[{,;:.!?\"'“‘«>*_~|（「、。])#((?:[^\W_]|[-_/&+])+)")
_FENCE = re.compile(r" {0,3}(?:[-*+>]|[0-9]+[.)])?[ \t]*(`{3,}|~{3,})")
_LINK = r"\]\([^)\s]*\)|\[\[[^\]]*\]\]|<[^>\s]*>|^ {0,3}\[(?!\^)[^\]]+\]:\s*\S+"
_CODE = re.compile(rf"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)|{_LINK}")

_TITLES = ("title",)
_NAMES = ("aliases", "alias")
_TAGS = ("tags", "tag", "keywords")
_DAYS = ("date", "created", "created_at", "creation_date", "day")


class NoteFacts(NamedTuple):
    """What a note says of itself.

    ``names`` are its aliases. ``tags`` are in lower case without ``#``; of a nested one, those
    around it are there, too: ``work`` for ``work/port``.
    """

    title: str = ""
    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    day: date | None = None


def note_facts(text: str) -> NoteFacts:
    """What the Markdown ``text`` says of itself. Raises nothing."""
    keys, start = _front_matter(text) if text[:3] in ("---", "+++") else ({}, 0)
    tags = [*_texts(keys, _TAGS, words=True), *(_tags_in(text[start:]) if "#" in text else ())]
    return NoteFacts(
        title=next(iter(_texts(keys, _TITLES)), ""),
        names=tuple(dict.fromkeys(_texts(keys, _NAMES))),
        tags=expanded(tags),
        day=next(filter(None, map(_day, _values(keys, _DAYS))), None),
    )


def expanded(tags: Iterable[str]) -> tuple[str, ...]:
    """``tags`` as an index keeps them, each once: folded, without ``#``, with those around them."""
    found: dict[str, None] = {}
    for tag in tags:
        parts = folded_tag(tag).split("/")
        for end in range(1, len(parts) + 1):
            found["/".join(parts[:end])] = None
    found.pop("", None)
    return tuple(found)


def folded_tag(tag: str) -> str:
    """``tag`` as it is compared: in lower case, without ``#`` and slashes around it."""
    return "-".join(tag.strip().lstrip("#").strip("/").casefold().split())


def _front_matter(text: str) -> tuple[dict[str, Any], int]:
    """What the front matter tells by key, in lower case, and where the text after it begins."""
    mark, *lines = text.split("\n", _MOST_LINES)
    mark = mark.rstrip()
    if mark not in ("---", "+++"):
        return {}, 0
    closing = {mark, "..."} if mark == "---" else {mark}
    end = next((at for at, line in enumerate(lines) if line.rstrip() in closing), -1)
    if end < 0:
        return {}, 0
    start = sum(len(line) + 1 for line in lines[: end + 1]) + text.index("\n") + 1
    inside = [line.rstrip("\r") for line in lines[:end]]
    return (_toml(inside) if mark == "+++" else _yaml(inside)), start


def _toml(lines: list[str]) -> dict[str, Any]:
    from tomllib import loads

    try:
        keys = loads("\n".join(lines))
    except (ValueError, RecursionError):  # also for a number or a nesting that is too long
        return {}
    inner = keys.get("taxonomies")
    if isinstance(inner, dict):
        keys |= inner
    return {key.lower(): value for key, value in keys.items()}


def _yaml(lines: list[str]) -> dict[str, Any]:
    """The keys of the outermost level; other values than text and lists of texts are ``""``."""
    keys: dict[str, Any] = {}
    key = ""
    for line in lines:
        if found := _KEY.match(line):
            key = (found[1] or found[2] or found[3] or "").lower()
            keys[key] = _value(found[4] or "")
        elif key and (item := line.strip()) and (line[0].isspace() or item.startswith("- ")):
            before = keys[key]
            if item.startswith("- "):
                keys[key] = [*(before if isinstance(before, list) else []), _plain(item[2:])]
            elif isinstance(before, str) and before in {">", "|", ">-", "|-", ">+", "|+"}:
                keys[key] = item
            elif isinstance(before, str) and before.startswith("["):
                keys[key] = _value(f"{before} {item}")
            elif isinstance(before, str) and before:
                keys[key] = f"{before} {item}"
    return keys


def _value(text: str) -> Any:
    text = text.strip()
    if not (text.startswith("[") and not text.startswith("[[")):
        return _plain(text)
    if not text.endswith("]"):
        closed = _COMMENT.sub("", text).rstrip()
        if not closed.endswith("]"):
            return text  # goes on in the next line
        text = closed
    items = re.findall(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,]*)\s*(?:,|\Z)""", text[1:-1])
    return [plain for item in items if (plain := _plain(item))]


def _plain(text: str) -> str:
    """A scalar without quotes and comment."""
    text = text.strip()
    if text[:1] in ('"', "'"):
        end = text.find(text[0], 1)
        while end > 0 and (text[end - 1] == "\\" or text[end + 1 : end + 2] == text[0] == "'"):
            end = text.find(text[0], end + 2 if text[0] == "'" else end + 1)
        if end > 0:
            return text[1:end].replace(f"\\{text[0]}", text[0]).replace("''", "'").strip()
    # A tag may be written with its mark.
    return text if text.startswith("#") else _COMMENT.sub("", text).strip()


def _values(keys: dict[str, Any], names: tuple[str, ...]) -> Iterator[Any]:
    for name in names:
        value = keys.get(name)
        if value is not None:
            yield from value if isinstance(value, list) else (value,)


def _texts(keys: dict[str, Any], names: tuple[str, ...], *, words: bool = False) -> Iterator[str]:
    """The values of ``names`` as texts; with ``words``, a text may be several: ``a, b``."""
    for name in names:
        value = keys.get(name)
        if isinstance(value, str) and words:
            parts = value.split(",") if "," in value else value.split()
            yield from filter(None, map(str.strip, parts))
        else:
            for item in value if isinstance(value, list) else (value,):
                if isinstance(item, int) and item.bit_length() > _LONGEST_NUMBER:
                    continue
                if isinstance(item, str | int | float) and str(item).strip():
                    yield str(item).strip()


def _day(value: Any) -> date | None:
    from datetime import date, datetime

    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    found = _DAY.search(value) if isinstance(value, str) else None
    if found is None:
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None


def _tags_in(text: str) -> Iterator[str]:
    """The ``#tags`` of a text, but for those in code and in links."""
    fence = ""
    for line in text.split("\n"):
        if "#" not in line and "``" not in line and "~~" not in line:
            continue
        if found := _FENCE.match(line):
            mark = found[1]
            if not fence:
                fence = mark
            elif mark[0] == fence[0] and len(mark) >= len(fence):
                fence = ""
            continue
        if fence:
            continue
        for tag in _TAG.findall(_CODE.sub(" ", line)):
            name = tag.strip("-_/&+")
            if any(sign.isalpha() for sign in name):
                yield name
