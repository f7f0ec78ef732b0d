"""The richer forms of a result: Markdown to be pasted, and links from a terminal to an editor."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from commonplace.cli.streams import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from commonplace.config.settings import Settings
    from commonplace.model.search import SearchResult


def hits_as_markdown(result: SearchResult) -> str:
    """Each hit as a heading with its citation, and its snippet as a quotation."""
    parts = []
    for hit in result.hits:
        heading = " › ".join(hit.heading)
        below = f"{_escaped(heading)}\n\n" if heading else ""
        place = code(f"{hit.path}:{hit.start_line}-{hit.end_line}")
        parts.append(f"### {place} ({hit.score:.2f})\n\n{below}{quoted(hit.snippet)}\n")
    return "\n".join(parts)


def cited_text(path: str, start: int, end: int, text: str) -> str:
    """Lines of a note as a quotation below their citation."""
    return f"### {code(f'{path}:{start}-{end}')}\n\n{quoted(text)}"


def facts_as_markdown(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """Labels and values as a list below ``title``; a label that is indented goes a level deeper."""
    lines = [f"## {_escaped(title)}", ""]
    for label, value in facts:
        indent = "  " if label.startswith(" ") else ""
        lines.append(f"{indent}- **{_escaped(label.strip())}**: {_escaped(value)}")
    return "\n".join(lines) + "\n"


def code(text: str) -> str:
    """``text`` as a span of code, whatever backticks are in it."""
    text = printable(text).replace("\n", " ")
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def quoted(text: str) -> str:
    """``text``, which is Markdown itself, as a quotation."""
    lines = printable(text).strip("\n").split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _escaped(text: str) -> str:
    """``text`` in one line, with what Markdown would read as a sign of its own escaped."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", printable(text).replace("\n", " "))


FILE = "file://{host}/{path}"

_EDITORS = {
    "code": "vscode://file/{path}:{line}",
    "code-insiders": "vscode-insiders://file/{path}:{line}",
    "codium": "vscodium://file/{path}:{line}",
    "cursor": "cursor://file/{path}:{line}",
    "windsurf": "windsurf://file/{path}:{line}",
    "zed": "zed://file/{path}:{line}",
    "zeditor": "zed://file/{path}:{line}",
    "mate": "txmt://open?url=file:///{path}&line={line}",
    "subl": "subl://open?url=file:///{path}&line={line}",
    "bbedit": "x-bbedit://open?url=file:///{path}&line={line}",
    "idea": "idea://open?file=/{path}&line={line}",
    "pycharm": "pycharm://open?file=/{path}&line={line}",
}
"""By the name of the program: the URL by which an editor is asked to open a file."""


def url_of(settings: Settings, path: str, line: int, env: Mapping[str, str]) -> str:
    """The URL that opens ``path`` at ``line``; ``""`` where links are off or no file is there.

    ``path`` is as hits have it. What is no file of the workspace or beside it, such as a
    conversation, which is shown masked, gets none.
    """
    template = settings.links
    if template == "off":
        return ""
    location = os.path.normpath(os.path.join(settings.workspace, path))
    if not os.path.isfile(location):
        return ""
    return filled(editor_url(env) if template == "auto" else template, location, line)


def editor_url(env: Mapping[str, str]) -> str:
    """The template for ``VISUAL`` or ``EDITOR``, where one of them is known; else the file's own.

    An editor on this machine cannot be asked from a terminal on another one.
    """
    if env.get("SSH_CONNECTION") or env.get("SSH_TTY"):
        return FILE
    for variable in ("VISUAL", "EDITOR"):
        words = env.get(variable, "").split()
        if words:
            name = re.split(r"[/\\]", words[0])[-1].lower().removesuffix(".exe")
            return _EDITORS.get(name, FILE)
    return _EDITORS["code"] if env.get("TERM_PROGRAM") == "vscode" else FILE


def filled(template: str, location: str, line: int) -> str:
    """``template`` with ``{path}`` (absolute), ``{line}`` and ``{host}`` replaced."""
    from socket import gethostname
    from urllib.parse import quote

    path = quote(os.fsencode(location.replace(os.sep, "/")))
    if "/{path}" in template:
        path = path.lstrip("/")
    values = {"path": path, "line": str(line)}
    if "{host}" in template:
        values["host"] = quote(gethostname())
    return re.sub(r"\{(path|line|host)\}", lambda found: values.get(found[1], ""), template)
