from __future__ import annotations

import inspect
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import commonplace.testing
from commonplace.errors import how_to_install
from commonplace.model.chunks import Terms
from commonplace.testing import live_build, make_chunk, make_put
from commonplace.testing.base import EVERYWHERE, words
from commonplace.testing.store.lifetime import StoreLaws
from commonplace.testing.strategies import HOSTILE_PATHS, HOSTILE_TOKENS, fold, holds, matching
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable

SUITES = [
    getattr(commonplace.testing, name)
    for name in commonplace.testing.__all__
    if name.endswith("Conformance")
]
LAWS = [
    pytest.param(getattr(suite, name), id=f"{suite.__name__}-{name}")
    for suite in SUITES
    for name in dir(suite)
    if name.startswith("test_")
]


@pytest.mark.parametrize("missing", ["hypothesis", "pytest"])
def test_without_its_extra_the_package_says_what_to_install(missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; import commonplace.testing"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"commonplace.testing needs {missing}" in done.stderr
    assert how_to_install("commonplace[testing]") in done.stderr


@pytest.mark.parametrize("name", commonplace.testing.__all__)
def test_what_is_promised_can_be_imported(name: str) -> None:
    value = getattr(commonplace.testing, name)
    assert getattr(value, "__name__", name) == name


def test_a_wrong_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = commonplace.testing.nonsense  # type: ignore[attr-defined]


def test_there_is_a_suite_for_each_kind() -> None:
    assert len(SUITES) == 6


@pytest.mark.parametrize("law", LAWS)
def test_every_law_says_what_it_asks_and_needs_no_fixture(law: Callable[..., None]) -> None:
    assert law.__doc__
    assert list(inspect.signature(law).parameters) == ["self"]


def test_a_store_that_cannot_be_opened_is_named() -> None:
    class Unfinished(StoreLaws):
        pass

    with pytest.raises(NotImplementedError, match="Unfinished"):
        Unfinished().open_store("nowhere")


def test_chunks_given_as_text_stand_on_consecutive_lines() -> None:
    put = make_put("a.md", "One\ntwo", "three")
    lines = [(piece.chunk.start_line, piece.chunk.end_line) for piece in put.chunks]
    assert lines == [(1, 2), (3, 3)]
    assert [piece.terms.body for piece in put.chunks] == ["one two", "three"]


def test_equal_texts_have_equal_digests_and_headings_tell_them_apart() -> None:
    assert make_chunk("a", line=1).digest == make_chunk("a", line=9).digest
    assert make_chunk("a").digest != make_chunk("a", heading=("b",)).digest


def test_a_store_without_a_live_build_says_so() -> None:
    with pytest.raises(LookupError):
        live_build(InMemoryStore())


def test_hostile_names_are_all_different() -> None:
    assert len(set(HOSTILE_PATHS)) == len(HOSTILE_PATHS)
    assert len({fold(token) for token in HOSTILE_TOKENS}) == len(HOSTILE_TOKENS)


@pytest.mark.parametrize(
    ("phrase", "held"),
    [
        (("ant",), True),
        (("ant", "bee"), True),
        (("bee", "ant"), False),
        (("bee", "cat"), False),
        (("cat",), True),
        (("an",), False),
    ],
)
def test_the_naive_model_reads_phrases_within_one_column(
    phrase: tuple[str, ...], *, held: bool
) -> None:
    assert holds(Terms("ant bee", "cat"), phrase) == held


def test_the_naive_model_names_chunks_by_their_first_lines() -> None:
    put = make_put("a.md", "ant", "bee", "ant")
    found = matching({("memory", "a.md"): put}, words("ant"), EVERYWHERE)
    assert found == {("memory", "a.md", 1), ("memory", "a.md", 3)}
