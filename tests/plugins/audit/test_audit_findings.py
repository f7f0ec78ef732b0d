"""Each fault that is planted in a workspace is found where it stands, and no other."""

from __future__ import annotations

import shutil
import subprocess
from base64 import b64encode
from hashlib import sha512
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.sample import copy_workspace
from commonplace_audit.duplicates import similar_pairs
from commonplace_audit.links import slug
from commonplace_notes.source import NotesSource

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace.plugin import ScanReport
    from commonplace_audit.auditing import Audit

LONG = (
    "The boiler in the cellar loses pressure every second week, so that we open the valve "
    "behind the washing machine and refill it to one and a half bar.\n"
)
CLEAN = {
    "MEMORY.md": "# Memory\n\n- The staging port is 8450.\n- Mia likes [plans](memory/plans.md).\n",
    "memory/plans.md": "# Plans\n\n## Garden\n\nWe plant apple trees beside the shed.\n\n"
    "Back to [[MEMORY]], and see [garden](#garden) and [[plans#Garden|above]].\n",
    "memory/2026-09-01.md": "# Tuesday\n\n- Tomorrow we fetch the ladder from Tom.\n"
    "- Lunch was 12 euros.\n- [x] call the plumber by 2026-09-03\n",
    "memory/2026-09-02.md": "# Wednesday\n\n- Fetched the ladder.\n- Lunch was 14 euros.\n",
}


def reported(found: Audit) -> list[tuple[str, str]]:
    return [(one.kind, one.citation) for one in found.findings]


def test_notes_without_a_fault_have_no_finding(audited: Callable[..., Audit]) -> None:
    found = audited(CLEAN)
    assert found.findings == ()
    assert found.notes == 4
    assert found.unreadable == ()


def test_the_sample_notes_have_no_finding(audited: Callable[..., Audit], workspace: Path) -> None:
    copy_workspace(str(workspace))
    assert [one for one in audited({}).findings if one.severity != "info"] == []


def test_each_planted_fault_is_found_and_nothing_else(audited: Callable[..., Audit]) -> None:
    key = "sk-" + "proj-Ab3dE5gH7jK9mN1pQ3sT5vW7"
    found = audited(
        {
            "MEMORY.md": CLEAN["MEMORY.md"].replace("8450", "8444")
            + "- The lease runs until 2026-03-31.\n- Ann comes next week.\n",
            "memory/plans.md": CLEAN["memory/plans.md"] + f"\n{LONG}",
            "memory/2026-09-01.md": f"# Tuesday\n\n- The staging port is 8450.\n\n{LONG}",
            "memory/2026-09-02.md": "# Wednesday\n\n- TODO send the form by 2026-09-05\n",
            "memory/links.md": "# Doors\n\n[a](plan.md), [[plams]] and [b](plans.md#gardens).\n",
            "memory/keys.md": f"# Keys\n\nThe key of the bridge is {key}\n",
            "memory/large.md": "# Quarry\n\n" + "Marble, granite and slate.\n" * 40,
        },
        largest=1_000,
    )
    assert reported(found) == [
        ("secret", "memory/keys.md#L3"),
        ("contradiction", "MEMORY.md#L3"),
        ("stale", "MEMORY.md#L5"),
        ("stale", "memory/2026-09-02.md#L3"),
        ("stale", "MEMORY.md#L6"),
        ("duplicate", "memory/2026-09-01.md#L5"),
        ("broken-link", "memory/links.md#L3"),
        ("broken-link", "memory/links.md#L3"),
        ("broken-link", "memory/links.md#L3"),
        ("oversized", "memory/large.md"),
    ]
    assert key not in repr(found)
    assert found.findings[1].others == ("memory/2026-09-01.md#L3",)


def test_a_note_that_is_nearly_another_is_reported_once(audited: Callable[..., Audit]) -> None:
    body = "".join(f"The {word} of the house is in room {word}.\n\n" for word in "abcdefghij")
    found = audited(
        {"a.md": f"# One\n\n{body}", "b.md": f"# One\n\n{body}Only this differs.\n"}, "duplicate"
    )
    assert reported(found) == [("duplicate", "b.md")]


def test_forms_that_differ_in_numbers_are_no_copies(audited: Callable[..., Audit]) -> None:
    logs = {
        f"memory/2026-09-0{day}.md": f"Invoice {day}17 of the plumber was paid by us in cash on "
        "the same day as always before noon.\n"
        for day in range(1, 5)
    }
    assert audited(logs, "duplicate").findings == ()


