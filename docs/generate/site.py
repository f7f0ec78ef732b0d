"""What mkdocs.yml adds to MkDocs: pages from outside docs/, the API's names, and Markdown twins.

Links are written for a reader of the repository. Here they are made to work on the site as well: a
page outside ``docs/`` that is in the navigation becomes a page of the site, and a link to any other
file outside it becomes plain text. Each page gets a twin, ``page.md`` beside ``page.html``, and
``llms.txt`` lists them all.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[([^\]]*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")
FENCED = re.compile(r"^(?:(`{3,}).*?^\1|    .*?)$", re.MULTILINE | re.DOTALL)
NAMES = re.compile(r"^<!-- names of ([\w.]+) -->$", re.MULTILINE)
COMMENT = re.compile(r"^<!-- (?:not run|run first|exits).*? -->\n", re.MULTILINE)

_twins: dict[str, str] = {}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside ``docs/`` that the navigation names."""
    from mkdocs.structure.files import File

    for path in _pages(config.nav):
        if files.get_file_from_path(path) is None and (ROOT / path).is_file():
            text = (ROOT / path).read_text(encoding="utf-8")
            files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point the links at pages of the site, and name what the API reference documents."""
    del config
    here = page.file.src_uri
    # As a reader of the repository sees it.
    folder = posixpath.dirname(here if page.file.generated_by else f"docs/{here}")

    def link(match: re.Match[str]) -> str:
        text, target, anchor = match[1], match[2], match[3] or ""
        path = posixpath.normpath(posixpath.join(folder, target))
        inside = [path.removeprefix("docs/"), f"{path}/README.md".removeprefix("docs/")]
        if path == "README.md":
            inside = ["index.md"]
        for one in inside:
            if files.get_file_from_path(one) is not None:
                return f"[{text}]({posixpath.relpath(one, posixpath.dirname(here) or '.')}{anchor})"
        if (ROOT / path).exists():
            return text
        return match[0]  # MkDocs reports it

    parts: list[str] = []
    end = 0
    for code in FENCED.finditer(markdown):
        parts += [LINK.sub(link, markdown[end : code.start()]), code[0]]
        end = code.end()
    parts.append(LINK.sub(link, markdown[end:]))
    markdown = COMMENT.sub("", "".join(parts))
    # MkDocs makes index.html of README.md.
    _twins[_twin(page)] = re.sub(r"(\]\([\w./-]*)\bREADME\.md", r"\1index.md", markdown)
    return NAMES.sub(lambda match: _reference(match[1]), markdown)


def on_page_content(html: str, page: Page, **_: Any) -> None:
    """Take what the reference shows into its twin: its Markdown names directives alone."""
    if NAMES.search(_twins[_twin(page)]):
        from markdownify import markdownify

        html = re.sub(r'<a [^>]*class="headerlink".*?</a>', "", html)
        html = re.sub(r'(href="(?![a-z]+:)[^"#]*)\.html', r"\1.md", html)
        text = markdownify(
            html,
            bullets="-",
            code_language_callback=lambda _: "python",
            escape_underscores=False,
            heading_style="ATX",
        )
        _twins[_twin(page)] = re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def on_nav(nav: Navigation, **_: Any) -> None:
    """Remember the order of the pages."""
    on_nav.nav = nav  # type: ignore[attr-defined]


def on_post_build(config: MkDocsConfig) -> None:
    """Write the twins and ``llms.txt``."""
    site = Path(config.site_dir)
    for path, text in _twins.items():
        twin = site / path
        twin.parent.mkdir(parents=True, exist_ok=True)
        twin.write_text(text, encoding="utf-8")
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", ""]
    for item in on_nav.nav.items:  # type: ignore[attr-defined]
        lines += [f"## {item.title}", "", *_listed(item), ""]
    (site / "llms.txt").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _twin(page: Page) -> str:
    return f"{posixpath.splitext(page.file.dest_uri)[0]}.md"


def _pages(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    below = nav.values() if isinstance(nav, dict) else nav
    return [page for item in below for page in _pages(item)]


def _listed(item: Any) -> list[str]:  # a page, a link or a section
    if item.is_page:
        return [f"- [{item.title}]({_twin(item)})"]
    return [line for child in item.children or () for line in _listed(child)]


def _reference(module: str) -> str:
    """A directive of mkdocstrings for each name that a public module lists in its stub, by kind."""
    folder = ROOT / "core" / module.replace(".", os.sep)
    stub = folder / "__init__.pyi" if folder.is_dir() else folder.with_suffix(".pyi")
    text = stub.read_text(encoding="utf-8")
    names = re.findall(r"^(?:from \S+ import|   ) (\w+) as \1,?$", text, re.MULTILINE)
    groups: dict[str, list[str]] = {
        "Classes and types": [],
        "Functions": [],
        "Errors": [],
        "Other names": [],
    }
    for name in sorted(names, key=str.lower):
        if name.endswith("Error"):
            groups["Errors"].append(name)
        elif name[0].isupper() and not name.isupper():
            groups["Classes and types"].append(name)
        elif name.isupper() or name.startswith("__"):
            groups["Other names"].append(name)
        else:
            groups["Functions"].append(name)
    lines = []
    for title, members in groups.items():
        if members:
            lines += [f"## {title}", "", *(f"::: {module}.{name}\n" for name in members)]
    return "\n".join(lines)
