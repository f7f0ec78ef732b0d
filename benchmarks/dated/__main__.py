"""Questions for times on memories of a year: where the line with the answer stands.

    python benchmarks/dated [--top 10] [--config F] [lead translator]

Each memory (``notes.txt``) and its questions (``questions.txt``) were written by hand by someone
who did not know the code: daily logs and other notes in English with some German, Spanish, French
and Chinese, and questions that are all asked on one day. A question is answered if a hit's lines
hold one of the lines that answer it. Questions of the kind ``none`` ask for what the notes do not
say of a time: their best scores are printed. ``lead`` has been looked at while the code was
written, ``translator`` was made afterwards. The clock stands still: "yesterday" is always the same
day. Returns 0.
"""

from __future__ import annotations

import argparse
import calendar
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from commonplace import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
SETS = ("lead", "translator")
NOW = calendar.timegm((2026, 11, 27, 12, 0, 0))
DEPTHS = (1, 3, 6)


class Question(NamedTuple):
    """``answers`` are (path, line): any of them answers it, and there may be none."""

    kind: str
    text: str
    answers: frozenset[tuple[str, int]]


def write_notes(name: str, folder: Path) -> None:
    """The memory ``name``, as files below ``folder``."""
    for part in (HERE / name / "notes.txt").read_text(encoding="utf-8").split("=== ")[1:]:
        path, _, text = part.partition("\n")
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text.rstrip() + "\n", encoding="utf-8")


def questions(name: str, folder: Path) -> Iterator[Question]:
    """The questions; raises ``ValueError`` where a line that answers one is not in the notes."""
    for line in (HERE / name / "questions.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        kind, text, answers, _ = line.split("|")
        places = frozenset(_place(folder, one) for one in filter(None, answers.split(";;")))
        yield Question(kind, text, places)


def _place(folder: Path, answer: str) -> tuple[str, int]:
    path, _, said = answer.partition("~")
    for number, line in enumerate((folder / path).read_text(encoding="utf-8").splitlines(), 1):
        if said in line:
            return path, number
    raise ValueError(f"{path} has no line with {said!r}")


def rank_of(question: Question, memory: Memory, top: int) -> tuple[int, float]:
    """At which place (from 1; 0: at none) a hit answers it, and the best score."""
    hits = memory.search(question.text, max_results=top).hits
    for place, hit in enumerate(hits, 1):
        shown = range(hit.start_line, hit.end_line + 1)
        if any(path == hit.path and line in shown for path, line in question.answers):
            return place, hits[0].score
    return 0, hits[0].score if hits else 0.0


def measured(name: str, config: str | None, top: int) -> dict[str, list[tuple[int, float]]]:
    """By kind of question, where each is answered and the best score."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "notes")
        write_notes(name, folder)
        env = {f"COMMONPLACE_{one}_DIR": f"{scratch}/{one}" for one in ("STATE", "CACHE")}
        env |= {"HOME": scratch, "TZ": "UTC"}
        found: dict[str, list[tuple[int, float]]] = {}
        with Memory.open(
            workspace=folder, config=config, env=env, clock=lambda: float(NOW)
        ) as memory:
            memory.sync()
            for question in questions(name, folder):
                found.setdefault(question.kind, []).append(rank_of(question, memory, top))
    return found


def main() -> None:
    """Print a table of each memory by kind of question."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sets", nargs="*", default=SETS, help="memories, if not all")
    parser.add_argument("--top", type=int, default=10, help="hits that are asked for")
    parser.add_argument("--config", help="a configuration file instead of the defaults")
    args = parser.parse_args()
    for name in args.sets:
        found = measured(name, args.config, args.top)
        none = " ".join(f"{score:.2f}" for _, score in found.pop("none"))
        every = [one for some in found.values() for one in some]
        print(f"| {name} | questions | first | among 3 | among 6 |\n|---|---|---|---|---|")
        for kind, ranks in [*found.items(), ("all", every)]:
            shares = [sum(0 < rank <= depth for rank, _ in ranks) / len(ranks) for depth in DEPTHS]
            cells = " | ".join(f"{share:.0%}" for share in shares)
            print(f"| {kind} | {len(ranks)} | {cells} |")
        print(f"\nBest scores where the notes have no answer: {none}\n")


if __name__ == "__main__":
    main()