def test_proposed_diffs_are_taken_by_patch(audited: Callable[..., Audit], workspace: Path) -> None:
    patch = shutil.which("patch")
    if patch is None:
        pytest.skip("patch is not installed")
    found = audited(
        {
            "memory/plans.md": "# Plans\n",
            "memory/my notes.md": "# Mine\n\n[a](plan.md)\n\nThe staging port is 8444",
            "memory/2026-09-01.md": "The staging port is 8450.\n",
        },
        "contradiction",
        "broken-link",
    )
    diff = "".join(one.diff for one in found.findings)
    subprocess.run([patch, "-p0"], input=diff.encode(), cwd=workspace, check=True)
    assert (workspace / "memory/my notes.md").read_text() == (
        "# Mine\n\n[a](plans.md)\n\n"
        "~~The staging port is 8444~~ (superseded 2026-09-01 by: The staging port is 8450. "
        "(Source: memory/2026-09-01.md#L1))\n"
        "The staging port is 8450. (Source: memory/2026-09-01.md#L1)"
    )
    assert audited({}, "contradiction", "broken-link").findings == ()


@pytest.mark.parametrize("start", ["", "# Pläne\n\n"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16", "utf-16-be"])
def test_a_diff_applies_in_the_encoding_of_the_file_or_there_is_none(
    encoding: str, start: str, audited: Callable[..., Audit], workspace: Path
) -> None:
    patch = shutil.which("patch")
    if patch is None:
        pytest.skip("patch is not installed")
    text = start + "[a](plan.md) grün, süß und für alle Gärten der Welt.\r\nEnde\r\n"
    notes = {"memory/plans.md": "# Plans\n", "memory/a.md": ""}
    audited(notes, "stale")
    note = workspace / "memory/a.md"
    note.write_bytes(text.encode(encoding))
    (finding,) = audited({}, "broken-link").findings
    assert bool(finding.diff) == (encoding == "utf-8-sig")
    assert finding.diff or "not UTF-8" in finding.hint
    if finding.diff:
        command = [patch, "-p0", "--binary"]
        subprocess.run(command, input=finding.diff.encode(), cwd=workspace, check=True)
        assert note.read_bytes() == text.replace("plan.md", "plans.md").encode(encoding)


def test_an_audit_changes_no_note(audited: Callable[..., Audit], workspace: Path) -> None:
    notes = {"MEMORY.md": "- The cellar port is 1.\n[x](y.md)\n", "memory/2026-09-01.md": LONG}
    audited(notes)
    assert {path: (workspace / path).read_text() for path in notes} == notes


def test_what_was_superseded_elsewhere_is_stale(audited: Callable[..., Audit]) -> None:
    found = audited(
        {
            "MEMORY.md": "- ~~Tom lives in Bern~~ (superseded 2026-05-01 by: Tom lives in Rome)\n",
            "memory/people.md": "# Tom\n\n- Tom lives in Bern.\n",
            "memory/2026-04-01.md": "- Tom lives in Bern.\n",
        },
        "stale",
    )
    assert reported(found) == [("stale", "memory/people.md#L3")]
    assert "+- ~~Tom lives in Bern.~~ (superseded 2026-05-01" in found.findings[0].diff


def test_a_word_for_a_day_becomes_the_date_of_its_source(audited: Callable[..., Audit]) -> None:
    line = "- Tom comes tomorrow. (Source: memory/2026-09-01.md#L3)\n"
    (finding,) = audited({"MEMORY.md": line}, "stale").findings
    assert "+- Tom comes on 2026-09-02. (Source:" in finding.diff


@pytest.mark.parametrize(
    "link",
    [
        "[a](https://example.org/x.md)",
        "[a](mailto:a@example.org)",
        "[a](sub/b.md#a-b)",
        "[a](<sub/b.md>)",
        "[a](sub/b)",
        "[a](sub/b.md#L1-L3)",
        "[[B]]",
        "[[sub/b|b]]",
        "[[b#A B]]",
        "[[Bee]]",
        "![[photo.png]]",
        "![x](sub/photo.png)",
        "`[a](nothing.md)`",
        "[[b#^block]]",
        "[a](/sub/b)",
    ],
)
def test_good_links_are_not_reported(
    link: str, audited: Callable[..., Audit], workspace: Path
) -> None:
    (workspace / "sub").mkdir(parents=True)
    (workspace / "sub/photo.png").write_bytes(b"x")
    b = "---\naliases: [Bee]\n---\n# A B\n\nText. ^block\n"
    assert audited({"a.md": f"# A\n\n{link}\n", "sub/b.md": b}, "broken-link").findings == ()


@pytest.mark.parametrize(
    ("link", "meant"),
    [
        ("[a](b.md)", "sub/b.md"),
        ("[a](sub/c.md)", ""),
        ("[a](sub/b.md#a-bb)", "sub/b.md#a-b"),
        ("[a](sub/b.md#L9)", ""),
        ("[a](#nowhere)", ""),
        ("[[garden-plam]]", "garden-plan"),
        ("[[something else]]", ""),
        ("[a]: gone.md", ""),
    ],
)
def test_broken_links_are_reported_with_what_was_meant(
    link: str, meant: str, audited: Callable[..., Audit]
) -> None:
    notes = {"a.md": f"# A\n\n{link}\n", "sub/b.md": "# A B\n", "garden-plan.md": "# Plan\n"}
    (finding,) = audited(notes, "broken-link").findings
    assert finding.citation == "a.md#L3"
    assert meant in finding.hint
    assert bool(finding.diff) == bool(meant)
    assert f"{meant}" in finding.diff


@pytest.mark.parametrize(
    "text",
    [
        "[a](#a-title) and [b](#another)\n\nA title\n=======\n\nAnother\n---\n",
        "[a](#twice-1)\n\n# Twice\n\nTwice\n-----\n",
        "Code:\n\n    [[x]] and [k](gone.md)\n\n    [[y]]\n",
        "Code:\n\n\t[[x]]\n",
        "Escaped: \\[[x]] and \\[\\[x\\]\\].\n",
        "Bash has [[ -f file ]], [[ $a == b ]] and [[ a == b ]].\n",
        "[todo]: the rest of it\n",
    ],
)
def test_what_only_looks_like_a_link_is_not_broken(
    text: str, audited: Callable[..., Audit]
) -> None:
    assert audited({"a.md": text}, "broken-link").findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "- An item\n\n    [[x]]\n",
        "1. An item\n    - below: [[x]]\n",
        "- An item\n\n  its second paragraph\n\n    [[x]]\n",
        "A paragraph\n    [[x]]\n",
        '[todo]: gone.md "A title"\n',
        "[[ x ]]\n",
        "[a](#no-title)\n\nA title\n=====\n",
    ],
)
def test_what_is_a_link_is_broken(text: str, audited: Callable[..., Audit]) -> None:
    assert len(audited({"a.md": text}, "broken-link").findings) == 1


