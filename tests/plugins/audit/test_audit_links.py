"""What the audit offers for a wiki link whose target has a folder."""

from __future__ import annotations

import re
from difflib import SequenceMatcher, get_close_matches
from itertools import product
from random import Random
from typing import TYPE_CHECKING

import pytest

from commonplace_audit.names import Names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from commonplace_audit.auditing import Audit

NOTES = {
    "memory/projects/ingest.md": "# One\n",
    "memory/projects/omega.md": "# Two\n",
    "memory/people/ingest.md": "# Three\n",
    "memory/people/mia.md": "# Four\n",
}


@pytest.mark.parametrize(
    ("link", "meant"),
    [
        ("[[memory/projects/ingets]]", "[[memory/projects/ingest]]"),
        ("[[projects/ingets.md|it]]", "[[memory/projects/ingest.md|it]]"),
        ("[[/people/Ingets#a]]", "[[memory/people/ingest#a]]"),
        ("[[memory/projects/mia]]", "[[memory/people/mia]]"),
        ("[[memory/projects/alpha]]", ""),  # near by its folders alone
        ("[[memory/other/ingets]]", ""),  # there are two
    ],
)
def test_a_wiki_link_with_a_folder_is_compared_with_the_names_of_files(
    audited: Callable[..., Audit], link: str, meant: str
) -> None:
    found = audited(NOTES | {"MEMORY.md": f"# A\n\nSee {link}.\n"}, "broken-link").findings
    assert len(found) == 1
    assert (f"+See {meant}.\n" in found[0].diff) == bool(meant)
    assert found[0].hint.startswith("perhaps" if meant else "correct")


def test_a_link_out_of_the_workspace_is_looked_up_and_named_as_information(
    audited: Callable[..., Audit], workspace: Path
) -> None:
    workspace.mkdir()
    (workspace.parent / "beside.md").write_text("# Beside\n")
    text = "See [a](../beside.md), [b](../haus/x.md).\n"
    (finding,) = audited({"MEMORY.md": text}, "broken-link").findings
    assert (finding.severity, finding.citation) == ("info", "MEMORY.md#L1")
    assert "'../haus/x.md', outside the workspace" in finding.text


@pytest.mark.parametrize(
    ("path", "link", "others", "meant"),
    [
        ("server-3.md", "[a](server-2.md)", (), ""),  # not the note itself
        ("x/plan.md", "[a](../y/plan.md)", (), ""),
        ("plans.md", "[[plan-s]]", (), ""),
        ("a.md", "[a](report-2025.md)", ("report-2026.md",), ""),
        ("a.md", "[a](q1-plan.md)", ("q3-plan.md",), ""),
        ("a.md", "[a](adr-2.md)", ("adr-1.md", "adr-7.md"), ""),
        ("a.md", "[[adr-2]]", ("adr-7.md",), ""),
        ("a.md", "[[x/adr-2]]", ("x/adr-7.md",), ""),
        ("a.md", "[a](sub/notes.md#step-2)", (), ""),
        ("a.md", "[a](garden-plam.md)", ("garden-plan.md", "garden-play.md"), ""),  # both as near
        ("a.md", "[[garden-plam]]", ("garden-plan.md", "garden-play.md"), ""),
        ("a.md", "[[garden_plan]]", ("garden-plan.md",), "[[garden-plan]]"),  # by name and title
        ("a.md", "[a](adr-02.md)", ("adr-2.md", "adr-3.md"), "[a](adr-2.md)"),
        ("a.md", "[a](reprot-2025.md)", ("report-2025.md",), "[a](report-2025.md)"),
        ("a.md", "[[x/garden-plam]]", ("x/garden-plan.md", "garden-play.md"), "[[x/garden-plan]]"),
    ],
)
def test_a_name_that_is_another_or_as_near_as_another_is_not_proposed(
    audited: Callable[..., Audit], path: str, link: str, others: tuple[str, ...], meant: str
) -> None:
    notes = dict.fromkeys(others, "Text.\n") | {"sub/notes.md": "# A\n\n## Step 1\n"}
    (finding,) = audited(notes | {path: f"See {link}.\n"}, "broken-link").findings
    assert finding.diff.endswith(f"\n+See {meant}.\n" if meant else "")
    assert bool(finding.diff) == bool(meant)


