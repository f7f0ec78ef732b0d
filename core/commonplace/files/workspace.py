"""Whether a workspace is there at all, said before anything is looked for in it."""

from __future__ import annotations

import os

from commonplace.errors import WorkspaceError

__all__ = ["check_workspace"]


def check_workspace(workspace: str) -> None:
    """Raise :class:`~commonplace.errors.WorkspaceError` where it is no folder that can be read."""
    try:
        os.scandir(workspace).close()
    except NotADirectoryError as error:
        raise WorkspaceError(
            f"the workspace {workspace} is not a folder",
            hint="pass the folder that holds MEMORY.md and memory/ with --workspace",
        ) from error
    except FileNotFoundError as error:
        raise WorkspaceError(
            f"the workspace {workspace} does not exist",
            hint=f"create it (mkdir -p {workspace}/memory) or pass another one with --workspace",
        ) from error
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise WorkspaceError(
            f"the workspace {workspace} cannot be read: {reason}",
            hint="see that this user may read it, or pass another one with --workspace",
        ) from error
