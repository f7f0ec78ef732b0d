"""Private keys are cited from BEGIN to END, and what a deletion left of one is found."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

import pytest

from commonplace.cli import main
from commonplace_audit.private_keys import private_keys

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace_audit.auditing import Audit

# Made of parts, so that no scanner of repositories takes it for a key.
BEGIN, END = (f"-----{word} RSA PRIVATE " + "KEY-----" for word in ("BEGIN", "END"))
BASE64 = base64.b64encode(b"".join(hashlib.sha256(bytes([n])).digest() for n in range(6))).decode()
BODY = [BASE64[at : at + 64] for at in range(0, 192, 64)] + ["Q2x3Zm9v=="]


def spans(*lines: str) -> list[tuple[int, int, bool]]:
    return [(one.first, one.last, one.sure) for one in private_keys(lines)]


def test_the_hinted_command_deletes_the_whole_key(
    audited: Callable[..., Audit],
    workspace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COMMONPLACE_WORKSPACE", str(workspace))
    monkeypatch.setenv("COMMONPLACE_STATE_DIR", str(tmp_path / "state"))
    text = "\n".join(
        ["# Keys", "", "The bridge:", "", "```", BEGIN, *BODY, END, "```", "", "More."]
    )
    (finding,) = audited({"memory/keys.md": text}, "secret").findings
    assert (finding.citation, finding.severity) == ("memory/keys.md#L6-L11", "problem")
    assert "the journal in the state folder keeps what is forgotten" in finding.hint
    assert main(finding.hint.partition(": commonplace ")[2].split()) == 0
    left = (workspace / "memory/keys.md").read_text()
    assert not any(line in left for line in (BEGIN, *BODY, END))
    assert left.endswith("More.")
    assert audited({}, "secret").findings == ()


def test_what_a_deletion_left_of_a_key_is_found() -> None:
    assert spans("Text", *BODY, END, "More") == [(2, 6, True)]
    assert spans("Text", END) == [(2, 2, True)]
    assert spans("Text", "", *BODY, "", "More") == [(3, 6, False)]


def test_a_key_reaches_to_its_end_or_to_that_of_its_block() -> None:
    head = "Proc-Type: 4,ENCRYPTED"
    assert spans(BEGIN, head, "", *BODY, END, "More") == [(1, 8, True)]
    assert spans(BEGIN, *BODY, "", "A word", "More of the same text") == [(1, 5, True)]
    assert spans(f"> {BEGIN}", *(f"> {line}" for line in BODY), f"> {END}") == [(1, 6, True)]
    assert spans(f'"{BEGIN}\\n" +', *(f'"{line}\\n" +' for line in BODY), f'"{END}"') == [
        (1, 6, True)
    ]
    assert spans(f"{BEGIN} {BODY[0]} {END}", "More") == [(1, 1, True)]
    assert spans(BEGIN, *BODY, BEGIN, *BODY, END) == [(1, 5, True), (6, 11, True)]


@pytest.mark.parametrize(
    "lines",
    [
        [f"It begins with {BEGIN} and so on.", "", "Prose follows it here.", "", f"{END} ends it."],
        [BEGIN, "...", END],
        [BEGIN, "…redacted…", END],
        ["-----BEGIN CERTIFICATE-----", *BODY, "-----END CERTIFICATE-----"],
        [hashlib.sha256(bytes([n])).hexdigest() for n in range(5)],
        ["one", "two", "three"],
    ],
    ids=str,
)
def test_what_only_mentions_a_key_is_none(lines: list[str], audited: Callable[..., Audit]) -> None:
    assert audited({"a.md": "\n".join(lines)}, "secret").findings == ()


def test_no_finding_shows_a_line_of_a_key(audited: Callable[..., Audit]) -> None:
    text = "\n".join([f"[[{BODY[0]}]]", BEGIN, *BODY, END, "[a](plan.md)", ""])
    found = audited({"a.md": text, "plans.md": "Text.\n"})
    assert {one.kind for one in found.findings} >= {"broken-link", "secret"}
    assert not any(line in repr(found) for line in BODY[1:])
