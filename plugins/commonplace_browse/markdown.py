"""Notes as HTML: a Markdown library renders, a sanitiser keeps what is harmless.

Whatever a note holds, the result has no script, no style, no form, no image and no address that is
loaded by itself. Links to other notes lead through ``/go``.
"""

from __future__ import annotations

import re
import secrets
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from commonplace.plugin import NamedTuple

LONGEST = 200_000
"""Characters of a note that are rendered; the rest is shown line by line only."""

_TAGS = {
    *("a", "abbr", "b", "blockquote", "br", "caption", "cite", "code", "dd", "del", "details"),
    *("div", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "ins", "kbd", "li"),
    *("ol", "p", "pre", "q", "s", "samp", "small", "span", "strong", "sub", "summary", "sup"),
    *("table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul", "var"),
}
_DROPPED = {"script", "style", "title", "textarea", "iframe", "noscript", "template", "svg", "math"}
_OPEN, _CLOSE = "\ue000", "\ue001"  # private characters around what matched, until it is sanitised
_MARKED = re.compile(f"{_OPEN}([^{_OPEN}{_CLOSE}<>]*){_CLOSE}")
_LONE_CR = re.compile(r"\r(?!\n)")  # ends a line of Markdown, and none of a note
_STRAY = re.compile(f"[{_OPEN}{_CLOSE}]")
_WIKI = re.compile(r"\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]*))?\]\]")
_ADDRESS = re.compile(r"\]\([^)\n]*\)|<[^>\n]*>|[a-z]+://\S+")  # of links and tags
_FRONT = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?\n)?\1[ \t]*(?:\n|\Z)", re.DOTALL)
_BLOCKS = frozenset(
    {"paragraph_open", "heading_open", "list_item_open", "tr_open", "fence", "code_block"}
)


_LINKED = re.compile(r"!?\[([^\[\]\n]+)\]\([^()\n]*\)")
_STRONG = re.compile(r"(`+|\*\*|__|==|~~)(?=\S)(.+?)(?<=\S)\1")


class Rendered(NamedTuple):
    """A note as HTML; ``properties`` is its front matter, ``whole`` whether all is rendered."""

    html: Markup
    properties: str = ""
    whole: bool = True


def render_note(text: str, path: str) -> Rendered:
    """The note ``path``: each block has its lines in ``data-lines`` (``3-5``)."""
    front = _FRONT.match(text)
    properties = (front[2] or "") if front else ""
    body = text
    if front:  # as many empty lines, so that the others keep their numbers
        body = "\n" * front[0].count("\n") + text[front.end() :]
    cut = _LONE_CR.sub(" ", body[:LONGEST])
    nonce = secrets.token_hex(4)
    lines = cut.split("\n")
    tokens = _parser().parse(_STRAY.sub("", cut), {})
    inside = 0
    for token in tokens:
        if token.type == "list_item_open":
            inside += 1
        elif token.type == "list_item_close":
            inside -= 1
        if token.map is None or token.type not in _BLOCKS:
            continue
        if inside and token.type != "list_item_open":
            continue
        first, last = token.map
        while last > first + 1 and not lines[last - 1].strip():
            last -= 1
        token.attrSet("data-lines", f"{nonce}{first + 1}-{last}")
    html = _clean(_parser().renderer.render(tokens, _parser().options, {}), path, nonce)
    return Rendered(Markup(_STRAY.sub("", html)), properties.rstrip(), len(cut) == len(body))  # noqa: S704 - sanitised


def plain_title(heading: str) -> str:
    """A heading without the signs of links, code and emphasis."""
    return _STRONG.sub(r"\2", _LINKED.sub(r"\1", heading)) if heading else ""


@lru_cache(maxsize=512)
def render_snippet(text: str, highlights: tuple[tuple[int, int], ...], path: str) -> Markup:
    """A piece of the note ``path`` with ``highlights`` (offsets into it) marked."""
    plain = text.translate({ord(_OPEN): " ", ord(_CLOSE): " "})
    parts, at = [], 0
    addresses = [found.span() for found in _ADDRESS.finditer(plain)]
    for start, end in highlights:
        inside = any(low < end and start < high for low, high in addresses)
        if at <= start < end <= len(plain) and not inside:
            parts += [plain[at:start], _OPEN, plain[start:end], _CLOSE]
            at = end
    html = _clean(_parser().render("".join([*parts, plain[at:]])), path, None)
    return Markup(_STRAY.sub("", _MARKED.sub(r"<mark>\1</mark>", html)))  # noqa: S704 - sanitised


def _clean(html: str, path: str, nonce: str | None) -> str:
    def filtered(tag: str, name: str, value: str) -> str | None:
        value = unquote(_STRAY.sub("", value)) if _OPEN in unquote(value) else value
        if name == "data-lines":
            given = value.removeprefix(nonce) if nonce and value.startswith(nonce) else ""
            return given or None  # of a note's own HTML it says nothing
        if tag == "a" and name == "href":
            return _address(_STRAY.sub("", value), path)
        return _STRAY.sub("", value)

    return nh3.clean(
        html,
        tags=_TAGS,
        clean_content_tags=_DROPPED,
        attributes={
            "*": {"data-lines"},
            "a": {"href", "title"},
            "abbr": {"title"},
            "details": {"open"},
            "li": {"value"},
            "ol": {"start"},
            "td": {"colspan", "rowspan"},
            "th": {"colspan", "rowspan"},
        },
        # Wide ones scroll, by keys too.
        set_tag_attribute_values={"table": {"tabindex": "0"}, "pre": {"tabindex": "0"}},
        attribute_filter=filtered,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )


def _address(value: str, path: str) -> str | None:
    """Where a link of the note ``path`` leads: out, or to a note through ``/go``."""
    try:
        parts = urlsplit(value)
    except ValueError:
        return None
    if parts.scheme in ("http", "https", "mailto"):
        return value
    if parts.scheme or parts.netloc or value.startswith(("//", "\\")) or not parts.path:
        return None
    return f"/go?to={quote(unquote(parts.path))}&from={quote(path)}"


def _image(tokens: Any, at: int, _options: Any, _env: Any) -> str:
    """Images are named, never loaded."""
    return f"<em>[image{': ' if tokens[at].content else ''}{escape(tokens[at].content)}]</em>"


def _text(tokens: Any, at: int, _options: Any, _env: Any) -> str:
    """Text, with ``[[links]]`` to other notes."""
    parts, last, content = [], 0, tokens[at].content
    for found in _WIKI.finditer(content):
        name = _STRAY.sub("", found[1]).strip()
        shown = escape(found[2] or found[1])
        parts += [
            str(escape(content[last : found.start()])),
            f'<a href="{quote(name.partition("#")[0] or name)}">{shown}</a>',
        ]
        last = found.end()
    return "".join(parts) + str(escape(content[last:]))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    renderer: Any = parser.renderer
    renderer.rules["image"] = _image
    renderer.rules["text"] = _text
    return parser
