"""The command ``why``: the recalls of a passage, or the ranking of a question and its replays."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace.plugin import (
    CommonplaceError,
    UnavailableError,
    UsageError,
    counted,
    explained,
    messages_of,
    positive_int,
)

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace import Memory, SearchResult
    from commonplace.plugin import Context, TracedRecall
    from commonplace_why.replaying import Recalled, Replay

_OFF = (
    "recalls of agents are not logged; to log them (without text), set memory.recalls.trace: "
    "commonplace config set memory.recalls.trace true"
)


class WhyCommand:
    """Explains recalls."""

    name = "why"
    summary = "Show when agents recalled a passage, or why a question finds what"
    examples = (
        "commonplace why MEMORY.md#L3",
        'commonplace why "which port does staging use?"',
        "commonplace why memory/2026-09-01.md --json",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "words",
            metavar="CITATION|QUERY",
            nargs="+",
            help="lines of notes or their paths: which recalls each was part of; other words are "
            "one question: its ranking, and whether asking again gives what agents were given",
        )
        parser.add_argument(
            "--last",
            metavar="N",
            type=positive_int,
            default=5,
            help="show so many of the newest recalls (default: 5)",
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Explain."""
        question = " ".join(args.words).strip()
        if not question:
            raise UsageError("nothing to explain", hint=self.examples[0])
        from commonplace_why.replaying import citations_in

        with context.open_memory() as memory:
            if not memory.settings.recalls.trace:
                context.note(_OFF)
            try:
                if citations := citations_in(memory, args.words):
                    _passages(memory, citations, args.last, context)
                else:
                    _question(memory, question, args.last, context)
            except BrokenPipeError:  # of what is written: a pager was closed
                raise
            except OSError as error:
                raise UnavailableError(
                    f"the log of recalls cannot be read: {error.strerror or error}",
                    hint="see that this user may read the folder recalls in the state folder",
                ) from error
        return 0


def _passages(memory: Memory, citations: list[str], most: int, context: Context) -> None:
    from commonplace_why.replaying import recalls_of

    found = {citation: list(recalls_of(memory, citation)) for citation in citations}
    for citation in found:
        with suppress(CommonplaceError):  # it may be in the log alone
            note = memory.get(citation)
            if note.start_line > max(1, note.total_lines):
                context.note(f"{note.path} has {counted(note.total_lines, 'line')}")
    if context.json:
        logged = memory.settings.recalls.trace
        passages = [
            {
                "citation": citation,
                "logged": logged,
                "total": len(recalls),
                "recalls": [_recalled_json(one) for one in recalls[:most]],
            }
            for citation, recalls in found.items()
        ]
        context.emit(passages[0] if len(passages) == 1 else {"passages": passages})
        return
    for citation, recalls in found.items():
        context.line(f"{citation} was part of {counted(len(recalls), 'logged recall')}")
        _show_recalls(recalls[:most], context)


def _show_recalls(recalls: list[Recalled], context: Context) -> None:
    for one in recalls:
        state = "unchanged since" if one.same else "changed since"
        context.line(
            f"{_head(one.recall)}: rank {one.rank} of {len(one.recall.hits)}, {one.score:.3f}, "
            f"{one.citation} ({state})"
        )


def _question(memory: Memory, question: str, most: int, context: Context) -> None:
    from commonplace_why.replaying import ask, replays_of

    result = ask(memory, question)
    replays = list(replays_of(memory, question, most))
    if context.json:
        context.emit(
            {
                "query": question,
                "logged": memory.settings.recalls.trace,
                "notes": messages_of(result),
                "warnings": list(result.warnings),
                "hits": _hits_json(result),
                "replays": [_replay_json(replay) for replay in replays],
            }
        )
        return
    context.notes(messages_of(result))
    for rank, hit in enumerate(result.hits, 1):
        context.line(f"{rank}. {hit.score:.3f} {hit.citation}")
        for line in explained(hit.explain):
            context.line(f"   {line}")
    if not result.hits:
        context.line("no matches")
    for replay in replays:
        verdict = "the same ranking now" if replay.same else "another ranking now"
        context.line(
            f"{_head(replay.recall)}: {counted(len(replay.recall.hits), 'hit')}, {verdict}"
        )
        for reason in replay.reasons if not replay.same else ():
            context.line(f"   {reason}")
        if not replay.same:
            for rank, hit_then in enumerate(replay.recall.hits, 1):
                context.line(f"   then {rank}. {hit_then.score:.3f} {hit_then.citation}")
    if not replays:
        context.line("no recall by this question is logged")


def _head(recall: TracedRecall) -> str:
    shown = recall.asked.query or f"question {recall.question}"
    return f"{_time(recall.at)} {recall.agent}, {shown}"


def _time(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def _recall_json(recall: TracedRecall) -> dict[str, object]:
    return {
        "at": recall.at,
        "agent": recall.agent,
        "question": recall.question,
        "text": recall.asked.query or None,
        "notes": recall.notes,
        "settings": recall.settings,
        "engine": recall.engine,
    }


def _recalled_json(one: Recalled) -> dict[str, object]:
    return {
        **_recall_json(one.recall),
        "rank": one.rank,
        "citation": one.citation,
        "score": one.score,
        "unchanged": one.same,
    }


def _hits_json(result: SearchResult) -> list[dict[str, object]]:
    return [
        {
            "citation": hit.citation,
            "score": hit.score,
            "why": list(explained(hit.explain)),
        }
        for hit in result.hits
    ]


def _replay_json(replay: Replay) -> dict[str, object]:
    return {
        **_recall_json(replay.recall),
        "same": replay.same,
        "reasons": list(replay.reasons),
        "then": [{"citation": hit.citation, "score": hit.score} for hit in replay.recall.hits],
        "now": [{"citation": citation, "score": score} for citation, score in replay.now],
    }
