"""What a law is: a method that is given a subject, once or for each of many examples."""

from __future__ import annotations

import socket
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from hypothesis.strategies import SearchStrategy

__all__ = ["Laws", "law", "watched_network"]


class Laws:
    """What all laws stand on, whatever they are about."""

    subject: ClassVar[str] = "subject"
    """What is looked at, in a word."""

    fresh: ClassVar[bool] = True
    """Whether each example gets a subject of its own; otherwise all of a law share one."""

    settings: ClassVar[hypothesis_settings] = hypothesis_settings(
        max_examples=25, stateful_step_count=20
    )
    """How many examples, and the like.

    Deadlines and health checks are always off: how fast a subject is made is not a law.
    """

    def opened(self) -> AbstractContextManager[Any]:
        """A subject, let go of afterwards."""
        raise NotImplementedError(f"{type(self).__name__} has to say how it is opened")

    def declared(self, subject: Any) -> frozenset[str]:
        """What ``subject`` says that it can do."""
        capabilities: frozenset[str] = subject.capabilities
        return capabilities

    def relaxed(self) -> hypothesis_settings:
        """``settings``, but for what would make a slow subject fail."""
        return hypothesis_settings(
            self.settings, deadline=None, suppress_health_check=list(HealthCheck)
        )

    def need(self, subject: Any, *capabilities: str) -> None:
        """Skip the running test unless ``subject`` declares all of ``capabilities``."""
        missing = sorted(set(capabilities) - self.declared(subject)) if capabilities else []
        if missing:
            pytest.skip(f"the {self.subject} does not declare {', '.join(missing)}")


def law(
    *needs: str, **strategies: SearchStrategy[Any]
) -> Callable[[Callable[..., None]], Callable[[Any], None]]:
    """Make a test of a method ``(self, subject, **examples)``.

    Where the subject does not declare ``needs`` the test is skipped.
    """

    def decorate(check: Callable[..., None]) -> Callable[[Any], None]:
        def test(self: Laws) -> None:
            __tracebackhide__ = True
            shared = nullcontext() if self.fresh else self.opened()
            with shared as one:

                def example(**values: object) -> None:
                    __tracebackhide__ = True
                    with self.opened() if self.fresh else nullcontext(one) as subject:
                        self.need(subject, *needs)
                        check(self, subject, **values)

                # Hypothesis tells properties apart by their names.
                example.__name__ = check.__name__
                example.__qualname__ = check.__qualname__
                if strategies:
                    self.relaxed()(given(**strategies)(example))()
                else:
                    example()

        # Not functools.wraps: pytest would look through it and take the subject for a fixture.
        test.__name__ = check.__name__
        test.__qualname__ = check.__qualname__
        test.__doc__ = check.__doc__
        test.__module__ = check.__module__
        return test

    return decorate


@contextmanager
def watched_network() -> Iterator[list[str]]:
    """Let no connection be made meanwhile, and note what was tried."""
    tried: list[str] = []

    def refuse(*asked: Any, **_: Any) -> Any:
        tried.append(repr(asked))
        raise OSError("there is no network just now")

    with ExitStack() as stack:
        for owner, name in (
            (socket.socket, "connect"),
            (socket.socket, "connect_ex"),
            (socket, "create_connection"),
            (socket, "getaddrinfo"),
        ):
            stack.enter_context(patch.object(owner, name, refuse))
        yield tried
