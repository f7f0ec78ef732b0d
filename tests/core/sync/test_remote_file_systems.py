"""File systems that tell nothing are known by the system's table of mounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace.sync.folders import remote_file_system

if TYPE_CHECKING:
    from pathlib import Path

TABLE = r"""
/dev/sda1 / ext4 rw 0 0
server:/export /home/anna/notes nfs4 rw 0 0
/dev/sdb1 /home/anna/notes/local xfs rw 0 0
//server/share /mnt/with\040blank cifs rw 0 0
C:\134 /mnt/c 9p rw 0 0
far: /mnt/far fuse.sshfs rw 0 0
/dev/sdc1 /mnt/disk fuseblk rw 0 0
server:/export /mnt/twice nfs rw 0 0
/dev/sdd1 /mnt/twice ext4 rw 0 0
broken
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/anna", ""),
        ("/home/anna/notes", "nfs4"),
        ("/home/anna/notes/deep/not there.md", "nfs4"),
        ("/home/anna/notes/local/a.md", ""),
        ("/home/anna/notes-too", ""),
        ("/mnt/with blank/a.md", "cifs"),
        ("/mnt/c/Users", "9p"),
        ("/mnt/far", "fuse.sshfs"),
        ("/mnt/disk", ""),
        ("/mnt/twice/a.md", ""),
        ("/", ""),
    ],
)
def test_the_innermost_mount_decides(tmp_path: Path, path: str, kind: str) -> None:
    table = tmp_path / "mounts"
    table.write_text(TABLE)
    assert remote_file_system(path, mounts=str(table)) == kind


def test_a_link_to_such_a_place_is_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    table = tmp_path / "mounts"
    table.write_text(f"x / ext4 rw 0 0\ny {(tmp_path / 'real').resolve()} nfs rw 0 0\n")
    assert remote_file_system(str(tmp_path / "link" / "a.md"), mounts=str(table)) == "nfs"


def test_without_a_table_nothing_is_known(tmp_path: Path) -> None:
    assert remote_file_system(str(tmp_path), mounts=str(tmp_path / "mounts")) == ""
