"""Keeps agents out of the curated memory, and everything that is long out of all notes."""

from commonplace.plugin import hookimpl

MOST = 2000  # characters


@hookimpl(tryfirst=True)
def commonplace_before_write(path: str, after: str, origin: str) -> str | None:
    """Why an agent must not make this change."""
    if origin == "owner":
        return None
    if path == "MEMORY.md":
        return "only its owner edits MEMORY.md"
    if len(after) > MOST:
        return f"a note of an agent has at most {MOST} characters"
    return None
