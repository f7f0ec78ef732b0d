"""The harnesses: which files each reads, what goes into them, and what is left to the person."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import expand_user
from commonplace_harnesses.edits import JsonHooks, JsonServer, TomlServer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace_harnesses.edits import Edit


class Setup(NamedTuple):
    """What is installed: how commonplace is run, with which options, as a server of which name.

    ``scope`` is ``user`` or ``project``; ``folder`` is the project's, absolute.
    """

    program: tuple[str, ...]
    options: tuple[str, ...]
    name: str
    scope: str
    folder: str
    env: Mapping[str, str]
    platform: str = sys.platform

    @property
    def base(self) -> str:
        """The folder that a scope's files lie below: the user's home or the project's."""
        return self.folder if self.scope == "project" else self.below("~")

    def below(self, path: str) -> str:
        """``path`` with a leading ``~`` replaced by the user's home."""
        return expand_user(path, self.env)

    @property
    def server(self) -> dict[str, object]:
        """The server as most harnesses have it."""
        command, *args = self.program
        return {"command": command, "args": [*args, "mcp", *self.options]}

    def hook(self, *words: str) -> str:
        """The command line of a hook, for a shell."""
        return shlex.join([*self.program, *words, *self.options])


class Target(NamedTuple):
    """A file and what is edited in it.

    ``paths``: the first that has the edit already, else the first that exists, else the last.
    ``blank`` is the text of a new file before the edit.
    """

    paths: tuple[str, ...]
    edit: Edit
    blank: str = ""


class Harness(NamedTuple):
    """A program that runs agents.

    ``program`` is its command, for a look at whether it is there. ``targets`` are its server, then
    its hooks. ``steps`` are what the person
    must still do, by scope or, as ``""``, for all of them.
    """

    id: str
    title: str
    program: str
    scopes: tuple[str, ...]
    targets: Callable[[Setup], tuple[Target, ...]]
    steps: Mapping[str, tuple[str, ...]]


SECONDS = {"SessionStart": 20, "PreCompact": 20, "SessionEnd": 3}
"""How long a hook may take before its harness ends it. Codex allows no more at a session's end."""

ARCHIVE = (
    "Sessions are archived once agents may write: commonplace config set memory.write.enabled true"
)
"""What is still to do where agents may not write."""


def _claude_code(setup: Setup) -> tuple[Target, ...]:
    server, settings = ".mcp.json", os.path.join(".claude", "settings.json")
    if setup.scope == "project":
        server, settings = os.path.join(setup.folder, server), os.path.join(setup.folder, settings)
    elif moved := setup.env.get("CLAUDE_CONFIG_DIR", ""):  # moves both files
        server, settings = os.path.join(moved, ".claude.json"), os.path.join(moved, "settings.json")
    else:
        server, settings = setup.below("~/.claude.json"), setup.below("~/.claude/settings.json")
    value = {"type": "stdio", **setup.server}
    return (
        Target((server,), JsonServer(("mcpServers", setup.name), value)),
        Target((settings,), JsonHooks(grouped_hooks(setup, "claude-code"))),
    )


def grouped_hooks(setup: Setup, harness: str) -> dict[str, dict[str, object]]:
    """The hooks of Claude Code, and of Codex, which has them in the same form.

    A session begins with the block on memory. Its last messages are archived before they are
    compacted, and when it ends.
    """
    archive = setup.hook("sessions", "archive", "--hook")
    commands = {
        "SessionStart": setup.hook("hook", harness, "SessionStart"),
        "PreCompact": archive,
        "SessionEnd": archive,
    }
    return {
        event: {"hooks": [{"type": "command", "command": command, "timeout": SECONDS[event]}]}
        for event, command in commands.items()
    }


def _codex(setup: Setup) -> tuple[Target, ...]:
    folder = setup.below("~/.codex")
    if setup.scope == "project":
        folder = os.path.join(setup.folder, ".codex")
    elif moved := setup.env.get("CODEX_HOME", ""):
        folder = moved
    return (
        Target(
            (os.path.join(folder, "config.toml"),),
            TomlServer("mcp_servers", setup.name, setup.server),
        ),
        Target(
            (os.path.join(folder, "hooks.json"),),
            JsonHooks(grouped_hooks(setup, "codex"), known=("description", "hooks")),
        ),
    )


