"""Finds QMD, and a Node that can run it, without running QMD."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace.plugin import NamedTuple
from commonplace_qmd.engine.faults import QmdError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["LEAST_NODE", "LEAST_VERSION", "Program", "check_version", "locate"]

LEAST_NODE = 22
LEAST_VERSION = (2, 8, 3)

_NAME = "@tobilu/qmd"
_ABOVE = 3  # folders between a package's program and its package.json, at most
_NODE_SECONDS = 5.0
_MAJOR = re.compile(r"#define\s+NODE_MAJOR_VERSION\s+(\d+)")
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_INSTALL = f"npm install -g {_NAME}, or set memory.qmd.command to where it is"
_NEWER_NODE = f"install Node {LEAST_NODE} or newer; QMD crashes on older ones"


class Program(NamedTuple):
    """What to start: ``argv`` without arguments; ``version`` is empty where it is not known."""

    argv: tuple[str, ...]
    version: str = ""


def locate(command: str, env: Mapping[str, str]) -> Program:
    """The program behind ``command``, looked for in ``env``'s ``PATH``.

    What npm installs as ``qmd`` only starts another Node and waits: killed, it leaves that one
    running. So QMD's own file is started directly where it can be found. Raises
    :class:`~commonplace_qmd.engine.faults.QmdError`: ``not_installed``, ``wrong_runtime`` or
    ``wrong_version``.
    """
    if os.name == "nt":
        raise QmdError("is driven on Linux and macOS only", reason="not_installed")
    import shutil

    found = shutil.which(command, path=env.get("PATH", os.defpath))
    if found is None and os.path.isfile(command):
        raise QmdError(
            f"{command} is a file that cannot be run",
            reason="not_installed",
            hint=f"chmod +x {command}, or set memory.qmd.command to the program",
        )
    if found is None:
        raise QmdError(f"{command} was not found", reason="not_installed", hint=_INSTALL)
    found = os.path.abspath(found)
    package = _package(os.path.realpath(found))
    if package is None:
        return Program((found,))
    folder, version = package
    check_version(version)
    entry = os.path.join(folder, "dist", "cli", "qmd.js")
    if not os.path.isfile(entry) or not _is_installed_by_npm(folder):
        return Program((found,), version)
    return Program((_node(os.path.dirname(found), env), entry), version)


def check_version(version: str) -> None:
    """Raise :class:`~commonplace_qmd.engine.faults.QmdError` if ``version`` is too old."""
    match = _VERSION.search(version)
    if match is None or tuple(map(int, match.groups())) >= LEAST_VERSION:
        return
    wanted = ".".join(map(str, LEAST_VERSION))
    raise QmdError(
        f"version {match[0]} is too old, {wanted} is the oldest that is understood",
        reason="wrong_version",
        hint=f"npm install -g {_NAME}@latest",
    )


def _package(program: str) -> tuple[str, str] | None:
    """The folder of QMD's package that ``program`` lies in, and its version."""
    folder = os.path.dirname(program)
    for _ in range(_ABOVE):
        with suppress(OSError, ValueError):
            with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
                told = json.load(file)
            if isinstance(told, dict) and told.get("name") == _NAME:
                return folder, str(told.get("version", ""))
        folder = os.path.dirname(folder)
    return None


def _is_installed_by_npm(folder: str) -> bool:
    """Whether the launcher would take Node and ``dist``: Bun's installations have no SQLite for it.

    A checkout may be newer than its ``dist``.
    """
    root, inside, _ = folder.rpartition(f"{os.sep}node_modules{os.sep}")
    if not inside:
        return False
    bun = any(os.path.exists(os.path.join(root, name)) for name in ("bun.lock", "bun.lockb"))
    return not bun or os.path.exists(os.path.join(root, "package-lock.json"))


def _node(beside: str, env: Mapping[str, str]) -> str:
    """A Node that is new enough: the one beside the command was installed with it."""
    old = ""
    for node in _nodes(beside, env):
        major = _node_major(node, env)
        if major is not None and major >= LEAST_NODE:
            return node
        old = old or f"{node} is version {major}" if major is not None else old
    if old:
        raise QmdError(
            f"needs Node {LEAST_NODE}, and {old}", reason="wrong_runtime", hint=_NEWER_NODE
        )
    raise QmdError("Node was not found", reason="wrong_runtime", hint=_NEWER_NODE)


def _nodes(beside: str, env: Mapping[str, str]) -> Iterator[str]:
    seen = set()
    for folder in (beside, *env.get("PATH", os.defpath).split(os.pathsep)):
        node = os.path.join(folder, "node")
        if os.path.isabs(node) and node not in seen and os.access(node, os.X_OK):
            seen.add(node)
            yield node


def _node_major(node: str, env: Mapping[str, str]) -> int | None:
    """The version of ``node``: from the header that comes with it, or else by asking it."""
    above = os.path.dirname(os.path.dirname(os.path.realpath(node)))
    with suppress(OSError):
        header = os.path.join(above, "include", "node", "node_version.h")
        with open(header, encoding="utf-8") as file:
            if match := _MAJOR.search(file.read()):
                return int(match[1])
    import subprocess

    with suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(  # noqa: S603 - a program in the user's own PATH
            [node, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=dict(env),
            timeout=_NODE_SECONDS,
            check=False,
        ).stdout
        if match := _VERSION.search(told):
            return int(match[1])
    return None
