"""Sources and chunkers of third parties fail alone, whatever they raise, give or wait."""

from __future__ import annotations

import re
from contextlib import nullcontext
from datetime import datetime, time
from threading import Event
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import UnavailableError
from commonplace.host.sources import GuardedChunker, GuardedSource, scanned_paths
from commonplace.model.chunks import Chunk
from commonplace.model.documents import Document, DocumentRef, ScanReport, Segment

if TYPE_CHECKING:
    from collections.abc import Callable

REF = DocumentRef("odd", "odd/1.md", "1", "one")
DOCUMENT = Document(REF, "a text", "digest")
_DOCUMENT: Any = DOCUMENT
_REF: Any = REF
SHORT = 0.02


def guarded(source: Any, **more: Any) -> GuardedSource:
    return GuardedSource(source, "the source 'odd' of acme", **more)


def odd(**does: Any) -> Any:
    """A source, or a chunker, that does as it is asked to."""
    return SimpleNamespace(
        id="odd", version="1", capabilities=frozenset({"growing", "watched"}), **does
    )


def raises(error: BaseException) -> Callable[..., Any]:
    def give(*_: object) -> Any:
        raise error

    return give


FAULTS: dict[str, Callable[..., Any]] = {
    "raises": raises(KeyError("x")),
    "exits": raises(SystemExit(2)),
    "interrupts": raises(KeyboardInterrupt()),
    "none": lambda *_: None,
}
SCANS: dict[str, Any] = {
    "nothing among documents": ScanReport((None,), ("",)),  # type: ignore[arg-type]
    "of another source": ScanReport((REF._replace(source="memory"),), ("",)),
    "no stamp": ScanReport((REF._replace(stamp=None),), ("",)),  # type: ignore[arg-type]
    "roots that are none": ScanReport((REF,), ("",), failed_roots=("x",)),  # type: ignore[arg-type]
    "complete roots that are none": ScanReport((REF,), (3,)),  # type: ignore[arg-type]
    "no number of links": ScanReport((REF,), ("",), skipped_symlinks=None),  # type: ignore[arg-type]
}
FAULTS |= {name: lambda *_, given=report: given for name, report in SCANS.items()}


@pytest.mark.parametrize("name", FAULTS)
def test_a_scan_that_fails_is_a_root_that_failed(name: str) -> None:
    report = guarded(odd(scan=FAULTS[name])).scan()
    (failure,) = report.failed_roots
    assert failure.reason.startswith("the source 'odd' of acme failed: ")
    assert not report.documents


@pytest.mark.parametrize("name", FAULTS)
def test_a_look_at_some_paths_that_fails_tells_nothing(name: str) -> None:
    report = scanned_paths(guarded(odd(scan_paths=FAULTS[name])), {"/a.md"})
    assert report is None or report.failed_roots
    assert report is None or not report.documents


def test_of_a_path_that_comes_twice_the_first_counts() -> None:
    other = REF._replace(path="odd/2.md")
    found = ScanReport((REF, REF._replace(stamp="two"), other, REF), ("",))
    source = guarded(odd(scan=lambda: found, scan_paths=lambda _: found))
    assert source.scan().documents == (REF, other)
    partly = source.scan_paths({REF.path})
    assert partly is not None
    assert partly.documents == (REF, other)


def test_a_scan_that_hangs_is_given_up_and_not_waited_for_again() -> None:
    done, calls = Event(), []

    def scan() -> ScanReport:
        calls.append(1)
        done.wait(30)
        return ScanReport((REF,), ("",))

    source = guarded(odd(scan=scan), seconds=SHORT)
    assert "did not answer within 0.02 s" in source.scan().failed_roots[0].reason
    assert "has not come back" in source.scan().failed_roots[0].reason
    assert len(calls) == 1
    done.set()


def test_a_lawful_source_passes() -> None:
    report = ScanReport((REF,), ("",))
    source = guarded(odd(scan=lambda: report, read=lambda _: DOCUMENT, watched=lambda: ()))
    assert source.scan() == report
    assert source.read(REF) == DOCUMENT
    assert source.watched() == ()


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("text", "a str for a document"),
        (_DOCUMENT._replace(ref="a"), "a document whose ref is a str, not a DocumentRef"),
        (
            _DOCUMENT._replace(ref=_REF._replace(stamp=1)),
            "a document whose ref.stamp is an int, not a str",
        ),
        (_DOCUMENT._replace(digest=None), "a document whose digest is None, not a str"),
        (_DOCUMENT._replace(text=b"x"), "a document whose text is a bytes, not a str"),
        (_DOCUMENT._replace(tags=(1,)), "a document whose names and tags are not tuples of str"),
        (_DOCUMENT._replace(tags=None), "a document whose names and tags are not tuples of str"),
        (_DOCUMENT._replace(names="ab"), "a document whose names and tags are not tuples of str"),
        (_DOCUMENT._replace(day="2024-01-01"), "a document whose day is a str, not a date or None"),
        (
            _DOCUMENT._replace(day=datetime(2024, 1, 1, 5)),  # noqa: DTZ001 - it is a date, too
            "a document whose day is a datetime, not a date or None",
        ),
        (
            _DOCUMENT._replace(day=time(5)),
            "a document whose day is a time, not a date or None",
        ),
        (_DOCUMENT._replace(trust="owner"), "a document whose trust is 'owner', not one of Trust"),
        (
            _DOCUMENT._replace(line_map=(-7,)),
            "a document whose line_map is not a tuple of int from 1 on",
        ),
        (
            _DOCUMENT._replace(line_map="ab"),
            "a document whose line_map is not a tuple of int from 1 on",
        ),
        (
            _DOCUMENT._replace(text="a\nb\nc\n", line_map=(1,)),
            "a document whose line_map has 1 line for 3",
        ),
    ],
)
def test_what_is_no_document_is_unreadable_and_its_field_is_named(
    document: Any, words: str
) -> None:
    with pytest.raises(OSError, match=f"^the source 'odd' of acme gave {words}$"):
        guarded(odd(read=lambda _: document)).read(REF)


