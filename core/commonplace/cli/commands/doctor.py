"""``commonplace doctor``: find out what is wrong, and how to fix it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.cli.checks import Check
    from commonplace.cli.context import Context
    from commonplace.cli.mending import Mended, Mender

__all__ = ["create"]


class DoctorCommand:
    """Checks one thing after the other, each with the way to fix it."""

    name = "doctor"
    summary = "Check installation, configuration, notes and index, and say how to fix them"
    examples = (
        "commonplace doctor",
        "commonplace doctor --fix --dry-run",
        "commonplace doctor --workspace ~/notes --json",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add what it takes."""
        parser.add_argument(
            "--quiet", action="store_true", help="show only what is not as it should be"
        )
        parser.add_argument(
            "--fix",
            action="store_true",
            help="fix what can be fixed, saying what is done; notes are never touched",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="with --fix: only say what would be done"
        )
        parser.add_argument(
            "--drop-unused",
            action="store_true",
            help="with --fix: also drop embeddings that no provider of today uses",
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Check everything; 1 is returned if something failed, not for warnings.

        After mending, all is checked again, and that counts.
        """
        from commonplace.cli.mending import Mender
        from commonplace.cli.parser import UsageError

        if (args.dry_run or args.drop_unused) and not args.fix:
            option = "--dry-run" if args.dry_run else "--drop-unused"
            raise UsageError(
                f"{option} is of use with --fix alone", hint="commonplace doctor --fix"
            )
        mender = Mender(dry=args.dry_run, unused=args.drop_unused) if args.fix else None
        found = _checked(context, mender, quiet=args.quiet)
        if mender is not None and mender.changed:
            if not context.json:
                context.line("checked again after mending:")
            found = _checked(context, None, quiet=True)
        failed = any(check.state == "failed" for check in found)
        if context.json:
            shown = [check for check in found if check.state != "ok" or not args.quiet]
            report: dict[str, object] = {"ok": not failed, "checks": list(map(_plain, shown))}
            if mender is not None:
                report["mended"] = mender.mended
            context.emit(report)
        elif mender is not None and not failed:
            context.line("nothing is broken" if mender.mended else "there was nothing to fix")
        return 1 if failed else 0


def _checked(context: Context, mender: Mender | None, *, quiet: bool) -> list[Check]:
    """Every check; each is shown, and then mended, as soon as it is made."""
    from commonplace.cli.checks import all_checks

    found = []
    for check in all_checks(context):
        found.append(check)
        if not context.json and (check.state != "ok" or not quiet):
            _show(check, context)
        done = mender.mend(check) if mender is not None else None
        if done is not None and not context.json:
            _tell(done, context)
    return found


def _plain(check: Check) -> dict[str, str]:
    return {
        "name": check.name,
        "state": check.state,
        "message": check.message,
        "hint": check.hint,
    }


def _show(check: Check, context: Context) -> None:
    from commonplace.cli.terminal import pad, printable

    style = context.style
    paint = {"ok": style.good, "warning": style.warning, "failed": style.bad}[check.state]
    message = printable(check.message)
    context.line(f"{paint(pad(check.state, 7))}  {check.name}: {message}")
    if check.hint:
        context.line(f"         fix: {printable(check.hint)}")
    context.out.flush()  # a check may take its time; what was found is seen at once


def _tell(done: Mended, context: Context) -> None:
    from commonplace.cli.terminal import printable

    style = context.style
    said = {
        "fixed": style.good("fixed: "),
        "would": style.warning("would "),
        "failed": style.bad("could not be mended: "),
    }[done.state]
    context.line(f"         {said}{printable(done.message)}")
    context.out.flush()


create = DoctorCommand
