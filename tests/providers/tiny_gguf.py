"""Writes tiny models with random weights: real GGUF files that llama.cpp loads and runs.

They have no meaning: good for plumbing, limits and threads, never for quality of ranking.
"""

from __future__ import annotations

import random
import string
import struct
from array import array
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DIMS, LAYERS, HEADS, WIDE, CONTEXT = 64, 2, 4, 128, 512
_RANKING = 4  # the pooling of a model that judges pairs: it gets a head for that
_SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_WORDS = ["the", "door", "code", "is", "cat", "tree", "note", "search", "query", "passage"]
_U32, _F32, _BOOL, _STRING, _ARRAY, _I32 = 4, 6, 7, 8, 9, 5


class Writes(Protocol):
    """What the fixture ``gguf`` gives."""

    def __call__(self, path: Path, *, tensors: bool = True, **metadata: object) -> Path:
        """Write a model of BERT's kind; ``metadata`` replaces keys, ``None`` leaves one out.

        ``__`` in a name stands for ``.``: ``general__name="e5"``.
        """
        ...


def _string(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _value(value: object) -> bytes:
    if isinstance(value, list):
        kind = _STRING if isinstance(value[0], str) else _I32
        items = [_string(v) if isinstance(v, str) else struct.pack("<i", v) for v in value]
        return struct.pack("<IIQ", _ARRAY, kind, len(value)) + b"".join(items)
    if isinstance(value, bool):
        return struct.pack("<I?", _BOOL, value)
    if isinstance(value, int):
        return struct.pack("<II", _U32, value)
    if isinstance(value, float):
        return struct.pack("<If", _F32, value)
    return struct.pack("<I", _STRING) + _string(str(value))


def _vocabulary() -> list[str]:
    letters = string.ascii_lowercase + string.digits + string.punctuation
    # A word's begin is marked with U+2581, what goes on is bare.
    starts = ["\u2581" + text for text in (*letters, *_WORDS)]
    return [*_SPECIALS, *starts, *letters]


def _metadata(vocabulary: list[str]) -> dict[str, object]:
    return {
        "general.architecture": "bert",
        "general.name": "tiny",
        "general.file_type": 0,
        "bert.context_length": CONTEXT,
        "bert.embedding_length": DIMS,
        "bert.feed_forward_length": WIDE,
        "bert.block_count": LAYERS,
        "bert.attention.head_count": HEADS,
        "bert.attention.layer_norm_epsilon": 1e-12,
        "bert.attention.causal": False,
        "bert.pooling_type": 1,
        "tokenizer.ggml.model": "bert",
        "tokenizer.ggml.tokens": vocabulary,
        "tokenizer.ggml.token_type": [3] * 5 + [1] * (len(vocabulary) - 5),
        "tokenizer.ggml.token_type_count": 2,
        "tokenizer.ggml.padding_token_id": 0,
        "tokenizer.ggml.unknown_token_id": 1,
        "tokenizer.ggml.bos_token_id": 2,
        "tokenizer.ggml.eos_token_id": 3,
        "tokenizer.ggml.seperator_token_id": 3,  # the format's own spelling
        "tokenizer.ggml.mask_token_id": 4,
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.ggml.add_eos_token": True,
    }


def _tensors(
    words: int, seed: int, *, ranks: bool
) -> dict[str, tuple[tuple[int, ...], array[float]]]:
    chance = random.Random(seed)
    made: dict[str, tuple[tuple[int, ...], array[float]]] = {}

    def matrix(name: str, rows: int, columns: int) -> None:
        scale = columns**-0.5
        numbers = array("f", (chance.gauss(0, scale) for _ in range(rows * columns)))
        made[name] = ((columns, rows), numbers)

    def flat(name: str, size: int, value: float) -> None:
        made[name] = ((size,), array("f", [value]) * size)

    def norm(name: str) -> None:
        flat(f"{name}.weight", DIMS, 1.0)
        flat(f"{name}.bias", DIMS, 0.0)

    def linear(name: str, rows: int, columns: int) -> None:
        matrix(f"{name}.weight", rows, columns)
        flat(f"{name}.bias", rows, 0.0)

    matrix("token_embd.weight", words, DIMS)
    matrix("token_types.weight", 2, DIMS)
    matrix("position_embd.weight", CONTEXT, DIMS)
    norm("token_embd_norm")
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            linear(block + name, DIMS, DIMS)
        norm(block + "attn_output_norm")
        linear(block + "ffn_up", WIDE, DIMS)
        linear(block + "ffn_down", DIMS, WIDE)
        norm(block + "layer_output_norm")
    if ranks:
        linear("cls", DIMS, DIMS)
        linear("cls.output", 1, DIMS)
    return made


def write(path: Path, metadata: Mapping[str, object], *, tensors: bool = True) -> Path:
    """Write the file; without ``tensors`` it has a head and nothing else."""
    vocabulary = _vocabulary()
    kept = {k: v for k, v in {**_metadata(vocabulary), **metadata}.items() if v is not None}
    ranks = kept.get("bert.pooling_type") == _RANKING
    made = _tensors(len(vocabulary), seed=7, ranks=ranks) if tensors else {}
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(made), len(kept))
    head += b"".join(_string(key) + _value(value) for key, value in kept.items())
    data = b""
    for name, (shape, numbers) in made.items():
        head += _string(name) + struct.pack("<I", len(shape))
        head += struct.pack(f"<{len(shape)}QIQ", *shape, 0, len(data))
        data += numbers.tobytes()
        data += b"\0" * (-len(data) % 32)
    head += b"\0" * (-len(head) % 32)
    path.write_bytes(head + data)
    return path


@pytest.fixture(scope="session")
def gguf() -> Writes:
    """Writes tiny models where a test wants them."""

    def make(path: Path, *, tensors: bool = True, **metadata: object) -> Path:
        keys = {name.replace("__", "."): value for name, value in metadata.items()}
        return write(path, keys, tensors=tensors)

    return make


@pytest.fixture(scope="session")
def tiny_gguf(gguf: Writes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of 64 dimensions and 512 tokens; no test may change the file."""
    return gguf(tmp_path_factory.mktemp("models") / "tiny.gguf")
