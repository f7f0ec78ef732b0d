"""Reading the head of a GGUF file, and its family."""

from __future__ import annotations

import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace_local.gguf import BrokenFileError, read_metadata
from commonplace_local.references import PLAIN, family_of

if TYPE_CHECKING:
    from pathlib import Path


def test_scalars_and_strings_are_read_and_lists_left_out(tiny_gguf: Path) -> None:
    reported = read_metadata(str(tiny_gguf), whole=True)
    assert reported["general.architecture"] == "bert"
    assert reported["bert.context_length"] == 512
    assert reported["bert.attention.causal"] is False
    assert reported["bert.attention.layer_norm_epsilon"] == pytest.approx(1e-12)
    assert reported["tokenizer.ggml.mask_token_id"] == 4
    assert "tokenizer.ggml.tokens" not in reported


def test_the_words_of_the_tokenizer_are_not_read_unless_asked_for(tiny_gguf: Path) -> None:
    reported = read_metadata(str(tiny_gguf), whole=False)
    assert reported["general.name"] == "tiny"
    assert not any(key.startswith("tokenizer.") for key in reported)


@pytest.fixture(scope="module")
def head(gguf: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A file to spoil, with the bytes of a good one that is all head."""
    folder = tmp_path_factory.mktemp("heads")
    good = gguf(folder / "good.gguf", tensors=False)
    return folder / "spoilt.gguf", good.read_bytes()


@settings(max_examples=60)
@given(data=st.data())
def test_a_head_cut_anywhere_is_reported(head: tuple[Path, bytes], data: st.DataObject) -> None:
    path, good = head
    whole = len(good.rstrip(b"\0")) - 8
    path.write_bytes(good[: data.draw(st.integers(0, whole))])
    with pytest.raises(BrokenFileError):
        read_metadata(str(path), whole=True)


@settings(max_examples=60)
@given(data=st.data())
def test_a_damaged_head_is_read_or_reported_and_nothing_else(
    head: tuple[Path, bytes], data: st.DataObject
) -> None:
    path, good = head
    raw = bytearray(good)
    place = data.draw(st.integers(0, min(len(raw), 900) - 1))
    raw[place] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    with suppress(BrokenFileError):
        assert isinstance(read_metadata(str(path), whole=True), dict)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "empty"),
        (b"PK\3\4 a zip file", "no GGUF file"),
        (b"GG", "no GGUF file"),
        (b"GGUF", "cut short"),
        (struct.pack("<4sI", b"GGUF", 99), "version 99"),
        (struct.pack("<4sIQQ", b"GGUF", 3, 0, 1 << 60), "damaged"),
        (struct.pack("<4sIQQ", b"GGUF", 3, 1 << 60, 0), "damaged"),
        (struct.pack("<4sIQQQ", b"GGUF", 3, 0, 1, 1 << 50), "damaged"),
        (struct.pack("<4sIQQQ1sI", b"GGUF", 3, 0, 1, 1, b"a", 77), "damaged"),
    ],
)
def test_what_is_no_model_is_reported_in_a_few_words(
    tmp_path: Path, raw: bytes, words: str
) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(raw)
    with pytest.raises(BrokenFileError, match=words):
        read_metadata(str(path), whole=True)


@pytest.mark.parametrize(
    ("names", "family"),
    [
        (("Embeddinggemma 300M", "gemma-embedding"), "embeddinggemma"),
        (("x", "gemma-embedding"), "embeddinggemma"),
        (("hf:ggml-org/embeddinggemma-300m-qat-q8_0-GGUF/e.gguf",), "embeddinggemma"),
        (("nomic-embed-text-v1.5.Q8_0.gguf", "nomic-bert"), "nomic"),
        (("Bge Base En v1.5", "bert"), "bge-en"),
        (("bge-m3", "bert"), "bge-m3"),
        (("multilingual_e5_large",), "e5"),
        (("All MiniLM L6 v2", "bert"), "minilm"),
        (("Qwen3-Embedding-0.6B",), "qwen3"),
        (("tiny", "bert"), "plain"),
        ((), "plain"),
    ],
)
def test_names_tell_of_families(names: tuple[str, ...], family: str) -> None:
    assert family_of(*names).name == family


def test_prompts_are_those_of_the_model_cards() -> None:
    gemma = family_of("embeddinggemma")
    assert gemma.query == "task: search result | query: "
    assert gemma.document == "title: none | text: "
    assert (family_of("e5-base").query, family_of("e5-base").document) == ("query: ", "passage: ")
    assert family_of("bge-small-en").document == ""
    assert (PLAIN.query, PLAIN.document) == ("", "")
