"""``commonplace doctor``: find what is wrong, and fix it on request."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from commonplace.cli.context import UsageError
from commonplace.cli.parser import flag
from commonplace.cli.streams import printable
from commonplace.cli.terminal import cells, pad, wrap
from commonplace.errors import CommonplaceError, counted, reason_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.cli.context import Context
    from commonplace.model.documents import Finding


_LABELS = {"fixed": "fixed: ", "would": "would ", "failed": "could not be fixed: "}


class DoctorCommand:
    """Runs every check and shows each finding with its fix."""

    name = "doctor"
    summary = "Check the installation, configuration, notes and index, and fix problems"
    examples = (
        "commonplace doctor",
        "commonplace doctor --fix --dry-run",
        "commonplace doctor --workspace ~/notes --json",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        flag(parser, "--verbose", "show every check that passed, too")
        flag(parser, "--quiet", "show only warnings and problems")
        flag(parser, "--fix", "fix what can be fixed and report each step; notes are never changed")
        flag(parser, "--dry-run", "with --fix: only show what would be done")
        about = "with --fix: also delete embeddings that no configured provider uses"
        flag(parser, "--drop-unused", about)

    def run(self, args: Namespace, context: Context) -> int:
        """Check everything; return 1 if there is a problem, not for warnings.

        After fixes, everything is checked again, and that result counts.
        """
        if (args.dry_run or args.drop_unused) and not args.fix:
            option = "--dry-run" if args.dry_run else "--drop-unused"
            raise UsageError(f"{option} needs --fix", hint=f"commonplace doctor --fix {option}")
        fixer = Fixer(dry_run=args.dry_run, drop_unused=args.drop_unused) if args.fix else None
        detail = "verbose" if args.verbose else "quiet" if args.quiet else "normal"
        found = _check(context, fixer, detail)
        if fixer is not None and fixer.results and not args.dry_run:
            if not context.json:
                context.line("checking again after the fixes:")
            found = _check(context, None, "quiet")
        problems = any(finding.state == "problem" for finding in found)
        if context.json:
            shown = [finding for finding in found if finding.state != "ok" or not args.quiet]
            report: dict[str, object] = {"ok": not problems, "findings": shown}
            if fixer is not None:
                report["fixes"] = fixer.results
            context.emit(report)
        elif fixer is not None and not problems:
            context.line("no problems left" if fixer.results else "nothing to fix")
        return 1 if problems else 0


class Fixed(NamedTuple):
    """What became of a fix: ``fixed``, ``would`` or ``failed``; the finding; one line."""

    state: str
    name: str
    text: str


class Fixer:
    """Runs the fix of each finding, each fix once.

    With ``dry_run`` nothing is changed. A fix that runs on request only needs ``drop_unused``.
    """

    def __init__(self, *, dry_run: bool, drop_unused: bool) -> None:
        self._dry_run = dry_run
        self._drop_unused = drop_unused
        self._seen: set[str] = set()
        self.results: list[Fixed] = []

    def fix(self, finding: Finding) -> Fixed | None:
        """Run the fix of ``finding`` and return its result; ``None`` if there is none to run."""
        fix = finding.fix
        if fix is None or fix.run is None or fix.text in self._seen:
            return None
        if fix.on_request and not self._drop_unused:
            return None
        self._seen.add(fix.text)
        result = Fixed("would", finding.name, fix.text)
        if not self._dry_run:
            try:
                result = Fixed("fixed", finding.name, fix.run())
            except (CommonplaceError, OSError) as error:
                reason = reason_of(error) if isinstance(error, CommonplaceError) else str(error)
                result = Fixed("failed", finding.name, reason)
        self.results.append(result)
        return result


_ORDER = ("problem", "warning", "ok")

_Checked = tuple["Finding", Fixed | None]


def _check(context: Context, fixer: Fixer | None, detail: str) -> list[Finding]:
    """Every finding, the worst first; each is fixed as soon as its check ends, and then shown."""
    from commonplace.cli.checks import all_checks

    found: list[_Checked] = []
    try:
        with context.progress() as progress:
            progress.show("Checking")
            for finding in all_checks(context):
                found.append((finding, None))
                result = fixer.fix(finding) if fixer is not None else None
                found[-1] = (finding, result)
    finally:  # also what was found until Ctrl-C
        found.sort(key=lambda one: _ORDER.index(one[0].state))
        if not context.json:
            _show_all(found, context, detail)
    return [finding for finding, _ in found]


def _show_all(found: list[_Checked], context: Context, detail: str) -> None:
    for finding, result in found:
        if finding.state != "ok" or detail == "verbose" or result is not None:
            _show(finding, context)
        if result is not None:
            label = _LABELS[result.state]
            paint = context.style.state(result.state)
            _show_wrapped(context, " " * _INDENT + paint(label), result.text, cells(label))
    if detail != "quiet":
        context.line(_summary([finding for finding, _ in found], context))


def _summary(found: list[Finding], context: Context) -> str:
    """``1 problem, 2 warnings, 24 checks passed``."""
    numbers = {state: sum(one.state == state for one in found) for state in _ORDER}
    passed = f"{counted(numbers.pop('ok'), 'check')} passed"
    parts = [context.style.state(s)(counted(number, s)) for s, number in numbers.items() if number]
    return ", ".join([*parts, context.style.good(passed)])


def _show(finding: Finding, context: Context) -> None:
    state = context.style.state(finding.state)(pad(finding.state, 7)) + "  "
    _show_wrapped(context, state, f"{finding.name}: {finding.text}")
    if finding.fix is not None:
        label = "fix: "
        _show_wrapped(context, " " * _INDENT + label, finding.fix.hint, len(label))


_INDENT = 9


def _show_wrapped(context: Context, head: str, text: str, label: int = 0) -> None:
    """``text`` behind ``head``, on a terminal wrapped to its width at the indentation.

    ``label`` is how many cells of the first line ``head`` takes beyond that.
    """
    text = printable(context.suggesting(text))
    if not context.pretty:
        context.line(head + text)
        return
    blank = "\u00a0" * label
    room = max(20, context.style.width - _INDENT)
    first, *others = [(blank + text)[start:end] for start, end in wrap(blank + text, room)]
    context.line(head + first[label:])
    context.lines(" " * _INDENT + line for line in others)
