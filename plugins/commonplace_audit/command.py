"""The command ``audit``: show the findings, each with its proposal; nothing is ever changed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, get_args

from commonplace.plugin import UsageError, counted, positive_int
from commonplace_audit.findings import KINDS, Kind
from commonplace_audit.staleness import LARGEST

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.plugin import Context
    from commonplace_audit.auditing import Audit
    from commonplace_audit.findings import AuditFinding


_SHOWN = 40  # lines of a diff: that which deletes a note has all of it


class AuditCommand:
    """Audits the notes of one workspace."""

    name = "audit"
    summary = "Find what is wrong in the notes, and propose changes as diffs"
    examples = (
        "commonplace audit",
        "commonplace audit --only contradiction,stale",
        "commonplace audit --check --json",
        "commonplace audit --only broken-link --diff > links.patch",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "--only",
            metavar="KIND,...",
            help=f"look for these kinds of findings alone: {', '.join(KINDS)}",
        )
        parser.add_argument(
            "--check", action="store_true", help="exit with 1 if there is a finding, for scripts"
        )
        parser.add_argument(
            "--diff",
            action="store_true",
            help="print the proposed diffs alone, one a file, for patch -p0 in the workspace",
        )
        parser.add_argument(
            "--largest",
            metavar="N",
            type=positive_int,
            default=LARGEST,
            help=f"characters of a note that is not oversized (default: {LARGEST:,})",
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Audit, and show the findings."""
        from commonplace_audit.auditing import audit

        if args.diff and context.json:
            raise UsageError("--diff and --json exclude each other", hint="--json has the diffs")
        kinds = _kinds(args.only)
        with context.open_memory() as memory, context.progress() as progress:
            found = audit(memory, kinds=kinds, largest=args.largest, progress=progress)
        if context.json:
            context.emit(_as_json(found))
        elif args.diff:
            context.out.write(found.patch)
            if found.left_out:
                left_out = counted(found.left_out, "diff")
                context.note(
                    f"{left_out} left out, as another one changes the same text: apply these, then "
                    "run the audit again"
                )
        else:
            _show(found, context)
        return 1 if args.check and found.findings else 0


def _kinds(only: str | None) -> tuple[Kind, ...]:
    if only is None:
        return KINDS
    names = [name.strip() for name in only.split(",")]
    for name in names:
        if name not in get_args(Kind):
            raise UsageError(f"--only {name}: no such kind", hint=f"there is {', '.join(KINDS)}")
    return tuple(kind for kind in KINDS if kind in names)


def _show(found: Audit, context: Context) -> None:
    for finding in found.findings:
        context.line(f"{finding.severity} {finding.kind} {finding.citation}")
        context.line(f"  {finding.text}")
        if finding.hint:
            context.line(f"  hint: {context.suggesting(finding.hint)}")
        lines = finding.diff.splitlines()
        for line in lines[:_SHOWN]:
            context.line(f"    {line}")
        if len(lines) > _SHOWN:
            context.line(f"    … {counted(len(lines) - _SHOWN, 'more line')}: --diff prints all")
    _show_left_out(found, context)
    if not found.findings:
        context.line(f"nothing found in {counted(found.notes, 'note')}")
        if not found.notes:
            context.note("there are no notes: commonplace status says where they are looked for")
        return
    kinds = Counter(finding.kind for finding in found.findings)
    parts = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind])
    total = counted(len(found.findings), "finding")
    context.line(f"{total} in {counted(found.notes, 'note')}: {parts}. Nothing was changed.")
    if any(finding.diff for finding in found.findings):
        context.note(
            "to apply diffs: commonplace audit --diff --only KIND > x.patch, review it, then "
            "patch -p0 < x.patch in the workspace"
        )


def _show_left_out(found: Audit, context: Context) -> None:
    for path, reason in found.unreadable:
        context.note(f"{path} is not audited: {reason}")
    if found.others:
        context.note(
            f"{counted(found.others, 'note')} of extra paths not audited, as others may have "
            'written them; extraPaths: ["."] makes all notes of the workspace your own'
        )
    if found.silenced:
        context.note(f"{counted(found.silenced, 'finding')} silenced by <!-- audit: ignore -->")


def _as_json(found: Audit) -> dict[str, object]:
    return {
        "findings": [_finding_json(finding) for finding in found.findings],
        "notes": found.notes,
        "others": found.others,
        "silenced": found.silenced,
        "unreadable": [{"path": path, "reason": reason} for path, reason in found.unreadable],
    }


def _finding_json(finding: AuditFinding) -> dict[str, object]:
    return {
        "kind": finding.kind,
        "severity": finding.severity,
        "citation": finding.citation,
        "text": finding.text,
        "hint": finding.hint,
        "others": list(finding.others),
        "diff": finding.diff,
    }
