"""Laws of sources under pressure: size, threads, files that may not be read, another process."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, cast

import pytest

from commonplace.testing.base import Workspace
from commonplace.testing.laws import law
from commonplace.testing.pressure import (
    answers_alike,
    keeps_descriptors,
    same_elsewhere,
    unreadable,
)
from commonplace.testing.source_laws import SourceLaws, planned

if TYPE_CHECKING:
    from commonplace.protocols.parts import GrowingSource, Source


_MANY = 300
_REFUSED = "OSError from open() and scandir() must neither be swallowed nor end the scan"


class PressureLaws(SourceLaws):
    """Many documents, large ones, and ones that may not be read."""

    hint = "look for fixed sizes, and for what outlives a call: open files, attributes, hash()"

    @law()
    def test_threads_read_the_same(self, source: Source) -> None:
        """Reads of other documents in several threads, and scans meanwhile, do not meet."""
        names = [f"n{number}" for number in range(6)]
        for name in names:
            self.put(name, f"the ant {name}")
        refs = [self.ref(source, name) for name in names]
        assert None not in [source.read(ref) for ref in refs]
        answers_alike(source, [*(partial(source.read, ref) for ref in refs), source.scan])

    @law()
    def test_a_document_may_be_large(self, source: Source) -> None:
        """Hundreds of kilobytes are read to their end, and their checksum is of all of them."""
        text = f"begin {'the ant and the bee ' * 40_000}end."
        self.put("a", text)
        document = self.read(source, "a")
        assert document.text.count("bee") == 40_000
        assert "end." in document.text
        self.put("b", f"{text}!")
        assert self.read(source, "b").digest != document.digest
        if self.of_files:
            assert document.digest == sha256(self.bytes_of(text)).hexdigest()

    @law()
    def test_there_may_be_many_documents(self, source: Source) -> None:
        """Hundreds are all found, each with its own text, and as many known to be gone."""
        names = [f"n{number}" for number in range(_MANY)]
        for name in names:
            self.put(name, f"the ant called {name}.")
        before = source.scan()
        assert len({ref.path for ref in before.documents}) == len(before.documents) == _MANY
        for name in names[::37]:
            assert f"the ant called {name}." in self.read(source, name).text
        for name in names[1:]:
            self.remove(name)
        plan = planned(source, before)
        assert (len(plan.gone), plan.unchanged, plan.hidden) == (_MANY - 1, 1, 0)

    @law("files", hint=_REFUSED)
    def test_a_file_that_may_not_be_read_is_an_error(self, source: Source) -> None:
        """``OSError``: neither ``None``, which means gone, nor an empty text; others are read."""
        self.put("a", "the ant")
        self.put("b", "the bee")
        expected = [self.read(source, name) for name in "ab"]
        with unreadable(self.location("a"), self.files.path):
            assert self.read(source, "b") == expected[1]
            ref = self.ref(source, "a")
            with pytest.raises(OSError, match=r"."):
                source.read(ref)
        assert self.read(source, "a").text == expected[0].text

    @law("files", hint=_REFUSED)
    def test_a_folder_that_may_not_be_read_hides_its_documents(self, source: Source) -> None:
        """Nothing below it is taken for deleted, all else is seen, and the failure is named."""
        for name in "ab":
            self.put(name, "the ant")
        folder = os.path.dirname(self.location("a"))
        inner = os.path.join(folder, "inner")
        deep = os.path.join(inner, os.path.basename(self.location("c")))
        self.files.write(os.path.relpath(deep, self.files.path), self.bytes_of("the bee"))
        before = source.scan()
        for path in (inner, folder):
            below = [ref for ref in before.documents if ref.location.startswith(f"{path}/")]
            with unreadable(path, self.files.path):
                plan, report = planned(source, before), source.scan()
            assert (plan.gone, plan.hidden) == ((), len(below))
            assert plan.unchanged == len(before.documents) - len(below)
            assert not below or report.failed_roots or report.absent_roots, "nothing says why"
        assert len(source.scan().documents) == len(before.documents)

    @law()
    def test_no_file_is_left_open(self, source: Source) -> None:
        """However often it scans and reads, also what is gone or is no text."""
        for name in "abc":
            self.put(name, "the ant")
        if self.of_files:
            self.files.write(self.file_of("b"), b"\xff\xfe\x00 no text")
        gone = self.ref(source, "c")
        self.remove("c")

        def use() -> None:
            self.read(source, "a")
            source.read(gone)
            with suppress(OSError):
                self.read(source, "b")
            if "growing" in source.capabilities:
                growing = cast("GrowingSource", source)
                for ref in (self.ref(source, "a"), gone):
                    with growing.segments(ref) as segments:
                        next(iter(segments or ()), None)

        keeps_descriptors(use)

    @law("files")
    def test_another_process_reads_the_same(self, source: Source) -> None:
        """Version, paths, texts and places hang on no hash seed and no address: they are kept."""
        for name in ("a", "b.c", "2026-01-31"):
            self.put(name, f"the ant {name} " * 2_000)
        same_elsewhere(self, source, "_all_there_is", self.files.path)

    def _all_there_is(self, workspace: str) -> object:
        self.files = Workspace(workspace)
        source = self.waiting(0, 0)
        report = source.scan()
        places: list[str] = []
        if "growing" in source.capabilities:
            for ref in report.documents:
                with cast("GrowingSource", source).segments(ref) as segments:
                    places += [segment.place for segment in segments or ()]
        return source.id, source.version, report, [*map(source.read, report.documents)], places
