"""The commands install and uninstall: what they write where, print, refuse and leave alone."""

from __future__ import annotations

import json
import os
import shlex
import tomllib
from typing import TYPE_CHECKING

import pytest

from commonplace.plugin import write_whole
from commonplace_harnesses import files
from commonplace_harnesses.harnesses import HARNESSES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., tuple[int, str, str]]

OURS = {"notes", "bin", "state", "cache"}
USER_FILES = {
    "claude-code": (".claude.json", ".claude/settings.json"),
    "codex": (".codex/config.toml", ".codex/hooks.json"),
    "cursor": (".cursor/mcp.json", ".cursor/hooks.json"),
    "vscode": (".config/Code/User/mcp.json",),
    "openclaw": (".openclaw/openclaw.json",),
    "opencode": (".config/opencode/opencode.json",),
}
PROJECT_FILES = {
    "claude-code": (".mcp.json", ".claude/settings.json"),
    "codex": (".codex/config.toml", ".codex/hooks.json"),
    "cursor": (".cursor/mcp.json", ".cursor/hooks.json"),
    "vscode": (".vscode/mcp.json",),
    "opencode": ("opencode.json",),
}


def files_in(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file()
        and path.relative_to(folder).parts[0] not in {"notes", "bin", "state", "cache"}
    }


