from __future__ import annotations

from datetime import date

import pytest

from commonplace.files.roots import day_of


@pytest.mark.parametrize(
    "path",
    [
        "memory/2026-01-31.md",
        "memory/2026-01-31-x.md",
        "memory/2026-01-31-two-words.md",
        "memory/2026-01-31-.md",
        "memory/2026/2026-01-31-x.md",
        "memory/2025/deep/2026-01-31.md",
        "memory/2026-02-01/2026-01-31.md",
        "memory/2026-01-31-日記.md",
        "memory/odd\nfolder/2026-01-31.md",
        "2026-01-31.md",
        "docs/2026-01-31.md",
        "../memory/2026-01-31.md",
        "memory/x-2026-01-31.md",
        "xmemory/2026-01-31.md",
        "x/memory/2026-01-31.md",
        "daily/2026-01-31.markdown",
        "daily/2026-01-31 Saturday.txt",
        "journals/2026_01_31.md",
        "journals/2026.01.31.md",
        "Meeting 2026-01-31 (port).md",
        "2026-01-31T0930 call.md",
        "journal/2026/01/31.md",
        "2026/01/31-trip.md",
        "2026-01-31 to 2026-02-02.md",
    ],
)
def test_notes_of_a_day(path: str) -> None:
    assert day_of(path) == date(2026, 1, 31)


@pytest.mark.parametrize(
    "path",
    [
        "MEMORY.md",
        "memory/2026-01-31",
        "memory/2026-01-31.MD",
        "memory/2026-01-31x.md",
        "memory/x2026-01-31.md",
        "memory/2026-01_31.md",
        "memory/12026-01-31.md",
        "memory/2026-01-310.md",
        "2026/01/31/x.md",
        "memory/2026-1-31.md",
        "memory/20260131.md",
        "memory/2026-02-29.md",
        "memory/2026-13-01.md",
        "memory/2026-00-10.md",
        "memory/0000-01-01.md",
        "memory/2026-01-31/x.md",
        "memory/٢٠٢٦-01-31.md",
        "memory/2026-01-31.md\n",
    ],
)
def test_other_notes_are_of_no_day(path: str) -> None:
    assert day_of(path) is None


def test_leap_days() -> None:
    assert day_of("memory/2024-02-29.md") == date(2024, 2, 29)
