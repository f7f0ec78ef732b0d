"""What laws are tried under: many threads, another process, files without a right to read them."""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from itertools import chain, count
from threading import Barrier, Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from unittest.mock import patch

import pytest

from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

    from commonplace.testing.laws import Laws

Answer = TypeVar("Answer")

_PATIENCE = 120.0  # seconds that another thread or process is waited for
_WAITS = 8  # times that a thread waits within a question
_WHILE = 0.005  # seconds that it waits then, at the most
_STEPS = 200  # lines of the others after which it has waited long enough
_SELDOM = 11  # lines outside of the package before another thread may run


def at_once(
    subject: Any, questions: Sequence[Callable[[], Answer]], times: int = 3
) -> list[list[Answer]]:
    """What each question to ``subject`` is answered, ``times`` times in a thread of its own.

    All threads begin together. Each waits a few times a question before a line of the package of
    ``subject``, long enough that what it left there is found by the others.
    """
    together = Barrier(len(questions))
    tracing = Lock()  # Python raises an error where two threads set their trace functions at once
    steps = [0]
    own = os.path.dirname(getattr(sys.modules[_class_of(subject).__module__], "__file__", "") or "")

    def wait() -> None:
        """Wait until the other threads have come on, or seem to wait as well."""
        until, begun = steps[0] + _STEPS, time.monotonic()
        while steps[0] < until and time.monotonic() < begun + _WHILE:
            time.sleep(_WHILE / 10)

    def traced(question: Callable[[], Answer], every: int, first: int = 0) -> tuple[Answer, int]:
        """The answer, and how many lines of the package it took; before every so many it waits."""
        lines: set[tuple[str, int]] = set()
        others = count(1)

        def unsettle(frame: FrameType, event: str, _: object) -> Any:
            line = frame.f_code.co_filename, frame.f_lineno
            if event == "line" and line[0].startswith(own):
                if line not in lines:
                    lines.add(line)
                    if (len(lines) + first) % every == 0:
                        wait()
                steps[0] += 1
            elif next(others) % _SELDOM == 0:
                time.sleep(0)
            return unsettle

        before = sys.gettrace()
        with tracing:
            sys.settrace(unsettle)
        try:
            return question(), len(lines)
        finally:
            with tracing:
                sys.settrace(before)

    lines = [traced(question, every=sys.maxsize)[1] for question in questions]

    def ask(number: int) -> list[Answer]:
        every = 1 + lines[number] // _WAITS
        together.wait(_PATIENCE)
        return [traced(questions[number], every, number + time_)[0] for time_ in range(times)]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(len(questions)) as pool:
            return list(pool.map(ask, range(len(questions))))
    finally:
        sys.setswitchinterval(interval)


def answers_alike(subject: Any, questions: Sequence[Callable[[], Any]]) -> None:
    """Check that each question is answered in a crowd as it is alone."""
    alone = [question() for question in questions]
    for number, answers in enumerate(at_once(subject, questions)):
        for answer in answers:
            assert answer == alone[number], f"thread {number} was given another answer"


def _class_of(subject: Any) -> type:
    return type(getattr(subject, "_subject", subject))


def cancelled_after(looks: int) -> Deadline:
    """A deadline that is never reached in time, but cancelled after so many looks at it."""
    seen = count()
    return Deadline(1e9, clock=lambda: 0.0, cancelled=lambda: next(seen) >= looks)


LATE: dict[str, Deadline] = {
    "expired": Deadline(0.0, clock=lambda: 1.0),
    "cancelled": Deadline(1e9, clock=lambda: 0.0, cancelled=lambda: True),
}
"""Deadlines with no time left, by why."""


def keeps_descriptors(action: Callable[[], object], times: int = 12) -> None:
    """Check that ``action`` leaves no more files open, however often it is done."""
    if descriptors() is None:
        pytest.skip("this system does not list a process's open files")
    action()
    action()  # what is opened once and kept is open by now
    before = descriptors() or 0
    for _ in range(times):
        action()
    left = (descriptors() or 0) - before
    assert left < times // 2, f"{left} files are left open after {times} times"


def descriptors() -> int | None:
    """How many files this process has open; ``None`` where it is not known."""
    for folder in ("/proc/self/fd", "/dev/fd"):
        with suppress(OSError):
            return len(os.listdir(folder))
    return None


@contextmanager
def unreadable(path: str, root: str) -> Iterator[None]:
    """Take the right to read ``path``, a file or folder; everything else below ``root`` stays.

    An administrator may read anything, so for as long as this lasts the process is another user.
    Skips the law where rights cannot be taken.
    """
    rights, parent = os.stat(path).st_mode, os.path.dirname(root)
    with ExitStack() as stack:
        for folder in (parent, root) if _is_administrator() else ():
            stack.callback(os.chmod, folder, os.stat(folder).st_mode)
            os.chmod(folder, 0o755)  # noqa: S103  to let another user in
        stack.callback(os.chmod, path, rights)
        os.chmod(path, 0)
        if _is_administrator():
            stack.callback(os.seteuid, os.geteuid())
            os.seteuid(65534)
        if os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
            pytest.skip("the rights to a file cannot be taken on this system")
        try:
            os.listdir(root)
        except OSError:
            pytest.skip("temporary folders are closed to other users on this system")
        yield


