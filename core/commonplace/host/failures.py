"""What went wrong in the code of a plugin, in words: what it raised, lacked, or gave wrongly.

A library that is missing is named with the extra of the plugin's distribution that brings it, and
a wrong value with its field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, get_args

from commonplace.errors import (
    CommonplaceError,
    DeadlineExceededError,
    PluginUnavailableError,
    counted,
    how_to_install,
    reason_of,
)
from commonplace.host.switches import canonical
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from logging import Logger

    from commonplace.host.discovery import EntryPoint
    from commonplace.model.documents import Document, ScanReport


R = TypeVar("R")

FACTORY_SECONDS = 10.0
"""How long a factory of a third party may take."""

_BOUNDED = frozenset({"backend", "provider", "ranker", "source", "tool"})
"""Kinds whose factories are given up here. Chunkers are made inside of calls that are given up
themselves; commands are made where the command line is read."""


class Failure(NamedTuple):
    """What went wrong in a plugin: one line for people, the traceback, and the error itself.

    ``hint`` is how to put it right, where that is known.
    """

    error: str
    traceback: str = ""
    cause: BaseException | None = None
    hint: str = ""


def attempt(work: Callable[[], R]) -> R | Failure:
    """The result of ``work``, which runs a plugin's code; or its failure, of whatever kind.

    A plugin that calls ``sys.exit`` has failed, too. The user's Ctrl-C passes.
    """
    try:
        return work()
    except BaseException as error:  # noqa: BLE001 - any fault of a plugin is kept for the report instead of ending the program
        from traceback import format_exception

        from commonplace.resilience.bounded_call import failure_of

        return Failure(failure_of(error), "".join(format_exception(error)), error)


def guarded_factory(
    kind: str, id_: str, plugin: str, entry: EntryPoint | None, factory: Callable[..., Any]
) -> Callable[..., Any]:
    """``factory`` of the part ``id_`` of a third party; ``plugin`` names it in messages.

    A library that is missing is reported with how to install it, where ``entry`` is known. Where
    no call that is given up surrounds it, it runs on a thread of its own.
    """
    part = f"{kind} {id_!r}"

    def make(*context: Any) -> Any:
        try:
            return factory(*context)
        except ModuleNotFoundError as error:
            hint = entry and library_hint(error, entry.module, entry.distribution, entry.extras)
            if not hint:
                raise
            # In words of our own: those of the error may hold what the factory was given.
            raise PluginUnavailableError(
                f"{part} of {plugin} failed: No module named {error.name!r}", hint=hint
            ) from error

    return _bounded(part, plugin, make) if kind in _BOUNDED else make


def _bounded(part: str, plugin: str, factory: Callable[..., R]) -> Callable[..., R]:
    """``factory``, on a thread of its own, which is given up after some seconds.

    While one call has not come back, the next ones fail at once.
    """
    from commonplace.resilience.bounded_call import Worker
    from commonplace.resilience.deadline import Deadline

    worker = Worker(f"the factory of {part} of {plugin}", patient=False)

    def make(*context: Any) -> R:
        try:
            return worker.run(lambda: factory(*context), Deadline.after(FACTORY_SECONDS))
        except DeadlineExceededError as error:
            raise PluginUnavailableError(
                str(error), hint=f"update or uninstall {plugin}"
            ) from error

    return make


def library_hint(
    cause: BaseException | None, module: str, distribution: str, extras: str = ""
) -> str:
    """How to install the library without which the plugin ``module`` failed by ``cause``.

    ``""`` where it failed by something else, such as a module of its own that is missing.
    ``extras`` are those of ``distribution`` that the plugin is known to need.
    """
    if not (isinstance(cause, ImportError) and cause.name):
        return ""
    library = cause.name.partition(".")[0]
    if library == module.partition(".")[0]:
        return ""
    if extras := extras or _extra_with(library, distribution):
        return how_to_install(f"{distribution}[{extras}]")
    return f"install {library}, which {distribution} needs"


def _extra_with(library: str, distribution: str) -> str:
    """The extra of ``distribution`` that brings ``library``, or ``""``."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        requirements = requires(distribution) or []
    except (PackageNotFoundError, ValueError):
        return ""
    for requirement in requirements:
        name, _, condition = requirement.partition(";")
        _, extra, value = condition.partition("extra ==")
        for stop in " <>=!~[(@":
            name = name.partition(stop)[0]
        if extra and canonical(name) == canonical(library):
            return value.strip(" ()").split()[0].strip("'\"")
    return ""


def logger() -> Logger:
    """The logger ``commonplace``; the program decides where it goes, not Python's last resort."""
    import logging

    log = logging.getLogger("commonplace")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
    return log


_LOGGED: set[str] = set()