def _cursor(setup: Setup) -> tuple[Target, ...]:
    folder = os.path.join(setup.base, ".cursor")
    command = setup.hook("hook", "cursor", "sessionStart")
    hook = {"command": command, "timeout": SECONDS["SessionStart"]}
    return (
        Target(
            (os.path.join(folder, "mcp.json"),),
            JsonServer(("mcpServers", setup.name), setup.server),
        ),
        Target(
            (os.path.join(folder, "hooks.json"),),
            JsonHooks({"sessionStart": hook}),
            blank='{\n  "version": 1\n}\n',
        ),
    )


def _vscode(setup: Setup) -> tuple[Target, ...]:
    if setup.scope == "project":
        folder = os.path.join(setup.folder, ".vscode")
    elif setup.platform == "darwin":
        folder = setup.below("~/Library/Application Support/Code/User")
    elif setup.platform == "win32":
        folder = os.path.join(setup.env.get("APPDATA", ""), "Code", "User")
    else:
        folder = os.path.join(_config_home(setup), "Code", "User")
    value = {"type": "stdio", **setup.server}
    return (
        Target((os.path.join(folder, "mcp.json"),), JsonServer(("servers", setup.name), value)),
    )


def _openclaw(setup: Setup) -> tuple[Target, ...]:
    # OpenClaw itself, and what commonplace reads of it, take a leading ~ of these for the home.
    folder = setup.below(setup.env.get("OPENCLAW_STATE_DIR", "").strip() or "~/.openclaw")
    named = setup.below(setup.env.get("OPENCLAW_CONFIG_PATH", "").strip())
    path = named or os.path.join(folder, "openclaw.json")
    keys = ("mcp", "servers", setup.name)
    return (Target((path,), JsonServer(keys, setup.server, strict=False)),)


def _opencode(setup: Setup) -> tuple[Target, ...]:
    folder = os.path.join(_config_home(setup), "opencode")
    if setup.scope == "project":
        folder = setup.folder
    command = [*setup.program, "mcp", *setup.options]
    value = {"type": "local", "command": command, "enabled": True}
    paths = tuple(os.path.join(folder, name) for name in ("opencode.jsonc", "opencode.json"))
    return (Target(paths, JsonServer(("mcp", setup.name), value)),)


def _config_home(setup: Setup) -> str:
    home = setup.env.get("XDG_CONFIG_HOME", "")
    return home if os.path.isabs(home) else setup.below("~/.config")


HARNESSES = {
    harness.id: harness
    for harness in (
        Harness(
            "claude-code",
            "Claude Code",
            "claude",
            ("user", "project"),
            _claude_code,
            {
                "": ("Start a new session; /mcp lists the server, /hooks the hooks.", ARCHIVE),
                "project": (
                    "Claude Code asks everybody who opens the project to approve the server.",
                    "Each of them needs the command commonplace.",
                ),
            },
        ),
        Harness(
            "codex",
            "Codex",
            "codex",
            ("user", "project"),
            _codex,
            {
                "": (
                    "Start codex and trust the new hooks (/hooks). Until then they never run.",
                    "Codex ignores all of hooks.json if its root has an unknown key.",
                    ARCHIVE,
                ),
                "project": (
                    "Codex reads a project's .codex folder only once the project is trusted.",
                ),
            },
        ),
        Harness(
            "cursor",
            "Cursor",
            "cursor",
            ("user", "project"),
            _cursor,
            {
                "": (
                    "Restart Cursor, and switch the server on under Settings, MCP.",
                    "Some builds of Cursor refuse hooks of a session's start; the server works.",
                )
            },
        ),
        Harness(
            "vscode",
            "VS Code",
            "code",
            ("user", "project"),
            _vscode,
            {"": ("Run `MCP: List Servers` in VS Code, start the server and trust it.",)},
        ),
        Harness(
            "openclaw",
            "OpenClaw",
            "openclaw",
            ("user",),
            _openclaw,
            {"": ("Run `openclaw mcp reload`, or restart the gateway.",)},
        ),
        Harness(
            "opencode",
            "opencode",
            "opencode",
            ("user", "project"),
            _opencode,
            {"": ("Start a new session; `opencode mcp list` shows the server.",)},
        ),
    )
}
"""The harnesses by id, in the order in which they are listed."""