@pytest.mark.parametrize("name", ["raises", "exits", "interrupts"])
def test_a_growing_source_that_fails_is_unreadable_and_due(name: str) -> None:
    source = guarded(odd(segments=FAULTS[name], due=FAULTS[name]))
    assert source.due(REF, "stamp")
    with pytest.raises(OSError, match="'odd' of acme failed"), source.segments(REF):
        pass


@pytest.mark.parametrize(
    ("piece", "words"),
    [
        ("text", "a str for a piece"),
        (None, "None for a piece"),
        (Segment(_DOCUMENT, place=None), "a piece whose place is None, not a str"),  # type: ignore[arg-type]
        (
            Segment(_DOCUMENT._replace(names=7)),
            "a piece with a document whose names and tags are not tuples of str",
        ),
        (
            Segment(_DOCUMENT._replace(text=None)),
            "a piece with a document whose text is None, not a str",
        ),
    ],
)
def test_what_is_no_piece_of_a_document_is_unreadable(piece: Any, words: str) -> None:
    pieces = iter([Segment(DOCUMENT, "here"), piece])
    source = guarded(odd(segments=lambda *_: nullcontext(pieces)))
    with source.segments(REF) as found:
        assert found is not None
        assert next(found) == Segment(DOCUMENT, "here")
        with pytest.raises(OSError, match=f"^the source 'odd' of acme gave {words}$"):
            next(found)


_CHUNK: Any = Chunk(1, 2, "text")


@pytest.mark.parametrize(
    ("chunk", "words"),
    [
        ("text", "a str for a chunk"),
        (_CHUNK._replace(text=None), "a chunk whose text is None, not a str"),
        (_CHUNK._replace(start_line=3), "a chunk of the lines 3 to 2, which must be int from"),
        (_CHUNK._replace(end_line="2"), "a chunk of the lines 1 to '2', which must be int from"),
        (_CHUNK._replace(heading=(1, 2)), "a chunk whose heading is (1, 2), not a tuple of str"),
        (_CHUNK._replace(heading=None), "a chunk whose heading is None, not a tuple of str"),
        (_CHUNK._replace(heading="Title"), "a chunk whose heading is Title, not a tuple of str"),
    ],
)
def test_what_is_no_chunk_is_refused_and_its_field_is_named(chunk: Any, words: str) -> None:
    chunker = odd(fingerprint="odd-1", chunk=lambda _: [_CHUNK._replace(text="x" * 90), chunk])
    with pytest.raises(OSError, match=f"^the chunker of acme gave {re.escape(words)}"):
        GuardedChunker(lambda: chunker, "the chunker of acme").chunk(DOCUMENT)


@pytest.mark.parametrize(
    "name", ["raises", "exits", "interrupts", "none", "texts", "no lines", "no chunk", "beyond"]
)
def test_a_chunker_that_fails_leaves_its_document_unread(name: str) -> None:
    faults = FAULTS | {
        "texts": lambda _: ["text"],
        "no lines": lambda _: [Chunk(0, 0, "text")],
        "no chunk": lambda _: [],
        "beyond": lambda _: [Chunk(1, 1, "text"), Chunk(1000, 2000, "text")],
    }
    chunker = odd(fingerprint="odd-1", chunk=faults[name])
    guarded = GuardedChunker(lambda: chunker, "the chunker of acme")
    assert guarded.fingerprint == "odd-1"
    with pytest.raises(OSError, match="the chunker of acme"):
        guarded.chunk(DOCUMENT)


def test_a_chunker_that_hangs_is_given_up() -> None:
    done = Event()
    chunker = odd(fingerprint="odd-1", chunk=lambda _: done.wait(30))
    guarded = GuardedChunker(lambda: chunker, "the chunker of acme", seconds=SHORT)
    with pytest.raises(OSError, match="did not answer"):
        guarded.chunk(DOCUMENT)
    done.set()


@pytest.mark.parametrize("make", [raises(ValueError("no")), lambda: odd(fingerprint=None)])
def test_without_a_fingerprint_the_index_cannot_be_updated(make: Callable[[], Any]) -> None:
    with pytest.raises(UnavailableError, match="the chunker of acme failed"):
        _ = GuardedChunker(make, "the chunker of acme").fingerprint