def log_once(part: str, note: str) -> None:
    """Log the first failure of a part alone: later ones may say the same in other words."""
    if part not in _LOGGED:
        _LOGGED.add(part)
        logger().warning(note)


def failed_scan(source: str, label: str, error: BaseException) -> ScanReport:
    """The report of a source whose scan raised ``error``: all of it is a root that failed."""
    from commonplace.model.documents import RootFailure, ScanReport
    from commonplace.resilience.bounded_call import failure_of

    reason = reason_of(error) if isinstance(error, CommonplaceError) else failure_of(error)
    note = f"{label} failed: {reason}"
    log_once(f"source {source}", note)
    return ScanReport((), (), failed_roots=(RootFailure("", note, source, source_failed=True),))


def scan_fault(report: Any) -> str:
    """What the scan of a source gave instead of a report, or instead of a document's reference."""
    from commonplace.model.documents import DocumentRef, ScanReport

    if type(report) is not ScanReport:
        return f"its scan gave a {type(report).__name__}"
    for ref in report.documents:
        if type(ref) is not DocumentRef or type(ref.path) is not str or not ref.path:
            return f"its scan gave {type(ref).__name__} {str(ref)[:60]!r} for a document"
    return "its scan gave documents that cannot be read twice"


def document_fault(document: Any) -> str:
    """What a source gave instead of a document, with the field that is wrong; or ``""``."""
    from commonplace.model.documents import Document, DocumentRef

    if type(document) is not Document:
        return f"{kind_of(document)} for a document"
    ref = document.ref
    if type(ref) is not DocumentRef:
        return f"a document whose ref is {kind_of(ref)}, not a DocumentRef"
    texts = {"ref.stamp": ref.stamp, "text": document.text, "digest": document.digest}
    for name, text in (*texts.items(), ("title", document.title)):
        if type(text) is not str:
            return f"a document whose {name} is {kind_of(text)}, not a str"
    given: tuple[Any, ...] = document.names, document.tags
    for words in given:
        if not isinstance(words, tuple | list) or not all(type(word) is str for word in words):
            return "a document whose names and tags are not tuples of str"
    return _facts_fault(document)


def _facts_fault(document: Document) -> str:
    from commonplace.model.documents import Trust

    if document.day is not None and not _is_day(document.day):
        return f"a document whose day is {kind_of(document.day)}, not a date or None"
    if document.trust not in get_args(Trust):
        return f"a document whose trust is {str(document.trust)[:40]!r}, not one of Trust"
    return _line_map_fault(document.line_map, document.text)


def _is_day(value: Any) -> bool:
    """Whether it is a date without a time: that of a ``datetime`` would stand in every answer."""
    from datetime import date, datetime

    return isinstance(value, date) and not isinstance(value, datetime)


def _line_map_fault(line_map: Any, text: str) -> str:
    if line_map is None:
        return ""
    numbers = isinstance(line_map, tuple | list) and all(type(one) is int for one in line_map)
    if not numbers or min(line_map, default=1) < 1:
        return "a document whose line_map is not a tuple of int from 1 on"
    lines = text.removesuffix("\n").count("\n") + (text != "")
    if len(line_map) < lines:
        return f"a document whose line_map has {counted(len(line_map), 'line')} for {lines}"
    return ""


def hit_fault(hit: Any) -> str:
    """What a ranker gave instead of a hit, with the field that is wrong."""
    from commonplace.model.search import Candidate, Explanation, StoredChunk

    if not isinstance(hit, Candidate):
        return f"{kind_of(hit)} for a hit"
    for name, right in (("chunk", StoredChunk), ("explain", Explanation)):
        if not isinstance(part := getattr(hit, name), right):
            return f"a hit whose {name} is {kind_of(part)}, not of type {right.__name__}"
    return f"a hit whose lines are {str(hit.lines)[:40]!r}, not two int"


def answer_fault(result: object, expected: type) -> str:
    """What is wrong with what a hook returned, where ``expected`` is what it may; or ``""``."""
    from commonplace.model.search import ArmFacts, Hit, SearchResult, UnknownWord

    if not isinstance(result, expected):
        return f"it returned a value of type {type(result).__name__}"
    parts = {"hits": Hit, "notes": str, "arms": ArmFacts, "unknown": UnknownWord}
    for name, type_ in parts.items() if isinstance(result, SearchResult) else ():
        values = getattr(result, name)
        if not isinstance(values, tuple | list) or any(not isinstance(v, type_) for v in values):
            return f"it returned a result whose {name} are not a tuple of {type_.__name__}"
    return ""


def kind_of(value: object) -> str:
    """A value that a plugin gave, by its type alone: it may be a text of the user's."""
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def failure_words(error: BaseException) -> str:
    """What a plugin's code raised, in one line: see :func:`~.bounded_call.failure_of`."""
    from commonplace.resilience.bounded_call import failure_of  # imports threading

    return failure_of(error)
