"""The command ``dream``: show the proposal line by line, and apply it or a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import CallerError, UsageError, counted, positive_int
from commonplace_dream.gates import USUAL, Gates
from commonplace_dream.proposal import apply, diff_of, digest_of, dream

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.plugin import Context
    from commonplace_dream.gates import Step
    from commonplace_dream.proposal import Dream

_OFF = (
    "no recall by an agent is recorded yet; to record them (as digests, without text), set "
    "memory.recalls.enabled: commonplace config set memory.recalls.enabled true"
)
_FULL = (
    "the log of recalls has reached its size limit: what agents recall now is not counted; to "
    "begin it again, delete the workspace's file in the folder recalls of your state folder"
)
_SHOWN = 20  # lines that are perhaps stale; --json has all


class DreamCommand:
    """Shows the proposal, and applies it where that is asked for."""

    name = "dream"
    summary = "Propose lines of daily logs to keep in MEMORY.md; written only if you say so"
    examples = (
        "commonplace dream",
        "commonplace dream --apply",
        "commonplace dream --apply --if 3f9c01d2ab",
        "commonplace dream --only 1,3 --apply",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "--apply", action="store_true", help="write the proposal to MEMORY.md, as one change"
        )
        parser.add_argument(
            "--if",
            dest="reviewed",
            metavar="DIGEST",
            help="with --apply: refuse unless this is the digest of the proposal, as it was shown",
        )
        parser.add_argument(
            "--only", metavar="N,M", help="of the proposal, take these steps alone (1 is the first)"
        )
        parser.add_argument(
            "--budget",
            metavar="N",
            type=positive_int,
            default=2000,
            help="most characters to add (default: 2000)",
        )
        for gate, least in (
            ("recalls", "recalls of a line"),
            ("days", "days on which it was recalled"),
            ("questions", "different questions that recalled it"),
        ):
            usual = getattr(USUAL, gate)
            parser.add_argument(
                f"--{gate}",
                metavar="N",
                type=positive_int,
                default=usual,
                help=f"least {least} (default: {usual})",
            )

    def run(self, args: Namespace, context: Context) -> int:
        """Propose, show, and apply what was asked for."""
        if args.reviewed is not None and not args.apply:
            raise UsageError("--if is for --apply", hint="give both, or neither")
        gates = Gates(args.recalls, args.days, args.questions)
        with context.open_memory() as memory:
            found = dream(memory, gates=gates, budget=args.budget)
            diff = diff_of(memory, found) if found.steps else []
            digest = digest_of(found, diff)
            if args.reviewed not in (None, digest):
                raise CallerError(
                    "the proposal has changed since it was reviewed; nothing is written",
                    hint="see it again with the same options: commonplace dream",
                )
            if args.only is not None:
                found = found._replace(steps=_chosen(found.steps, args.only))
                diff = diff_of(memory, found) if found.steps else []
            receipt = apply(memory, found.path, found.steps) if args.apply and found.steps else None
        if context.json:
            context.emit(
                {
                    "path": found.path,
                    "steps": [_as_json(step) for step in found.steps],
                    "stale": [line.citation for line in found.stale],
                    "diff": "\n".join(diff),
                    "digest": digest,
                    "logFull": found.full,
                    "receipt": None if receipt is None else receipt.id,
                }
            )
            return 0
        if not found.recorded:
            context.note(_OFF)
        if found.full:
            context.note(_FULL)
        _show(found, diff, context)
        if receipt is not None:
            undo = context.suggesting(f"commonplace undo {receipt.id}")
            context.line(f"{found.path} is changed; to undo: {undo}")
        elif found.steps:
            write = context.suggesting(f"commonplace dream --apply --if {digest}")
            context.line(
                f"Nothing is written yet. To write it as shown, with the same options: {write}"
            )
        return 0


def _chosen(steps: tuple[Step, ...], only: str) -> tuple[Step, ...]:
    try:
        numbers = [int(part) for part in only.split(",")]
    except ValueError:
        raise UsageError(f"--only {only}: no numbers of steps", hint="--only 1,3") from None
    wrong = [number for number in numbers if not 1 <= number <= len(steps)]
    if wrong:
        raise UsageError(
            f"--only {only}: the proposal has {counted(len(steps), 'step')}",
            hint="commonplace dream shows them with their numbers",
        )
    return tuple(steps[number - 1] for number in sorted(set(numbers)))


def _show(found: Dream, diff: list[str], context: Context) -> None:
    if not found.steps:
        context.line("nothing is proposed")
    for number, step in enumerate(found.steps, 1):
        recalled = step.recalled
        days, questions = len(recalled.days), len(recalled.questions)
        context.line(
            f"{number}. {step.source.citation}: recalled {counted(recalled.times, 'time')} on "
            f"{counted(days, 'day')} by {counted(questions, 'question')}"
        )
    for line in diff:
        context.line(line)
    if found.stale:
        context.line("")
        context.line(f"{counted(len(found.stale), 'line')} of {found.path} no question recalled:")
        for kept in found.stale[:_SHOWN]:
            context.line(f"  {kept.citation}  {kept.text}")


def _as_json(step: Step) -> dict[str, object]:
    return {
        "text": step.text,
        "source": step.source.citation,
        "replaces": None if step.replaces is None else step.replaces.citation,
        "recalls": step.recalled.times,
        "days": len(step.recalled.days),
        "questions": len(step.recalled.questions),
    }
