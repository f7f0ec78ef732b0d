from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from commonplace import Memory
from commonplace_audit.auditing import audit
from commonplace_audit.findings import KINDS
from commonplace_audit.staleness import LARGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from commonplace_audit.auditing import Audit
    from commonplace_audit.findings import Kind

NOW = datetime(2026, 10, 1, 12, tzinfo=UTC).timestamp()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "ws"


@pytest.fixture
def audited(workspace: Path, tmp_path: Path) -> Callable[..., Audit]:
    """The audit of notes given by path."""

    def run(notes: Mapping[str, str], *kinds: Kind, largest: int = LARGEST) -> Audit:
        for path, text in notes.items():
            (workspace / path).parent.mkdir(parents=True, exist_ok=True)
            (workspace / path).write_bytes(text.encode())
        env = {"COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
        with Memory.open(workspace=workspace, env=env, clock=lambda: NOW) as memory:
            return audit(memory, kinds=kinds or KINDS, largest=largest)

    return run
