"""Where a setting came from, and what is wrong with one."""

from __future__ import annotations

from attrs import frozen

__all__ = ["ConfigProblem"]


@frozen
class ConfigProblem:
    """One thing wrong in a configuration. ``line`` is 1-based, 0 where it is not known."""

    file: str
    line: int
    key: str
    message: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.key}: {self.message}" if self.key else f"{where}: {self.message}"
