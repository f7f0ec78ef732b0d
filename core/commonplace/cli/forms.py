"""The richer forms of a result: Markdown to be pasted, links to an editor, commands to be run."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from shlex import quote
from typing import TYPE_CHECKING

from commonplace.cli.streams import printable
from commonplace.errors import CommonplaceError
from commonplace.model.search import cited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from commonplace.config.settings import Settings
    from commonplace.host.host import PluginHost
    from commonplace.model.search import SearchResult


def hits_as_markdown(result: SearchResult) -> str:
    """Each hit as a heading with its citation, and its snippet as a quotation."""
    parts = []
    for hit in result.hits:
        heading = " › ".join(hit.heading)
        below = f"{_escaped(heading)}\n\n" if heading else ""
        place = code(hit.citation)
        parts.append(f"### {place} ({hit.score:.2f})\n\n{below}{quoted(hit.snippet)}\n")
    return "\n".join(parts)


def cited_text(path: str, start: int, end: int, text: str) -> str:
    """Lines of a note as a quotation below their citation."""
    return f"### {code(cited(path, start, end))}\n\n{quoted(text)}"


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


_ELSEWHERE = frozenset({"completion", "demo", "init", "man"})
"""Commands for which they mean something else, or nothing."""


_SUGGESTED = r"(?m:^|(?<=[`(])|(?<=[:;] )|(?<=, or )|(?<= with ))commonplace ([a-z][a-z-]*)"
"""A command of ours as messages have it, in their texts: after what can stand before one."""


def suggesting(
    text: str,
    given: Mapping[str, str],
    commands: Sequence[str],
    host: Callable[[], PluginHost],
    env: Mapping[str, str] = os.environ,
) -> str:
    """``text`` in which each command of ours has the options ``given``, unless it names its own.

    So a command that is copied from a message acts on the memory that the message is about. Only
    what stands where messages have their commands is one: prose and quoted text stay as they are.
    ``commands`` are those of core; those of plugins are known to the ``host``. A change of the
    configuration does not go to a file of another program, and the text then ends with what else
    must be done.
    """
    known = set(commands)
    with suppress(CommonplaceError, OSError, ValueError):  # such as a configuration of no such name
        known.update(host().ids("command"))
    beside: list[str] = []

    def whose(found: re.Match[str]) -> str:
        before, after = text[: found.start()], text[found.end() :]
        rest = re.split(r"[`\n]|\bcommonplace ", after, maxsplit=1)[0]
        # Help is for all, "did you mean" corrects a word, and what a process runs is a fact.
        fact = rest.startswith((" --help", "?")) or re.search(r"process \d+ \($", before)
        quoted = before.count('"') % 2 or before.count("“") > before.count("”")
        if fact or quoted or found[1] not in known - _ELSEWHERE:
            return found[0]
        unfit = _unfit(rest, given, env) if found[1] == "config" else {}
        beside.extend(words for words in unfit.values() if words and words not in beside)
        fit = (name for name in given if name not in unfit)
        missing = [name for name in fit if not re.search(rf"{name}[ =]", rest)]
        return found[0] + "".join(f" {name} {quote(given[name])}" for name in missing)

    text, more = re.sub(_SUGGESTED, whose, text), "; ".join(beside)
    if more and text.endswith("."):
        return f"{text} {more[0].upper()}{more[1:]}."
    return f"{text}; {more}" if more else text


def _unfit(rest: str, given: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    """The options that a change of the configuration cannot have, and what to do in their place.

    ``rest`` is what follows the name of the command.
    """
    from commonplace.config.paths import beside_the_originals, is_never_written

    change = re.match(r" (?:un)?set (\S+)", rest)
    found = {}
    if change and change[1].startswith("memory."):
        found["--agent"] = ""  # no setting of one agent
    file = given.get("--config")
    if change and file and is_never_written(file, env):
        found["--config"] = beside_the_originals(file, "--config", env)
    return found
