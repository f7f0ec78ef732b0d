"""What is stored of a document that grows, and what is made of its rest."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.index.documents import GrowingDocument, Resume, resume_of
from commonplace.model.chunks import AnalysedChunk, AppendDocument, PutDocument
from commonplace.model.documents import Document, DocumentRef, Segment, Stamp
from commonplace.testing import make_chunk

STAMP: Stamp = "10 1 2 3"
REF = DocumentRef("sessions", "sessions/a.jsonl", "/s/a.jsonl", STAMP)


def analyse(document: Document) -> list[AnalysedChunk]:
    return [make_chunk(word) for word in document.text.split()]


def segment(text: str, place: str = "", day: date | None = None) -> Segment:
    return Segment(Document(REF, text, f"digest of {text}", day, "session"), place)


@given(st.integers(0, 10**9), st.text(min_size=1))
def test_a_place_comes_back_as_it_was(keep: int, place: str) -> None:
    assert resume_of(Resume(keep, place).text) == Resume(keep, place)


@pytest.mark.parametrize("text", ["", " ", "7", "7 ", "x here", "-1 here", "² here", " here"])
def test_invalid_text_is_the_beginning(text: str) -> None:
    assert resume_of(text) == Resume()
    assert Resume().text == ""


def test_a_document_is_put_and_then_gone_on_with() -> None:
    growing = GrowingDocument(REF, "fingerprint", Resume(), analyse)
    parts = [segment("a b", "here"), segment("c", "there")]
    first = growing.change(parts, STAMP, resumable=True)
    assert isinstance(first, PutDocument)
    assert (first.path, first.fingerprint, first.trust) == (REF.path, "fingerprint", "session")
    assert [chunk.chunk.text for chunk in first.chunks] == ["a", "b", "c"]
    assert (first.digest, first.resume, first.day) == ("digest of c", "3 there", None)
    parts = [segment("d", "beyond"), segment("e f", day=date(2026, 1, 31))]
    then = growing.change(parts, STAMP, resumable=True)
    assert isinstance(then, AppendDocument)
    assert [chunk.chunk.text for chunk in then.chunks] == ["d", "e", "f"]
    assert (then.keep, then.resume, then.day) == (3, "4 beyond", "2026-01-31")
    assert (then.digest, then.stamp) == ("digest of e f", STAMP)


def test_what_was_resumed_keeps_what_was_before() -> None:
    growing = GrowingDocument(REF, "fingerprint", Resume(7, "here"), analyse)
    change = growing.change([segment("a b")], STAMP, resumable=True)
    assert isinstance(change, AppendDocument)
    assert (change.keep, change.resume, len(change.chunks)) == (7, "7 here", 2)


def test_a_store_that_cannot_go_on_gets_no_position() -> None:
    growing = GrowingDocument(REF, "fingerprint", Resume(), analyse)
    change = growing.change([segment("a", "here"), segment("b")], STAMP, resumable=False)
    assert isinstance(change, PutDocument)
    assert (change.resume, len(change.chunks)) == ("", 2)
