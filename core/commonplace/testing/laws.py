"""What a law is: how it runs, how thoroughly, and what it reports while it runs and when it fails.

A failure says which sentence is broken, which calls came last, and where to look. A law that takes
long reports how far it is. The environment's ``COMMONPLACE_TESTING_PROFILE`` (``quick``,
``default`` or ``thorough``) says how many examples each law gets.
"""

from __future__ import annotations

import os
import time
from collections import deque
from contextlib import contextmanager, nullcontext
from inspect import cleandoc
from reprlib import Repr
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from hypothesis.strategies import SearchStrategy


PROFILES = {"quick": 0.2, "default": 1.0, "thorough": 8.0}
"""By name, how many times the usual number of examples a law gets."""

_ENVIRONMENT = "COMMONPLACE_TESTING_PROFILE"
_SHOWN = 8  # calls that a failure lists


class Calls:
    """The last calls of a law, and how many there were."""

    def __init__(self) -> None:
        self.total = 0
        self._last: deque[list[Any]] = deque(maxlen=_SHOWN)

    def begin(self, name: str, positional: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        """Note a call; the list is completed with what came of it."""
        self.total += 1
        call = [name, positional, named]
        self._last.append(call)
        return call

    def lines(self) -> list[str]:
        """The calls as text, the oldest first."""
        return [_line(*call) for call in self._last]


class Observed:
    """A subject whose calls are noted; everything else is the subject's own."""

    def __init__(self, subject: Any, laws: Laws) -> None:
        self._subject, self._laws = subject, laws

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._subject, name)
        if name.startswith("_") or not callable(value):
            return value

        def call(*positional: Any, **named: Any) -> Any:
            __tracebackhide__ = True
            self._laws.before(self._subject, name)
            noted = self._laws.calls.begin(name, positional, named)
            self._laws.tick()
            try:
                answer = value(*positional, **named)
            except BaseException as error:
                noted.append(error)
                raise
            noted.append(answer)
            return answer

        return call

    def __repr__(self) -> str:
        return repr(self._subject)


_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 60
_SHORT.maxlevel = 3