def server_in(path: Path) -> list[str]:
    """The command line of the server ``memory`` in a file of any harness."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        entry = tomllib.loads(text)["mcp_servers"]["memory"]
    else:
        from commonplace.plugin import parse_json5

        data = parse_json5(text)
        data = data.get("mcpServers") or data.get("servers") or data["mcp"]
        entry = data.get("servers", data)["memory"]
    command = entry["command"]
    return command if isinstance(command, list) else [command, *entry["args"]]


def hooks_in(path: Path) -> dict[str, list[str]]:
    """The command line of each hook, by its event."""
    found = {}
    for event, items in json.loads(path.read_text(encoding="utf-8"))["hooks"].items():
        (item,) = items
        (hook,) = item.get("hooks", [item])
        found[event] = shlex.split(hook["command"])
    return found


@pytest.mark.parametrize("harness", HARNESSES)
def test_the_users_files_start_memory_by_whole_paths(
    harness: str, home: Path, commonplace: Run
) -> None:
    code, out, _ = commonplace("install", harness)
    assert code == 0
    assert files_in(home) == set(USER_FILES[harness])
    program, workspace = str(home / "bin" / "commonplace"), ["--workspace", str(home / "notes")]
    first, *others = (home / name for name in USER_FILES[harness])
    assert server_in(first) == [program, "mcp", *workspace]
    archive = [program, "sessions", "archive", "--hook", *workspace]
    for other in others:
        hooks = {"SessionStart": [program, "hook", harness, "SessionStart", *workspace]}
        hooks |= {"PreCompact": archive, "SessionEnd": archive}
        if harness == "cursor":
            hooks = {"sessionStart": [program, "hook", harness, "sessionStart", *workspace]}
        assert hooks_in(other) == hooks
    assert all((home / name).stat().st_mode & 0o777 == 0o600 for name in USER_FILES[harness])
    assert all(str(home / name) in out for name in USER_FILES[harness])
    assert all(step in out for step in HARNESSES[harness].steps[""])
    assert commonplace("uninstall", harness)[0] == 0
    assert files_in(home) == set()
    assert not any((home / name).parent.is_dir() for name in USER_FILES[harness] if "/" in name)


@pytest.mark.parametrize("harness", PROJECT_FILES)
def test_a_projects_files_start_memory_as_it_was_given(
    harness: str, home: Path, commonplace: Run
) -> None:
    assert commonplace("install", harness, "--scope", "project", "--workspace", "memo")[0] == 0
    project = home / "project"
    assert files_in(home) == {f"project/{name}" for name in PROJECT_FILES[harness]}
    first, *others = (project / name for name in PROJECT_FILES[harness])
    assert server_in(first) == ["commonplace", "mcp", "--workspace", "memo"]
    for other in others:
        assert {words[0] for words in hooks_in(other).values()} == {"commonplace"}
    assert first.stat().st_mode & 0o777 == 0o644


def test_without_a_command_on_the_path_this_python_is_used(home: Path, commonplace: Run) -> None:
    (home / "bin" / "commonplace").unlink()
    (home / "project" / "c.json5").write_text("{}")
    commonplace("install", "vscode", "--agent", "work", "--config", "c.json5")
    words = server_in(home / USER_FILES["vscode"][0])
    assert words[1:4] == ["-m", "commonplace", "mcp"]
    assert words[-4:] == ["--config", str(home / "project" / "c.json5"), "--agent", "work"]
    commonplace("uninstall", "vscode")
    (home / "project" / "c.json5").unlink()
    assert files_in(home) == set()


@pytest.mark.parametrize("harness", HARNESSES)
def test_a_dry_run_prints_a_diff_and_writes_nothing(
    harness: str, home: Path, commonplace: Run
) -> None:
    code, out, _ = commonplace("install", harness, "--dry-run")
    assert code == 0
    assert files_in(home) == set()
    for name in USER_FILES[harness]:
        assert f"--- /dev/null\n+++ {home / name}\n@@ " in out
    commonplace("install", harness)
    before = {name: (home / name).read_bytes() for name in USER_FILES[harness]}
    program = HARNESSES[harness].program
    assert commonplace("install", harness, "--dry-run")[1:] == (
        "",
        f"note: there is nothing to change\nnote: no command {program} was found\n",
    )
    out = commonplace("uninstall", harness, "--dry-run")[1]
    for name in USER_FILES[harness]:
        assert f"--- {home / name}\n+++ /dev/null\n" in out
    assert {name: (home / name).read_bytes() for name in USER_FILES[harness]} == before


def test_what_the_user_added_stays(home: Path, commonplace: Run) -> None:
    commonplace("install", "codex")
    commonplace("install", "claude-code")
    toml, settings = home / ".codex/config.toml", home / ".claude/settings.json"
    with toml.open("a") as file:
        file.write('startup_timeout_sec = 20\n\n# mine\n[mcp_servers.other]\ncommand = "x"\n')
    data = json.loads(settings.read_text())
    data["hooks"]["SessionStart"][0]["hooks"].append({"type": "command", "command": "mine"})
    settings.write_text(json.dumps(data, indent=2))  # as Claude Code writes it
    commonplace("install", "codex", "--agent", "work")
    assert "startup_timeout_sec = 20" in toml.read_text()
    assert server_in(toml)[-2:] == ["--agent", "work"]
    commonplace("uninstall", "codex")
    commonplace("uninstall", "claude-code")
    assert toml.read_text() == '\n# mine\n[mcp_servers.other]\ncommand = "x"\n'
    hooks = {"SessionStart": [{"hooks": [{"type": "command", "command": "mine"}]}]}
    assert json.loads(settings.read_text()) == {"hooks": hooks}


def test_a_hook_that_only_names_commonplace_stays(home: Path, commonplace: Run) -> None:
    settings = home / ".claude/settings.json"
    settings.parent.mkdir()
    hook = {"type": "command", "command": "git -C ~/src/commonplace hook run pre-commit"}
    text = json.dumps({"hooks": {"SessionStart": [{"hooks": [hook]}], "Stop": [hook]}}, indent=2)
    settings.write_text(text)
    commonplace("install", "claude-code")
    assert "/bin/commonplace hook claude-code" in settings.read_text()
    assert settings.read_text().count(hook["command"]) == 2
    commonplace("uninstall", "claude-code")
    assert settings.read_text() == text


@pytest.mark.parametrize(
    "program", ["commonplace", "/x y/commonplace", "/x/python3.11 -m commonplace"]
)
def test_a_hook_of_ours_is_replaced_however_it_was_started(
    program: str, home: Path, commonplace: Run
) -> None:
    settings = home / ".claude/settings.json"
    settings.parent.mkdir()
    command = program.replace("x y", "'x y'")
    hooks = {
        "SessionStart": [{"hooks": [{"type": "command", "command": f"{command} hook old"}]}],
        "PreCompact": [{"hooks": [{"command": f"{command} sessions archive --hook --agent x"}]}],
    }
    settings.write_text(json.dumps({"hooks": hooks}))
    commonplace("install", "claude-code")
    assert {words[0] for words in hooks_in(settings).values()} == {str(home / "bin/commonplace")}


REFUSED: dict[str, tuple[str, str | bytes, str]] = {
    "another server": ("vscode", '{"servers": {"memory": {"command": "x"}}}', "is another server"),
    "no object": ("vscode", '{"servers": [1]}', "servers is not an object"),
    "malformed": ("vscode", '{\n"servers": {"a" 1}}', "line 2: column 17: a colon is missing"),
    "a list": ("vscode", "[1]", "the file is not an object"),
    "not text": ("vscode", b"\xff\xfe", "it is not UTF-8 text"),
    "TOML": ("codex", "a = ", "is not valid TOML"),
    "an inline table": ("codex", "mcp_servers = {}", "cannot be added to what is there"),
    "another table": ("codex", '[mcp_servers.memory]\nurl = "x"', "is another server"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_is_not_understood_is_left_alone(
    case: str, home: Path, commonplace: Run
) -> None:
    harness, text, message = REFUSED[case]
    data = text if isinstance(text, bytes) else text.encode()
    path = home / USER_FILES[harness][0]
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    for verb in ("install", "uninstall") if isinstance(text, bytes) else ("install",):
        code, out, err = commonplace(verb, harness)
        assert (code, out) == (1, "")
        assert message in err
        assert str(path) in err
        assert "fix: " in err
    assert path.read_bytes() == data
    assert files_in(home) == {USER_FILES[harness][0]}


def test_a_key_that_voids_the_hooks_of_codex_is_named_before_anything_is_written(
    home: Path, commonplace: Run
) -> None:
    path = home / ".codex/hooks.json"
    path.parent.mkdir()
    path.write_text('{"$schema": "x", "hooks": {}}')
    code, _, err = commonplace("install", "codex")
    assert code == 1
    assert "'$schema' is not known" in err
    assert files_in(home) == {".codex/hooks.json"}


def test_a_link_is_followed_only_if_that_is_wanted(home: Path, commonplace: Run) -> None:
    (home / "dotfiles").mkdir()
    target = home / "dotfiles" / "settings.json"
    target.write_text("{}")
    (home / ".claude").mkdir()
    link = home / ".claude" / "settings.json"
    link.symlink_to(target)
    code, _, err = commonplace("install", "claude-code")
    assert code == 1
    assert f"it leads to {target}" in err
    assert files_in(home) == {"dotfiles/settings.json", ".claude/settings.json"}
    code, out, _ = commonplace("install", "claude-code", "--follow-links")
    assert f"changed    {target} (behind the link {link})" in out
    assert link.is_symlink()
    assert "SessionStart" in target.read_text()
    commonplace("uninstall", "claude-code", "--follow-links")
    assert target.read_text() == "{}"


def test_a_linked_folder_counts_as_a_link(home: Path, commonplace: Run) -> None:
    (home / "dotfiles").mkdir()
    (home / ".codex").symlink_to(home / "dotfiles")
    code, _, err = commonplace("install", "codex")
    assert code == 1
    assert "in a linked folder" in err
    assert not any((home / "dotfiles").iterdir())


def test_a_file_that_changed_meanwhile_is_not_overwritten(
    home: Path, commonplace: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / ".claude.json"
    path.write_text("{}")
    read = files.HarnessFiles._read
    seen: list[str] = []

    def slow(self: files.HarnessFiles, name: str) -> tuple[str, int, str | None]:
        found = read(self, name)
        if not seen:
            path.write_text('{"theme": "dark"}')  # as a session that runs may do
        seen.append(name)
        return found

    monkeypatch.setattr(files.HarnessFiles, "_read", slow)
    code, _, err = commonplace("install", "claude-code")
    assert code == 1
    assert "changed by another program meanwhile" in err
    assert path.read_text() == '{"theme": "dark"}'


def test_what_was_found_is_known_before_a_file_is_written(
    home: Path, commonplace: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text("{}\n")

    def fail(path: str, text: str, *, mode: int = 0o600) -> None:
        if path.endswith("mcp.json"):
            raise OSError(28, "No space left on device")
        write_whole(path, text, mode=mode)

    with monkeypatch.context() as full:
        full.setattr("commonplace_harnesses.files.write_whole", fail)
        code, _, err = commonplace("install", "cursor")
    assert code == 1
    assert "cannot be written: No space left on device" in err
    assert path.read_text() == "{}\n"
    commonplace("install", "cursor")
    commonplace("uninstall", "cursor")
    assert path.read_text() == "{}\n"
    assert files_in(home) == {".cursor/mcp.json"}


def test_the_step_to_let_agents_write_acts_on_the_same_file_and_is_left_out_once_done(
    home: Path, commonplace: Run
) -> None:
    own = home / "own.json5"
    own.write_text("{}")
    _, out, _ = commonplace("install", "claude-code", "--config", str(own))
    step = f"commonplace config --config {own} set memory.write.enabled true"
    assert step in out
    assert commonplace(*step.split()[1:])[0] == 0
    _, out, _ = commonplace("install", "claude-code", "--config", str(own))
    assert "Still to do" in out
    assert "memory.write.enabled" not in out


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('mcp_servers = { a = { command = "x" } }\n', "inside the braces of mcp_servers"),
        (
            'mcp_servers.memory.command = "commonplace"\nmcp_servers.memory.args = ["mcp"]\n',
            "at the top of the file, in place of the old one",
        ),
        ('[mcp_servers]\na.command = "x"\n[other]\nb = 1\n', ""),
    ],
)
def test_what_must_be_written_by_hand_is_valid_where_it_is_to_be_written(
    home: Path, commonplace: Run, text: str, where: str
) -> None:
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(text)
    code, _, err = commonplace("install", "codex")
    if where:
        assert code == 1
        entry = err.partition(f"write with an editor {where}: ")[2].strip()
        path.write_text(f"{text.rstrip()[:-1]}, {entry} }}\n" if "braces" in where else entry)
    assert server_in(path)[1] == "mcp"
    assert len(server_in(path)) > 2
    assert commonplace("install", "codex")[0] == 0


@pytest.mark.parametrize("found", ['{"theme": "dark"}', "{}\n", None])
@pytest.mark.parametrize("stuck", [False, True], ids=["", "and cannot be taken back"])
def test_of_two_files_both_are_changed_or_none(
    home: Path, commonplace: Run, monkeypatch: pytest.MonkeyPatch, found: str | None, stuck: bool
) -> None:
    path = home / ".claude.json"
    if found is not None:
        path.write_text(found)
    server, full = "", False

    def fail(name: str, text: str, *, mode: int = 0o600) -> None:
        nonlocal full, server
        if name.endswith("settings.json"):
            server, full = path.read_text(), stuck
            path.write_text(f"{server}\n" if stuck else server)
            raise OSError(13, "Permission denied")
        write_whole(name, text, mode=mode)

    with monkeypatch.context() as refusing:
        refusing.setattr("commonplace_harnesses.files.write_whole", fail)
        code, _, err = commonplace("install", "claude-code")
    assert code == 1
    assert "settings.json cannot be written: Permission denied" in err
    assert "mcpServers" in server
    if stuck:
        assert f"{path} stays {'changed' if found else 'created'}: " in err
    else:
        assert (path.read_text() if path.exists() else None) == found
        assert "stays" not in err


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_that_cannot_be_written_is_an_error(home: Path, commonplace: Run) -> None:
    (home / ".cursor").mkdir(0o500)
    code, _, err = commonplace("install", "cursor")
    assert code == 1
    assert "cannot be written" in err


def test_variables_that_move_a_harness_are_followed(
    home: Path, commonplace: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "a"))
    monkeypatch.setenv("CODEX_HOME", str(home / "b"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "c"))
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(home / "d"))
    for harness in ("claude-code", "codex", "opencode", "vscode", "openclaw"):
        commonplace("install", harness)
    assert files_in(home) == {
        "a/.claude.json",
        "a/settings.json",
        "b/config.toml",
        "b/hooks.json",
        "c/opencode/opencode.json",
        "c/Code/User/mcp.json",
        "d/openclaw.json",
    }


@pytest.mark.parametrize("variable", ["OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH"])
def test_variables_of_openclaw_may_begin_with_a_tilde(
    home: Path, commonplace: Run, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    below = "d/openclaw.json" if variable.endswith("PATH") else "d"
    monkeypatch.setenv(variable, f" ~/{below} ")
    commonplace("install", "openclaw")
    assert files_in(home) == {"d/openclaw.json"}
    assert not os.path.lexists("~")


def test_of_two_files_of_opencode_the_one_with_the_entry_counts(
    home: Path, commonplace: Run
) -> None:
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.json").write_text("{}\n")
    commonplace("install", "opencode")
    (folder / "opencode.jsonc").write_text("{ /* mine */ }")
    commonplace("install", "opencode")
    assert (folder / "opencode.jsonc").read_text() == "{ /* mine */ }"
    commonplace("uninstall", "opencode")
    assert (folder / "opencode.json").read_text() == "{}\n"
    commonplace("install", "opencode")
    assert "memory" in (folder / "opencode.jsonc").read_text()


def test_wrong_arguments_are_refused(home: Path, commonplace: Run) -> None:
    assert commonplace("install", "emacs")[0] == 2
    assert "did you mean 'claude-code'?" in commonplace("install", "claude-cod")[2]
    assert (
        "OpenClaw has no scope project"
        in commonplace("install", "openclaw", "--scope", "project")[2]
    )
    assert commonplace("install", "codex", "--name", "a.b")[0] == 2
    assert commonplace("install", "codex", "--workspace", str(home / "none"))[0] != 0
    assert files_in(home) == set()
