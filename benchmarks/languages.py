r"""Keyword search in European languages, Russian and Arabic: titles against the texts below them.

    apt-get download debian-handbook manpages-de manpages-fr manpages-es manpages-it manpages-nl \
        manpages-pl manpages-pt-br manpages-ru
    python benchmarks/languages.py *.deb

The packages are Debian's own. A document is a section of the handbook without its title, or a
manual page without its line on what the program does; that title or line is the query, and its
document alone is right. Titles that are English in a translation are left out, as are those that
stand twice. Beside ours stands FTS5 with its default tokenizer, over the same texts.
"""

from __future__ import annotations

import argparse
import gzip
import html
import random
import re
import subprocess
import sys
import tempfile
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING

from commonplace import Memory
from commonplace_evaluation.public import Text
from commonplace_evaluation.rivals import Fts5

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LANGUAGES = ("de", "fr", "es", "it", "pt", "nl", "sv", "nb", "pl", "ru", "ar", "en")
QUERIES = 250
SHORTEST = 200
LONGEST = 4_000
HANDBOOK = "usr/share/doc/debian-handbook/html"
_TITLE = r'(?s)(<h[2-5] class="title">.*?</h[2-5]>|<p class="title">.*?</p>)'
_NUMBERED = re.compile(r"^(\w+ )?[\dA-D]+(\.\d+)+\.?\s*|^[\d.]+\s*")

Titled = tuple[str, str]
"""A title and the text below it."""


def of_html(markup: str) -> str:
    """The text of ``markup``, a line for each block."""
    blocks = re.sub(r"(?i)</(p|div|li|tr|h\d|pre|dt|dd)>", "\n", markup)
    text = html.unescape(re.sub(r"<[^>]+>", "", blocks)).replace("\xa0", " ")
    return re.sub(r"\n\s*\n+", "\n\n", re.sub(r"[ \t]+", " ", text)).strip()


def of_roff(source: str) -> str:
    """The text of a manual page; sections become headings."""
    source = re.sub(r"(?m)^[.']\\\".*$", "", source)
    source = re.sub(r"\\f(\[[^\]]*\]|\(..|.)|\\[,/&^|:]|\\s[-+]?\d|\\\(..|\\\[[^\]]*\]", "", source)
    source = source.replace("\\-", "-").replace("\\ ", " ").replace("\\~", " ")
    lines = []
    for line in source.split("\n"):
        if line.startswith((".SH", ".SS")):
            lines.append("\n## " + line[3:].strip().strip('"') + "\n")
        elif re.match(r"\.(B|I|BR|RB|IR|RI|BI|IB|SM)\b", line):
            lines.append(line[3:].strip().replace('"', ""))
        elif not line.startswith((".", "'")):
            lines.append(line)
    return "\n".join(lines)


def sections(folder: Path) -> Iterator[Titled]:
    """Those of the handbook in one language, and its boxes."""
    seen = set()
    for file in sorted(folder.glob("*.html")):
        markup = re.sub(r'(?s)<ul class="docnav">.*', "", file.read_text(errors="replace"))
        parts = re.split(_TITLE, markup)
        for marked, below in zip(parts[1::2], parts[2::2], strict=True):
            title = re.sub(r'(?s)<span class="emphasis"><em>.*?</em></span>', "", marked)
            titled = _NUMBERED.sub("", " ".join(of_html(title).split())), of_html(below)
            if titled not in seen:
                seen.add(titled)
                yield titled


def pages(folder: Path) -> Iterator[Titled]:
    """The manual pages below ``folder``."""
    for file in sorted(folder.rglob("man*/*.gz")):
        with gzip.open(file, "rt", errors="replace") as opened:
            source = opened.read()
        name = re.search(r"(?ms)^\.SH[^\n]*\n(.*?)^\.SH", source)
        if name is None:
            continue
        line = " ".join(of_roff(name[1]).split())
        if about := re.match(r".*?\s[-–—]{1,2}\s+(.*)", line):
            yield about[1], of_roff(source[name.end() - 3 :]).strip()


def measured(name: str, titled: Sequence[Titled], english: frozenset[str]) -> tuple[str, ...]:
    """A row: the set, its documents and queries, nDCG@10 of ours and of FTS5, recall@10 of both."""
    titles = [title.lower() for title, _ in titled]
    kept = [(title, body[:LONGEST]) for title, body in titled if len(body) >= SHORTEST]
    queries = [
        (title, at)
        for at, (title, _) in enumerate(kept)
        if len(title) >= 6 and titles.count(title.lower()) == 1 and title.lower() not in english
    ]
    random.Random(name).shuffle(queries)
    del queries[QUERIES:]
    with tempfile.TemporaryDirectory() as scratch:
        notes = Path(scratch, "notes", "memory")
        notes.mkdir(parents=True)
        for at, (_, body) in enumerate(kept):
            (notes / f"n{at}.md").write_text(body + "\n", encoding="utf-8")
        env = {"HOME": scratch, "COMMONPLACE_STATE_DIR": f"{scratch}/state"}
        fts5 = Fts5([Text(f"memory/n{at}.md", body) for at, (_, body) in enumerate(kept)])
        ranks: tuple[list[int], list[int]] = [], []
        with Memory.open(workspace=notes.parent, env=env) as memory:
            memory.sync()
            for title, at in queries:
                hits = memory.search(title.replace('"', " "), max_results=20).hits
                found = list(dict.fromkeys(hit.path for hit in hits)), fts5.ranked(title, 10)
                for rank, paths in zip(ranks, found, strict=True):
                    path = f"memory/n{at}.md"
                    rank.append(paths.index(path) + 1 if path in paths[:10] else 0)
    gains = [sum(1 / log2(rank + 1) for rank in some if rank) / len(some) for some in ranks]
    recalls = [sum(map(bool, some)) / len(some) for some in ranks]
    return name, str(len(kept)), str(len(queries)), *(f"{n:.3f}" for n in (*gains, *recalls))


def main() -> int:
    """Unpack, measure, print a table in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packages", nargs="+", type=Path)
    given = parser.parse_args()
    print("| set | documents | queries | nDCG@10 | of FTS5 | recall@10 | of FTS5 |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as root:
        for package in given.packages:
            subprocess.run(["dpkg-deb", "-x", package, root], check=True)
        books = {
            folder.name[:2]: list(sections(folder)) for folder in Path(root, HANDBOOK).glob("*")
        }
        english = frozenset(title.lower() for title, _ in books.get("en", ()))
        for language in LANGUAGES:
            foreign = english if language != "en" else frozenset()
            for kind, titled in (
                ("handbook", books.get(language, [])),
                ("manual", list(pages(Path(root, "usr/share/man", _folder_of(language))))),
            ):
                if titled:
                    print(f"| {' | '.join(measured(f'{kind} {language}', titled, foreign))} |")
                    sys.stdout.flush()
    return 0


def _folder_of(language: str) -> str:
    return "pt_BR" if language == "pt" else language


if __name__ == "__main__":
    sys.exit(main())