def _is_administrator() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


class Elsewhere(NamedTuple):
    """A question for another process: the method ``question`` of a suite, and what it is given.

    ``suite`` is found by its module's name, or in the module's ``file``.
    """

    module: str
    file: str
    suite: str
    state: dict[str, Any]
    question: str
    given: tuple[Any, ...]

    def answer(self) -> Any:
        """Ask it here."""
        found: Any = self._module()
        for name in self.suite.split("."):
            found = getattr(found, name)
        laws = found.__new__(found)
        vars(laws).update(self.state)
        return getattr(laws, self.question)(*self.given)

    def _module(self) -> Any:
        with suppress(ImportError):
            return import_module(self.module)
        spec = spec_from_file_location(self.module, self.file)
        assert spec is not None
        assert spec.loader is not None
        made = sys.modules[self.module] = module_from_spec(spec)
        spec.loader.exec_module(made)
        return made


def elsewhere(laws: Laws, subject: Any, question: str, *given: Any) -> list[Any]:
    """What the method ``question`` of ``laws`` answers in two other processes.

    They have other hash seeds and other addresses. Where the suite cannot be made there (it is
    local to a function, or needs what only this process has), it is asked here once more, while
    ``hash`` and ``id`` give other numbers to the modules of ``subject``.
    """
    with suppress(Exception):
        asked = pickle.dumps(_described(laws, question, given))
        return [_process(seed).ask(asked) for seed in (1, 2)]
    with _other_numbers(subject):
        return [getattr(laws, question)(*given)]


def same_elsewhere(laws: Laws, subject: Any, question: str, *given: Any) -> None:
    """Check that what the method ``question`` of ``laws`` answers is the same elsewhere."""
    expected = getattr(laws, question)(*given)
    for answer in elsewhere(laws, subject, question, *given):
        assert answer == expected, "another process answers otherwise"


def _described(laws: Laws, question: str, given: tuple[Any, ...]) -> Elsewhere:
    suite = type(laws)
    state: dict[str, Any] = {}
    plain = (str, bytes, int, float, tuple, dict, list, frozenset, type(None))
    for name, value in chain(vars(suite).items(), vars(laws).items()):
        if name.startswith("__") or name in {"report", "calls", "tick"}:
            continue
        if name in vars(laws) or isinstance(value, plain):
            with suppress(Exception):
                pickle.dumps(value)
                state[name] = value
    file = getattr(sys.modules[suite.__module__], "__file__", "") or ""
    return Elsewhere(suite.__module__, file, suite.__qualname__, state, question, given)


class _Process:
    """A Python process of another hash seed that answers questions, one at a time."""

    def __init__(self, seed: int) -> None:
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(1)
        self._child = subprocess.Popen(  # noqa: S603  this Python
            [sys.executable, "-c", f"from {__name__} import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={
                **os.environ,
                "PYTHONHASHSEED": str(seed),
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
        )
        atexit.register(self.end)

    def ask(self, question: bytes) -> Any:
        """The answer to a pickled question; raises what cannot be answered."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        with self._lock:
            pickle.dump(question, self._child.stdin)
            self._child.stdin.flush()
            answered, answer = self._pool.submit(pickle.load, self._child.stdout).result(_PATIENCE)
        if not answered:
            raise LookupError(answer)
        return answer

    def end(self) -> None:
        """Let the process end."""
        self._child.kill()
        self._child.communicate()
        self._pool.shutdown()


@cache
def _process(seed: int) -> _Process:
    return _Process(seed)


def serve() -> None:
    """Answer questions from standard input until it ends; nothing else may write to the answers."""
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with questions, answers:
        while True:
            try:
                question = pickle.load(questions)  # noqa: S301  from the parent
            except EOFError:
                return
            try:
                answer = True, pickle.loads(question).answer()  # noqa: S301
                raw = pickle.dumps(answer)
            except BaseException as error:  # noqa: BLE001  whatever it is, another one is waiting
                raw = pickle.dumps((False, repr(error)))
            answers.write(raw)
            answers.flush()


@contextmanager
def _other_numbers(subject: Any) -> Iterator[None]:
    """What the modules of ``subject`` call ``hash`` and ``id`` give other numbers meanwhile."""
    with ExitStack() as stack:
        modules = {part.__module__ for part in _class_of(subject).__mro__}
        for name in modules - sys.stdlib_module_names:
            for number in (hash, id):
                stack.enter_context(
                    patch.object(
                        sys.modules[name],
                        number.__name__,
                        lambda value, number=number: number(value) ^ 0x5BD1E995,
                        create=True,
                    )
                )
        yield
