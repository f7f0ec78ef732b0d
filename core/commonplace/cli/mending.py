"""What ``commonplace doctor --fix`` does: running the remedy of each check that has one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from attrs import frozen

from commonplace.errors import CommonplaceError, reason_of

if TYPE_CHECKING:
    from commonplace.cli.checks import Check

__all__ = ["Mended", "Mender"]


@frozen
class Mended:
    """What was done about a check, would be done, or could not be done."""

    name: str
    state: Literal["fixed", "would", "failed"]
    message: str


class Mender:
    """Mends checks as they are made, each remedy once.

    With ``dry`` nothing is done. What costs money to make again is dropped only with ``unused``.
    """

    def __init__(self, *, dry: bool, unused: bool) -> None:
        self._dry = dry
        self._unused = unused
        self._seen: set[str] = set()
        self.mended: list[Mended] = []

    @property
    def changed(self) -> bool:
        """Whether anything is other than it was."""
        return not self._dry and bool(self.mended)

    def mend(self, check: Check) -> Mended | None:
        """Run the remedy of ``check``, if it has one that has not been run."""
        remedy = check.remedy
        if remedy is None or remedy.says in self._seen or (remedy.asked and not self._unused):
            return None
        self._seen.add(remedy.says)
        if self._dry:
            done = Mended(check.name, "would", remedy.says)
        else:
            try:
                done = Mended(check.name, "fixed", remedy.run())
            except CommonplaceError as error:
                done = Mended(check.name, "failed", reason_of(error))
            except OSError as error:
                done = Mended(check.name, "failed", str(error))
        self.mended.append(done)
        return done