def _line(name: str, positional: tuple[Any, ...], named: dict[str, Any], *answer: Any) -> str:
    given = [_SHORT.repr(value) for value in positional]
    given += [f"{key}={_SHORT.repr(value)}" for key, value in named.items()]
    came = ""
    if answer:
        raised = isinstance(answer[0], BaseException)
        came = f" raised {answer[0]!r}" if raised else f" -> {_SHORT.repr(answer[0])}"
    return _cut(f"{name}({', '.join(given)})", 160) + _cut(came, 120)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


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

    profile: ClassVar[str] = ""
    """``quick``, ``default`` or ``thorough``; ``""``: as the environment says."""

    patience: ClassVar[float] = 5.0
    """Seconds between two lines on the progress of a law that takes long."""

    hint: ClassVar[str] = "the docstring of the protocol in commonplace.plugin says what is asked"
    """Where to look when a law of this class fails."""

    report: Callable[[str], object] | None = None
    """Takes the lines on progress; under pytest the terminal's."""

    calls: Calls = Calls()
    tick: Callable[[], object] = int
    """Called at each call of the subject: reports progress now and then."""

    @pytest.fixture(autouse=True)
    def _reported(self, request: pytest.FixtureRequest) -> None:
        terminal = request.config.pluginmanager.get_plugin("terminalreporter")
        capture = request.config.pluginmanager.get_plugin("capturemanager")
        if terminal is None:
            return

        def report(line: str) -> None:
            with capture.global_and_fixture_disabled() if capture else nullcontext():
                terminal.write_line(line)

        self.report = report

    def opened(self) -> AbstractContextManager[Any]:
        """A subject, let go of afterwards."""
        raise NotImplementedError(f"{type(self).__name__} has to say how it is opened")

    def observed(self, subject: Any) -> Any:
        """``subject``, with its calls noted for the report of a failure."""
        return subject if isinstance(subject, Observed) else Observed(subject, self)

    def before(self, subject: Any, call: str) -> None:
        """What has to be done before each call of the subject; usually nothing."""

    def declared(self, subject: Any) -> frozenset[str]:
        """What ``subject`` says that it can do."""
        capabilities: frozenset[str] = subject.capabilities
        return capabilities

    def scale(self) -> float:
        """How many times the usual number of examples a law gets; see :data:`PROFILES`."""
        name = self.profile or os.environ.get(_ENVIRONMENT, "") or "default"
        if name not in PROFILES:
            known = ", ".join(PROFILES)
            raise pytest.UsageError(f"{_ENVIRONMENT}={name}: there is no such profile ({known})")
        return PROFILES[name]

    def relaxed(self) -> hypothesis_settings:
        """``settings`` by the profile, but for what would make a slow subject fail."""
        return hypothesis_settings(
            self.settings,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            max_examples=max(1, round(self.settings.max_examples * self.scale())),
        )

    def need(self, subject: Any, *capabilities: str) -> None:
        """Skip the running test unless ``subject`` declares all of ``capabilities``."""
        missing = sorted(set(capabilities) - self.declared(subject)) if capabilities else []
        if missing:
            pytest.skip(f"the {self.subject} does not declare {', '.join(missing)}")

    def running(self, name: str) -> Callable[[], None]:
        """Begin a law; what is returned is called at the beginning of each example."""
        begun = reported = time.monotonic()
        examples = 0

        def tick() -> None:
            nonlocal reported
            now = time.monotonic()
            if self.report is not None and now - reported >= self.patience:
                reported = now
                words = name.removeprefix("test_").replace("_", " ")
                self.report(
                    f"{type(self).__name__}, {words}: {now - begun:.0f} s, "
                    f"example {examples}, {self.calls.total} calls"
                )

        def example() -> None:
            nonlocal examples
            examples += 1
            self.calls = Calls()
            tick()

        self.calls, self.tick = Calls(), tick
        return example

    @contextmanager
    def explained(self, sentence: str, hint: str) -> Iterator[None]:
        """Add to an error the sentence of the law, the last calls, and where to look."""
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:
            if not any(note.startswith("The law: ") for note in getattr(error, "__notes__", ())):
                last = [f"  {line}" for line in self.calls.lines()] or ["  none"]
                error.add_note("\n".join((f"The law: {sentence}", "The last calls:", *last)))
                error.add_note(f"Hint: {hint}")
            raise


def law(
    *needs: str, hint: str = "", **strategies: SearchStrategy[Any]
) -> Callable[[Callable[..., None]], Callable[[Any], None]]:
    """Make a test of a method ``(self, subject, **examples)``, skipped without its ``needs``.

    ``hint`` says where to look when it fails, if the class's own is not enough.
    """

    def decorate(check: Callable[..., None]) -> Callable[[Any], None]:
        def test(self: Laws) -> None:
            __tracebackhide__ = True
            sentence = " ".join(cleandoc(check.__doc__ or "").split("\n\n")[0].split())
            where = hint or _hint_of(type(self), check)
            shared = nullcontext() if self.fresh else self.opened()
            begin = self.running(check.__name__)
            with shared as one:

                def example(**values: object) -> None:
                    __tracebackhide__ = True
                    begin()
                    with (
                        self.explained(sentence, where),
                        self.opened() if self.fresh else nullcontext(one) as subject,
                    ):
                        self.need(subject, *needs)
                        check(self, self.observed(subject), **values)

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


def _hint_of(suite: type[Laws], check: Callable[..., None]) -> str:
    """The hint of the class that the law stands in."""
    owner = check.__qualname__.rpartition(".")[0]
    for part in suite.__mro__:
        if part.__qualname__ == owner and part.__module__ == check.__module__:
            hint: str = getattr(part, "hint", "")
            return hint
    return suite.hint