def test_a_note_that_others_hide_is_not_found_by_its_title(audited: Callable[..., Audit]) -> None:
    words = "oak elm ash fir yew box bay fig lime pear plum rowan maple birch".split()  # noqa: SIM905
    notes = {f"{one}.md": f"# Anchor {one}\n\nAnchor {one}, {one} anchor.\n" for one in words}
    found = audited(notes | {"z.md": f"# Anchor\n\n{'Marble and slate. ' * 90}\n"}, "unfound")
    assert reported(found) == [("unfound", "z.md")]
    assert found.findings[0].severity == "info"  # by its rare words it is found


@pytest.mark.parametrize("title", ["Cake {0}", "Sprint {0}", "v{0} API", '-v{0} tag:x "of" API'])
def test_a_note_is_searched_for_by_the_whole_of_its_title(
    audited: Callable[..., Audit], title: str
) -> None:
    notes = {
        f"n-{at:02}.md": f"# {title.format(f'{at:02}')}\n\nFlour, butter and sugar in a bowl.\n"
        for at in range(18)
    }
    assert reported(audited(notes, "unfound")) == []


def test_files_are_compared_once_however_many_notes_are_searched_for(
    audited: Callable[..., Audit], monkeypatch: pytest.MonkeyPatch
) -> None:
    scans: list[int] = []
    scan = NotesSource.scan

    def counted(source: NotesSource) -> ScanReport:
        scans[-1] += 1
        return scan(source)

    monkeypatch.setattr(NotesSource, "scan", counted)
    for count in (2, 12):
        scans.append(0)
        notes = {f"{at}.md": f"# Oak {at}\n\nMarble, slate and granite.\n" for at in range(count)}
        assert audited(notes, "unfound").notes == count
    assert 0 < scans[1] <= scans[0]


def test_a_finding_is_silenced_on_its_line(audited: Callable[..., Audit]) -> None:
    notes = {
        "a.md": "# A\n\n[x](gone.md) <!-- audit: ignore -->\n"
        "[x](gone.md) <!-- audit: ignore stale -->\n"
    }
    found = audited(notes, "broken-link")
    assert reported(found) == [("broken-link", "a.md#L4")]
    assert found.silenced == 1


