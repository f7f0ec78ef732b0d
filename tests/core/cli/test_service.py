"""``commonplace watch --install``: what is printed, and what is done with consent."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.cli.service import service_of
from commonplace.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Run = Any

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no systemd")
ODD = '/home/me/my "notes" 100% $HOME \\x ü'


@pytest.fixture
def systemctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A systemctl that writes down its arguments; the file they are in."""
    calls = tmp_path / "calls"
    program = tmp_path / "bin" / "systemctl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {calls}\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return calls


def only_unit(home: Path) -> list[Path]:
    return list((home / ".config" / "systemd" / "user").glob("*"))


@linux
def test_it_is_printed_and_nothing_is_done(
    run: Callable[..., Run], workspace: str, home: Path, systemctl: Path
) -> None:
    ran = run("watch", "--install", "--workspace", workspace)
    assert ran.code == 0
    assert "systemctl --user enable --now commonplace-watch-main-" in ran.out
    assert f'"--workspace" "{workspace}"' in ran.out
    assert "nothing was done" in ran.err
    assert only_unit(home) == []
    assert not systemctl.exists()


@linux
def test_with_yes_it_is_written_and_started_and_removed_again(
    run: Callable[..., Run], workspace: str, home: Path, systemctl: Path
) -> None:
    ran = run("watch", "--install", "--yes", "--workspace", workspace)
    assert ran.code == 0
    assert "note: started" in ran.err
    (unit,) = only_unit(home)
    assert unit.read_text("utf-8") in ran.out
    assert systemctl.read_text("utf-8").splitlines() == [
        "--user daemon-reload",
        f"--user enable --now {unit.name}",
    ]
    systemctl.unlink()
    assert "nothing was done" in run("watch", "--uninstall", "--workspace", workspace).err
    assert only_unit(home) == [unit]
    ran = run("watch", "--uninstall", "--yes", "--workspace", workspace)
    assert ran.code == 0
    assert only_unit(home) == []
    assert systemctl.read_text("utf-8").splitlines() == [
        f"--user disable --now {unit.name}",
        "--user daemon-reload",
    ]
    assert "There is no" in run("watch", "--uninstall", "--workspace", workspace).out


@linux
def test_a_command_that_fails_is_reported(
    run: Callable[..., Run], workspace: str, tmp_path: Path, systemctl: Path
) -> None:
    program = tmp_path / "bin" / "systemctl"
    program.write_text("#!/bin/sh\necho 'no bus' >&2\nexit 1\n", encoding="utf-8")
    ran = run("watch", "--install", "--yes", "--workspace", workspace)
    assert ran.code == 1
    assert "systemctl --user daemon-reload failed: no bus" in ran.err
    assert "fix: " in ran.err
    assert not systemctl.exists()


def test_two_workspaces_have_two_services_and_keys_stay_out() -> None:
    env = {"HOME": "/h", "OPENAI_API_KEY": "sk-x", "COMMONPLACE_CACHE_DIR": "/c"}
    one, two = (
        service_of(["x"], index=f"/s/main-{name}.sqlite", workspace="/w", env=env, platform="linux")
        for name in "ab"
    )
    assert one.path == "/h/.config/systemd/user/commonplace-watch-main-a.service"
    assert one.path != two.path
    assert 'Environment="COMMONPLACE_CACHE_DIR=/c"' in one.text
    assert "sk-x" not in one.text


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze")
def test_systemd_reads_the_unit_as_it_is_meant(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "commonplace", "watch", "--workspace", ODD]
    env = {"HOME": "/h", "COMMONPLACE_STATE_DIR": ODD}
    service = service_of(command, index="main-1", workspace=ODD, env=env, platform="linux")
    unit = tmp_path / os.path.basename(service.path)
    unit.write_text(service.text, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", str(unit)],
        env={"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert unit.name not in done.stderr, done.stderr


def test_a_property_list_holds_the_same_words() -> None:
    command = ["/usr/bin/python3", "-m", "commonplace", "watch", "--workspace", ODD]
    service = service_of(
        command, index="main-1", workspace=ODD, env={"HOME": "/h"}, platform="darwin", log="/l"
    )
    assert service.path == "/h/Library/LaunchAgents/commonplace.watch.main-1.plist"
    assert plistlib.loads(service.text.encode())["ProgramArguments"] == command
    assert service.start[0][:2] == ("launchctl", "bootstrap")


def test_other_systems_and_paths_that_cannot_be_quoted_are_refused() -> None:
    with pytest.raises(CallerError, match="no service can be set up on win32"):
        service_of(["x"], index="i", workspace="/w", env={}, platform="win32")
    with pytest.raises(CallerError, match="line break"):
        service_of(["a\nb"], index="i", workspace="/w", env={}, platform="linux")


def test_both_at_once_is_a_usage_error(run: Callable[..., Run], workspace: str) -> None:
    assert run("watch", "--install", "--uninstall", "--workspace", workspace).code == 2
