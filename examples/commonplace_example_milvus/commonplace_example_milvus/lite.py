"""The servers that milvus-lite runs inside this process, one for each file."""

from __future__ import annotations

import os
import threading
from collections import Counter

_lock = threading.Lock()
_users: Counter[str] = Counter()
"""How many stores of this process use a file.

Kept for the process, because milvus-lite keeps its servers for the process: it starts one with the
first client of a file, and stops none before the end.
"""


def is_file(uri: str) -> bool:
    """Whether pymilvus takes ``uri`` for a file."""
    return uri.endswith(".db")


def take(path: str) -> None:
    """Count one user of the file ``path`` more."""
    with _lock:
        _users[os.path.abspath(path)] += 1


def let_go(path: str) -> None:
    """Count one user less; with the last one, stop the server, so that others can have the file."""
    path = os.path.abspath(path)
    with _lock:
        _users[path] -= 1
        if _users[path] > 0:
            return
        del _users[path]
        from milvus_lite.server_manager import server_manager_instance

        server_manager_instance.release_server(path)