FILLED = "The service that sends the weekly letters to our members is written in the {} now."
BELOW = "The freezer in the cellar of the old house must stay {} degrees in every month of summer."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (FILLED.format("language C++"), FILLED.format("language C")),
        (FILLED.format("language C#"), FILLED.format("language C")),
        (FILLED.format("place of 50%"), FILLED.format("place of 50")),
        (BELOW.format("below -5"), BELOW.format("below 5")),
        (BELOW.format("below 1.5"), BELOW.format("below 1 5")),
        (f"[ ] {FILLED}", f"[x] {FILLED}"),
        (FILLED.format("module `__main__`"), FILLED.format("module `main`")),
    ],
)
def test_texts_that_differ_in_a_sign_are_not_equal(
    one: str, other: str, audited: Callable[..., Audit]
) -> None:
    texts = {"MEMORY.md": f"# A\n\n- {one}\n", "memory/b.md": f"# B\n\n{LONG}\n- {other}\n"}
    (finding,) = audited(texts, "duplicate").findings
    assert (finding.severity, finding.diff) == ("info", "")
    assert "100%" not in finding.text


@pytest.mark.parametrize("other", ["* {}", "{}", "-   {}", "- **{}**"])
def test_case_white_space_and_markdown_change_nothing(
    other: str, audited: Callable[..., Audit]
) -> None:
    one = FILLED.format("`Rust` language of *today*")
    text = other.format(
        one.upper() if "**" not in other else FILLED.format("Rust language of today")
    )
    texts = {"MEMORY.md": f"# A\n\n- {one}\n", "memory/b.md": f"# B\n\n{LONG}\n{text}\n"}
    (finding,) = audited(texts, "duplicate").findings
    assert finding.severity == "warning"
    assert finding.diff


@pytest.mark.parametrize(
    "line",
    [
        "[k](ghp_16C7e42F292c6912E7710c838347Ae178B4a)",
        "[[ghp_16C7e42F292c6912E7710c838347Ae178B4a]]",
        "[k](/ghp_16C7e42F292c6912E7710c838347Ae178B4a)",
        "[k](#ghp_16C7e42F292c6912E7710c838347Ae178B4a)",
        "[k]: ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    ],
)
def test_no_finding_shows_a_secret(line: str, audited: Callable[..., Audit]) -> None:
    found = audited({"MEMORY.md": f"# A\n\n{line}\n"})
    assert {one.kind for one in found.findings} >= {"broken-link", "secret"}
    assert "6912E7710c838347" not in repr(found)


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ("密码：Xk29#mmQz81", "problem"),
        ("パスワード：Xk29#mmQz81", "problem"),
        ("DB_PASSWORD＝Xk29#mmQz81", "problem"),
        ("密码:Xk29#mmQz81", "problem"),
        ("密码：hello", "info"),
    ],
)
def test_a_secret_is_a_problem_if_it_looks_random(
    line: str, severity: str, audited: Callable[..., Audit]
) -> None:
    found = audited({"MEMORY.md": f"# A\n\n- {line}\n"}, "secret")
    assert [one.severity for one in found.findings] == [severity]


def test_a_secret_known_by_the_words_before_it_is_not_shown(audited: Callable[..., Audit]) -> None:
    found = audited({"MEMORY.md": "# A\n\nSee [[winter9horse]]: the password is winter9horse.\n"})
    assert {one.kind for one in found.findings} >= {"broken-link", "secret"}
    assert "winter9horse" not in repr(found)


def test_a_command_that_would_hold_a_secret_is_not_offered(audited: Callable[..., Audit]) -> None:
    found = audited(
        {
            "MEMORY.md": "# A\n\n- The staging database password: summer8horse\n",
            "memory/2026-09-01.md": "# B\n\n- The staging database password: winter9horse\n",
        },
    )
    (finding,) = (one for one in found.findings if one.kind == "contradiction")
    assert "commonplace correct" not in finding.hint
    assert "horse" not in repr(found)


@settings(max_examples=40)
@given(st.lists(st.frozensets(st.sampled_from("abcdefghij")), max_size=8))
def test_similar_pairs_are_those_that_comparing_all_gives(sets: list[frozenset[str]]) -> None:
    expected = {
        (one, other, len(sets[one] & sets[other]) / len(sets[one] | sets[other]))
        for other in range(len(sets))
        for one in range(other)
        if sets[one] and sets[other]
    }
    for alike in (0.5, 0.8, 1.0):
        found = list(similar_pairs(sets, alike))
        assert len(found) == len(set(found))
        assert set(found) == {pair for pair in expected if pair[2] >= alike}


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [("A B", "a-b"), ("What's new?", "whats-new"), ("Über [uns](x.md)", "über-uns")],
)
def test_anchors_are_those_of_common_renderers(heading: str, anchor: str) -> None:
    assert slug(heading) == anchor


def test_a_note_is_not_looked_for_by_the_words_of_a_pasted_picture(
    audited: Callable[..., Audit],
) -> None:
    data = b64encode(sha512(b"a").digest() * 9).decode().replace("=", "")
    found = audited({"memory/2026-01-02.md": f"# 2026-01-02\n\n{data}\n"}, "unfound").findings
    assert found == ()