def test_headings_are_checked_where_title_and_name_differ_in_case(
    audited: Callable[..., Audit],
) -> None:
    notes = {"memory/staging.md": "# Staging\n\n## Ports\n", "memory/a.md": "[[staging#Prots]]\n"}
    (finding,) = audited(notes, "broken-link").findings
    assert "+[[staging#ports]]" in finding.diff


@pytest.mark.parametrize("path", ["c#.md", "log#L3.md", "log#L3-L4.md"])
def test_the_name_of_a_note_may_have_the_sign_before_lines(
    audited: Callable[..., Audit], path: str
) -> None:
    body = "# Generics\n\nMarble, slate, granite.\n\n[a](x1.md) <!-- audit: ignore -->\n"
    found = audited({path: f"{body}[b](x2.md)\n", "other.md": "# Oak\n\nElm, fir and ash.\n"})
    assert [(one.kind, one.citation) for one in found.findings] == [("broken-link", f"{path}#L6")]
    assert found.silenced == 1


def test_a_link_to_a_line_that_no_file_has_is_broken(audited: Callable[..., Audit]) -> None:
    found = audited({"a.md": f"# A\n\n[x](#L{'9' * 5_000})\n"}, "broken-link")
    assert [one.citation for one in found.findings] == ["a.md#L3"]


@pytest.mark.parametrize("link", [r"[[mia\|her]]", r"[[people/mia#Four\|4]]", r"![[mia\|300]]"])
def test_the_bar_of_a_link_in_a_table_is_no_part_of_its_target(
    audited: Callable[..., Audit], link: str
) -> None:
    table = "| a | b |\n|---|---|\n| {} | x |\n"
    notes = NOTES | {"MEMORY.md": table.format(link)}
    assert audited(notes, "broken-link").findings == ()


def test_the_link_offered_in_a_table_keeps_its_bar_escaped(audited: Callable[..., Audit]) -> None:
    notes = NOTES | {"MEMORY.md": "| a | b |\n|---|---|\n| [[omeega\\|the last]] | x |\n"}
    (finding,) = audited(notes, "broken-link").findings
    assert "+| [[omega\\|the last]] | x |\n" in finding.diff


def test_the_nearest_names_are_those_of_a_comparison_with_all_names() -> None:
    rnd = Random(7)
    parts = ["na", "ba", "an", "lo", "ig", "it", "é", "-", "一", "a", "2026", "07", " "]
    names = {"".join(rnd.choices(parts, k=rnd.randint(1, 9))) for _ in range(400)}
    known = Names({name: (name,) for name in names})
    found = 0

    def digits(name: str) -> list[str]:
        return [digits.lstrip("0") for digits in re.findall(r"\d+", name)]

    for name in sorted(names):
        at = rnd.randrange(len(name) + 1)
        asked = name[:at] + rnd.choice(["", "x", "na", "2026"]) + name[at + rnd.randint(0, 2) :]
        alike = [one for one in names if digits(one) == digits(asked)]
        near = get_close_matches(asked, alike, 10, 0.8)
        ratios = [SequenceMatcher(None, one, asked).ratio() for one in near]
        nearest = [one for one, ratio in zip(near, ratios, strict=True) if ratio == ratios[0]]
        assert known.nearest(asked) == nearest, asked
        found += bool(nearest)
    assert found > 200


def test_a_name_is_compared_with_the_few_that_can_be_near(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    class Counted(SequenceMatcher[str]):
        def set_seq1(self, a: Sequence[str]) -> None:
            nonlocal compared
            compared += 1
            super().set_seq1(a)

    monkeypatch.setattr("difflib.SequenceMatcher", Counted)
    known = Names({name: (name,) for name in map("".join, product("abcdefg", repeat=4))})
    assert known.nearest("xcdxx") == []
    assert known.nearest("abcdx") == ["abcd"]
    assert compared < 200  # of 2,401 names
