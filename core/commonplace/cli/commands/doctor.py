"""``commonplace doctor``: find out what is wrong, and how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.cli.checks import Check
    from commonplace.cli.context import Context

__all__ = ["create"]


class DoctorCommand:
    """Checks one thing after the other, each with the way to mend it."""

    name = "doctor"
    summary = "Check installation, configuration, notes and index, and say how to mend them"
    examples = ("commonplace doctor", "commonplace doctor --workspace ~/notes --json")

    def configure(self, parser: ArgumentParser) -> None:
        """Add what it takes."""
        parser.add_argument(
            "--quiet", action="store_true", help="show only what is not as it should be"
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Check everything; 1 is returned if something failed, not for warnings."""
        from commonplace.cli.checks import all_checks

        found = []
        for check in all_checks(context):
            found.append(check)
            if not context.json and (check.state != "ok" or not args.quiet):
                _show(check, context)
        failed = any(check.state == "failed" for check in found)
        if context.json:
            context.emit({"ok": not failed, "checks": found})
        return 1 if failed else 0


def _show(check: Check, context: Context) -> None:
    from commonplace.cli.terminal import pad, printable

    style = context.style
    paint = {"ok": style.good, "warning": style.warning, "failed": style.bad}[check.state]
    message = printable(check.message)
    context.line(f"{paint(pad(check.state, 7))}  {check.name}: {message}")
    if check.mend:
        context.line(f"         mend: {printable(check.mend)}")
    context.out.flush()  # a check may take its time; what was found is seen at once


create = DoctorCommand
