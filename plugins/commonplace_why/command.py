"""The command ``why``: the recalls of a passage, or the ranking of a question and its replays."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace.plugin import (
    CommonplaceError,
    UsageError,
    counted,
    explained,
    messages_of,
    positive_int,
)

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator, Mapping, Sequence

    from commonplace import Hit, Memory
    from commonplace.plugin import Context, TracedRecall
    from commonplace_why.placing import Placing
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
        'commonplace why "which port does staging use?" memory/2026-09-01.md#L3',
        "commonplace why memory/2026-09-01.md --json",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "words",
            metavar="CITATION|QUERY",
            nargs="+",
            help="lines of notes or their paths: which recalls each was part of; other words are "
            "one question: its ranking, and whether asking again gives what agents were given; a "
            "question and then one citation: why the question finds this passage there, or not",
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
        from commonplace_why.replaying import citations_in, question_about

        with context.open_memory() as memory:
            if not memory.settings.recalls.trace:
                context.note(_OFF)
            if citations := citations_in(memory, args.words):
                _passages(memory, citations, args.last, context)
            elif about := question_about(memory, args.words):
                _placing(memory, *about, context)
            else:
                _question(memory, question, args.last, context)
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
    from commonplace_why.placing import typed_words
    from commonplace_why.replaying import ask, replays_of

    result, typed = ask(memory, question), typed_words(question)
    replays = list(replays_of(memory, question, most))
    if context.json:
        context.emit(
            {
                "query": question,
                "logged": memory.settings.recalls.trace,
                "notes": messages_of(result),
                "warnings": list(result.warnings),
                "hits": [_hit_json(hit, typed) for hit in result.hits],
                "replays": [_replay_json(replay) for replay in replays],
            }
        )
        return
    context.notes(messages_of(result))
    for rank, hit in enumerate(result.hits, 1):
        context.line(f"{rank}. {hit.score:.3f} {hit.citation}")
        for line in _why(hit, typed):
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


def _why(hit: Hit, typed: Mapping[str, str]) -> Iterator[str]:
    """The line that matches best, the words, how the score came about, and its parts."""
    from commonplace_why.placing import best_line, parts_by_word, words_in

    if line := best_line(hit):
        yield f"| {line}"
    words = words_in(hit.explain, typed)
    if words.had or words.lacked:
        had = ", ".join(f"{word!r} {amount:.3f}" for word, amount in words.had)
        lacked = ", ".join(map(repr, words.lacked))
        yield "words: " + "; ".join(
            filter(None, (f"has {had}" if had else "", f"lacks {lacked}" if lacked else ""))
        )
    yield from (one for one in explained(hit.explain) if not one.startswith("score: "))
    parts = parts_by_word(hit.explain, typed)
    if len(parts) > 1:
        yield f"score: {hit.score:.4f} = {_sum(parts)}"


def _sum(parts: Sequence[tuple[str, float]]) -> str:
    return " ".join(f"{amount:+.4f} {name}" for name, amount in parts).removeprefix("+")


def _placing(memory: Memory, question: str, citation: str, context: Context) -> None:
    from commonplace_why.placing import compared, placed, typed_words
    from commonplace_why.replaying import ask

    result, typed = ask(memory, question), typed_words(question)
    one = placed(memory, question, citation, result)
    more = compared(one.hit, one.above, typed) if one.hit and one.above else []
    if context.json:
        context.emit(
            {
                "query": question,
                "notes": messages_of(result),
                "warnings": list(result.warnings),
                "citation": citation,
                "state": one.state,
                "rank": one.rank,
                "total": one.total,
                "shown": one.shown,
                "reasons": list(one.reasons),
                "hit": _hit_json(one.hit, typed) if one.hit else None,
                "above": {"rank": one.above_rank, **_hit_json(one.above, typed)}
                if one.above
                else None,
                "difference": [{"name": name, "amount": amount} for name, amount in more],
                "longer": one.longer or None,
            }
        )
        return
    context.notes(messages_of(result))
    for line in _placing_lines(one, more, typed):
        context.line(line)


def _placing_lines(
    one: Placing, more: Sequence[tuple[str, float]], typed: Mapping[str, str]
) -> Iterator[str]:
    """Where the passage is and why, it, and the hit above it."""
    of = counted(one.total, "passage") + " that the question finds"
    if one.hit is None:
        yield f"{one.citation} is not among the {of}"
    elif one.state == "folded":
        yield f"{one.citation} is folded into hit {one.rank} of the {of}"
    else:
        yield f"{one.citation} is hit {one.rank} of the {of}: {one.hit.score:.3f}"
    yield from (f"   {reason}" for reason in one.reasons)
    if one.hit is None:
        return
    yield from (f"   {line}" for line in (one.hit.citation, *_why(one.hit, typed)))
    if one.above is None:
        return
    which = "just above" if one.rank == (one.above_rank or 0) + 1 else "the last that is shown"
    yield f"{one.above_rank}. {one.above.score:.3f} {one.above.citation}, {which}"
    yield from (f"   {line}" for line in _why(one.above, typed))
    if more:
        yield f"   it has {one.above.score - one.hit.score:.4f} more: {_sum(more)}"
        yield from (f"   {line}" for line in filter(None, (one.longer,)))


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


def _hit_json(hit: Hit, typed: Mapping[str, str]) -> dict[str, object]:
    from commonplace_why.placing import best_line, words_in

    words = words_in(hit.explain, typed)
    return {
        "citation": hit.citation,
        "score": hit.score,
        "line": best_line(hit),
        "words": [{"word": word, "amount": amount} for word, amount in words.had],
        "lacks": list(words.lacked),
        "why": list(explained(hit.explain)),
    }


def _replay_json(replay: Replay) -> dict[str, object]:
    return {
        **_recall_json(replay.recall),
        "same": replay.same,
        "reasons": list(replay.reasons),
        "then": [{"citation": hit.citation, "score": hit.score} for hit in replay.recall.hits],
        "now": [{"citation": citation, "score": score} for citation, score in replay.now],
    }
