"""``commonplace doctor``: find what is wrong, and fix it on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.errors import CommonplaceError, reason_of

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
        parser.add_argument("--quiet", action="store_true", help="show only warnings and problems")
        parser.add_argument(
            "--fix",
            action="store_true",
            help="fix what can be fixed and report each step; notes are never changed",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="with --fix: only show what would be done"
        )
        parser.add_argument(
            "--drop-unused",
            action="store_true",
            help="with --fix: also delete embeddings that no configured provider uses",
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Check everything; return 1 if there is a problem, not for warnings.

        After fixes, everything is checked again, and that result counts.
        """
        from commonplace.cli.parser import UsageError

        if (args.dry_run or args.drop_unused) and not args.fix:
            option = "--dry-run" if args.dry_run else "--drop-unused"
            raise UsageError(f"{option} needs --fix", hint=f"commonplace doctor --fix {option}")
        fixer = Fixer(dry_run=args.dry_run, drop_unused=args.drop_unused) if args.fix else None
        found = _check(context, fixer, quiet=args.quiet)
        if fixer is not None and fixer.results and not args.dry_run:
            if not context.json:
                context.line("checking again after the fixes:")
            found = _check(context, None, quiet=True)
        problems = any(finding.state == "problem" for finding in found)
        if context.json:
            shown = [finding for finding in found if finding.state != "ok" or not args.quiet]
            report: dict[str, object] = {"ok": not problems, "findings": shown}
            if fixer is not None:
                report["fixes"] = [
                    {"state": state, "name": name, "text": text}
                    for state, name, text in fixer.results
                ]
            context.emit(report)
        elif fixer is not None and not problems:
            context.line("no problems left" if fixer.results else "nothing to fix")
        return 1 if problems else 0


class Fixer:
    """Runs the fix of each finding, each fix once.

    With ``dry_run`` nothing is changed. A fix that runs on request only needs ``drop_unused``.
    ``results`` are (``fixed``, ``would`` or ``failed``, name of the finding, one line).
    """

    def __init__(self, *, dry_run: bool, drop_unused: bool) -> None:
        self._dry_run = dry_run
        self._drop_unused = drop_unused
        self._seen: set[str] = set()
        self.results: list[tuple[str, str, str]] = []

    def fix(self, finding: Finding) -> tuple[str, str, str] | None:
        """Run the fix of ``finding`` and return its result; ``None`` if there is none to run."""
        fix = finding.fix
        if fix is None or fix.run is None or fix.text in self._seen:
            return None
        if fix.on_request and not self._drop_unused:
            return None
        self._seen.add(fix.text)
        result = ("would", finding.name, fix.text)
        if not self._dry_run:
            try:
                result = ("fixed", finding.name, fix.run())
            except (CommonplaceError, OSError) as error:
                reason = reason_of(error) if isinstance(error, CommonplaceError) else str(error)
                result = ("failed", finding.name, reason)
        self.results.append(result)
        return result


def _check(context: Context, fixer: Fixer | None, *, quiet: bool) -> list[Finding]:
    """Every finding; each is shown, and then fixed, as soon as its check ends."""
    from commonplace.cli.checks import all_checks

    found = []
    for finding in all_checks(context):
        found.append(finding)
        if not context.json and (finding.state != "ok" or not quiet):
            _show(finding, context)
        result = fixer.fix(finding) if fixer is not None else None
        if result is not None and not context.json:
            _show_result(result, context)
    return found


def _show(finding: Finding, context: Context) -> None:
    from commonplace.cli.terminal import pad, printable

    state = context.style.state(finding.state)(pad(finding.state, 7))
    context.line(f"{state}  {finding.name}: {printable(finding.text)}")
    # What is well needs nothing done, though --fix may do it.
    if finding.fix is not None and (finding.state != "ok" or finding.fix.on_request):
        context.line(f"         fix: {printable(finding.fix.hint)}")
    context.out.flush()  # a check may take a while: each finding is shown at once


def _show_result(result: tuple[str, str, str], context: Context) -> None:
    from commonplace.cli.terminal import printable

    state, _, text = result
    label = context.style.state(state)(_LABELS[state])
    context.line(f"         {label}{printable(text)}")
    context.out.flush()


create = DoctorCommand
