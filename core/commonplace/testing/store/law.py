"""What a law is: a method that is given a fresh store, once or for each of many examples."""

from __future__ import annotations

from contextlib import closing, contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hypothesis.strategies import SearchStrategy

    from commonplace.spec import Store

__all__ = ["StoreLaws", "law", "need"]


class StoreLaws:
    """What all laws of stores stand on."""

    settings: ClassVar[hypothesis_settings] = hypothesis_settings(
        max_examples=25, stateful_step_count=20
    )
    """How many examples, and the like.

    Deadlines and health checks are always off: how fast a store opens is not a law.
    """

    directory: str
    """The folder of the store that a law is looking at."""

    def open_store(self, directory: str) -> Store:
        """Open the store that lives in ``directory``."""
        raise NotImplementedError(f"{type(self).__name__} has to define open_store(directory)")

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """A store in an empty folder."""
        with TemporaryDirectory(prefix="commonplace-") as self.directory, self.opened_again() as it:
            yield it

    @contextmanager
    def opened_again(self) -> Iterator[Store]:
        """The store of this law's folder, opened once more."""
        with closing(self.open_store(self.directory)) as store:
            yield store

    def relaxed(self) -> hypothesis_settings:
        """``settings``, but for what would make a slow store fail."""
        return hypothesis_settings(
            self.settings, deadline=None, suppress_health_check=list(HealthCheck)
        )


def need(store: Store, *capabilities: str) -> None:
    """Skip the running test unless ``store`` declares all of ``capabilities``."""
    missing = sorted(set(capabilities) - store.capabilities)
    if missing:
        pytest.skip(f"the store does not declare {', '.join(missing)}")


def law(
    *needs: str, **strategies: SearchStrategy[Any]
) -> Callable[[Callable[..., None]], Callable[[Any], None]]:
    """Make a test of a method ``(self, store, **examples)``.

    The store is fresh for every example. Where it does not declare ``needs`` the test is skipped.
    """

    def decorate(check: Callable[..., None]) -> Callable[[Any], None]:
        def test(self: StoreLaws) -> None:
            __tracebackhide__ = True

            def example(**values: object) -> None:
                __tracebackhide__ = True
                with self.opened() as store:
                    need(store, *needs)
                    check(self, store, **values)

            # Hypothesis tells properties apart by their names.
            example.__name__ = check.__name__
            example.__qualname__ = check.__qualname__
            if strategies:
                self.relaxed()(given(**strategies)(example))()
            else:
                example()

        # Not functools.wraps: pytest would look through it and take `store` for a fixture.
        test.__name__ = check.__name__
        test.__qualname__ = check.__qualname__
        test.__doc__ = check.__doc__
        test.__module__ = check.__module__
        return test

    return decorate
