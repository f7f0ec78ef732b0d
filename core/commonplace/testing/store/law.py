"""What all laws of stores stand on: a store in a folder of its own."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar

from commonplace.testing.law import Laws, law

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace.protocols.stores import Store

__all__ = ["StoreLaws", "law"]


class StoreLaws(Laws):
    """What all laws of stores stand on."""

    subject: ClassVar[str] = "store"

    directory: str
    """The folder of the store that a law is looking at."""

    def open_store(self, directory: str) -> Store:
        """Open the store that lives in ``directory``."""
        raise NotImplementedError(f"{type(self).__name__} has to define open_store(directory)")

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """A store in an empty folder."""
        with TemporaryDirectory(prefix="commonplace-") as scratch:
            self.directory = f"{scratch}/store"
            os.mkdir(self.directory)
            with self.opened_again() as store:
                yield store

    @contextmanager
    def opened_again(self) -> Iterator[Store]:
        """The store of this law's folder, opened once more."""
        with closing(self.open_store(self.directory)) as store:
            yield store
