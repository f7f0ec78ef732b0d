"""Findings of a close look, as the command line shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace.cli.terminal import Style
    from commonplace.model.findings import Finding

__all__ = ["findings_json", "findings_lines"]


def findings_json(findings: Sequence[Finding]) -> list[dict[str, str]]:
    """Each with what would fix it (``""``: nothing need be done)."""
    return [
        {
            "name": finding.name,
            "value": finding.value,
            "state": finding.state,
            "hint": finding.remedy.says if finding.remedy else "",
        }
        for finding in findings
    ]


def findings_lines(findings: Sequence[Finding], style: Style) -> Iterator[str]:
    """A line for each, and one below it on what mends it."""
    from commonplace.cli.terminal import pad, printable

    paint = {"ok": style.good, "warning": style.warning, "problem": style.bad}
    width = max((len(finding.name) for finding in findings), default=0)
    for finding in findings:
        state = paint[finding.state](pad(finding.state, 7))
        yield f"  {state}  {finding.name:<{width}}  {printable(finding.value)}"
        if finding.remedy is not None:
            command = "--fix --drop-unused" if finding.remedy.asked else "--fix"
            indent = " " * (width + 13)
            yield f"{indent}`commonplace doctor {command}`: {printable(finding.remedy.says)}"
