"""One agent's QMD: asked through a resident child, or a process for each call."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.deadline import Deadline
    from commonplace.model.plugins import Probe
    from commonplace_qmd.engine.types import (
        Line,
        Mode,
        ModelKind,
        QmdHome,
        QmdStatus,
        Row,
        UpdateCounts,
    )

__all__ = ["Qmd"]


class Qmd:
    """Safe to share between threads; making one runs nothing.

    ``command`` is the program as configured, ``env`` the environment to look for it in, and
    to hand on. ``downloads`` allows :meth:`embed` to fetch a model; a search never does.
    ``resident`` allows a child that stays while we do.
    """

    def __init__(
        self,
        command: str,
        home: QmdHome,
        *,
        env: Mapping[str, str],
        downloads: bool = False,
        resident: bool = True,
    ) -> None:
        raise NotImplementedError

    def probe(self) -> Probe:
        """Whether QMD and a Node new enough for it are there; nothing of QMD's is run.

        What :meth:`status` finds is the truth.
        """
        raise NotImplementedError

    def models(self) -> frozenset[ModelKind]:
        """The models that are on this machine."""
        raise NotImplementedError

    def search(
        self,
        mode: Mode,
        query: str | Sequence[Line],
        *,
        collections: Sequence[str],
        limit: int,
        deadline: Deadline,
    ) -> list[Row]:
        """At most ``limit`` rows of ``collections``, best first.

        Lines are for the mode ``query``. Up to 20 rows may come from the resident child. Raises
        :class:`UnknownCollectionError` if a collection is missing, :class:`QmdTimeoutError`, and
        :class:`QmdError` for all else that keeps QMD from answering honestly.
        """
        raise NotImplementedError

    def update(self, *, deadline: Deadline) -> UpdateCounts:
        """Bring QMD's index up to the files of all collections; one process at a time may.

        A collection whose folder has gone loses its rows: look before. Raises :class:`QmdError`.
        """
        raise NotImplementedError

    def embed(self, *, deadline: Deadline) -> None:
        """Make the vectors that are missing. Raises :class:`QmdError`."""
        raise NotImplementedError

    def status(self, *, deadline: Deadline) -> QmdStatus:
        """Run ``qmd status``: whether QMD works at all. Raises :class:`QmdError`."""
        raise NotImplementedError

    def warm(self, *, deadline: Deadline) -> bool:
        """Start the resident child and wait for it; whether it is there to be asked."""
        raise NotImplementedError

    def close(self) -> None:
        """End every child, also of calls in flight; closing twice is fine."""
        raise NotImplementedError
