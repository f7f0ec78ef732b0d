"""How many threads are taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace_local import engines

if TYPE_CHECKING:
    from pathlib import Path


def machine(
    root: Path, monkeypatch: pytest.MonkeyPatch, *, cpus: int, siblings: int = 1, quota: str = ""
) -> str:
    monkeypatch.setattr(engines, "allowed_cpus", lambda: frozenset(range(cpus)))
    if siblings:
        for cpu in range(cpus):
            folder = root / f"sys/devices/system/cpu/cpu{cpu}/topology"
            folder.mkdir(parents=True)
            first = cpu - cpu % siblings
            (folder / "thread_siblings_list").write_text(f"{first}-{first + siblings - 1}\n")
    if quota:
        group = root / "sys/fs/cgroup"
        group.mkdir(parents=True)
        (group / "cpu.max").write_text(quota)
    return str(root)


@pytest.mark.parametrize(
    ("cpus", "siblings", "quota", "expected"),
    [
        (1, 1, "", 1),
        (2, 1, "", 1),
        (4, 1, "", 3),
        (4, 2, "", 1),
        (8, 2, "", 3),
        (8, 1, "", 4),
        (64, 2, "max 100000", 4),
        (64, 2, "200000 100000", 1),
        (64, 2, "150000 100000", 1),
        (64, 2, "350000 100000", 3),
        (64, 2, "nonsense", 4),
        (3, 0, "", 2),
    ],
)
def test_one_core_is_left_to_others(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cpus: int,
    siblings: int,
    quota: str,
    expected: int,
) -> None:
    root = machine(tmp_path, monkeypatch, cpus=cpus, siblings=siblings, quota=quota)
    assert engines.default_threads(root=root) == expected


def test_the_older_kind_of_limit_is_kept_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = machine(tmp_path, monkeypatch, cpus=16)
    group = tmp_path / "sys/fs/cgroup/cpu"
    group.mkdir(parents=True)
    (group / "cpu.cfs_quota_us").write_text("-1")
    (group / "cpu.cfs_period_us").write_text("100000")
    assert engines.default_threads(root=root) == 4
    (group / "cpu.cfs_quota_us").write_text("200000")
    assert engines.default_threads(root=root) == 1


def test_this_machine_has_a_number() -> None:
    assert 1 <= engines.default_threads() <= 4
    assert engines.allowed_cpus()
