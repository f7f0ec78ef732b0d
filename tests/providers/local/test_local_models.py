"""Running a real model: vectors, prompts, limits, bad files."""

from __future__ import annotations

import math
import os
import shutil
import sys
import threading
from array import array
from typing import TYPE_CHECKING, Any, Literal

import pytest

from commonplace.errors import ProviderError
from commonplace.resilience.deadline import NEVER, Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from commonplace_local.provider import LocalProvider

pytestmark = pytest.mark.usefixtures("needs_engine")


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    return math.sumprod(left, right) if hasattr(math, "sumprod") else _dot(left, right)


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


@pytest.fixture(scope="module")
def running(tiny_gguf: Path) -> Any:
    """One provider with its child, for the tests that only ask."""
    from commonplace.plugin import ProviderContext
    from commonplace_local.provider import LocalProvider

    context = ProviderContext(options={"model_path": str(tiny_gguf), "threads": 1})
    provider = LocalProvider(context, env=os.environ)
    yield provider
    provider.close()


def test_vectors_come_in_the_order_of_the_texts(running: LocalProvider) -> None:
    texts = ["the door code is 4711", "a cat in a tree", "x"]
    together = running.embed(texts, purpose="document", deadline=NEVER)
    alone = [running.embed([text], purpose="document", deadline=NEVER)[0] for text in texts]
    assert [len(vector) for vector in together] == [64, 64, 64]
    for vector, same in zip(together, alone, strict=True):
        assert cosine(vector, vector) == pytest.approx(1.0, abs=1e-5)
        assert cosine(vector, same) == pytest.approx(1.0, abs=1e-5)
    assert cosine(together[0], together[1]) < 0.999


def test_text_of_any_script_and_half_characters_are_embedded(running: LocalProvider) -> None:
    texts = ["日本語のテキスト", "emoji 🙂 and \n lines", "half a pair \ud83d here", "\x00nul"]
    assert len(running.embed(texts, purpose="document", deadline=NEVER)) == len(texts)


def test_a_text_longer_than_the_context_is_too_large(running: LocalProvider) -> None:
    with pytest.raises(ProviderError) as caught:
        running.embed(["fine", "a b " * 600], purpose="document", deadline=NEVER)
    assert caught.value.kind == "too_large"
    # The context is known now, and the host can cut before it asks.
    assert running.limits.item_tokens == 512


def test_the_host_cuts_what_is_too_long(running: LocalProvider, runner: Any) -> None:
    texts = ["short", "a b " * 2000, "also short"]
    found = list(runner(running).many(texts, dims=None, deadline=NEVER))
    assert sorted(index for run in found for index in run.indices) == [0, 1, 2]
    assert [index for run in found for index in run.cut] == [1]


def test_parallel_callers_get_their_own_vectors(running: LocalProvider) -> None:
    texts = [f"note {n} the door {chr(97 + n)}" for n in range(8)]
    alone = [running.embed([text], purpose="document", deadline=NEVER)[0] for text in texts]
    found: dict[int, Sequence[float]] = {}

    def work(number: int) -> None:
        for _ in range(5):
            purpose: Any = "query" if number % 2 else "document"
            found[number] = running.embed([texts[number]], purpose=purpose, deadline=NEVER)[0]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    for number, vector in enumerate(alone):
        assert cosine(found[number], vector) == pytest.approx(1.0, abs=1e-5)


def test_the_prompts_of_the_family_are_put_before_the_text(
    local: Callable[..., LocalProvider], gguf: Any, tmp_path: Path
) -> None:
    path = gguf(tmp_path / "model.gguf", general__name="E5 small v2")
    with_prompts = local(path)
    plain = local(path, query_prefix="", document_prefix="")
    text = ["the cat"]
    prompts: dict[Literal["query", "document"], str] = {"query": "query: ", "document": "passage: "}
    for purpose, prompt in prompts.items():
        vector = with_prompts.embed(text, purpose=purpose, deadline=NEVER)[0]
        by_hand = plain.embed([prompt + text[0]], purpose=purpose, deadline=NEVER)[0]
        raw = plain.embed(text, purpose=purpose, deadline=NEVER)[0]
        assert cosine(vector, by_hand) == pytest.approx(1.0, abs=1e-5)
        assert cosine(vector, raw) < 0.9999
    assert with_prompts.fingerprint() != plain.fingerprint()


def test_shorter_vectors_are_the_beginnings_of_the_long_ones(
    local: Callable[..., LocalProvider], tiny_gguf: Path, running: LocalProvider
) -> None:
    whole = running.embed(["the cat"], purpose="query", deadline=NEVER)[0]
    short = local(tiny_gguf, dims=16).embed(["the cat"], purpose="query", deadline=NEVER)[0]
    assert array("f", short) == array("f", whole[:16])


def test_longer_vectors_than_the_model_makes_are_refused(
    local: Callable[..., LocalProvider], tiny_gguf: Path
) -> None:
    with pytest.raises(ProviderError, match="64 dimensions, not of 128") as caught:
        local(tiny_gguf, dims=128).embed(["x"], purpose="query", deadline=NEVER)
    assert caught.value.kind == "bad_request"
    assert "outputDimensionality" in caught.value.hint


@pytest.mark.parametrize("pooling", [None, 0])
def test_a_file_without_pooling_gets_that_of_its_family(
    local: Callable[..., LocalProvider],
    gguf: Any,
    tmp_path: Path,
    running: LocalProvider,
    pooling: int | None,
) -> None:
    path = gguf(tmp_path / "m.gguf", bert__pooling_type=pooling)
    vector = local(path).embed(["the cat"], purpose="query", deadline=NEVER)[0]
    mean = running.embed(["the cat"], purpose="query", deadline=NEVER)[0]
    assert cosine(vector, mean) == pytest.approx(1.0, abs=1e-5)


def test_a_model_that_ranks_is_refused(
    local: Callable[..., LocalProvider], gguf: Any, tmp_path: Path
) -> None:
    provider = local(gguf(tmp_path / "m.gguf", bert__pooling_type=4))
    with pytest.raises(ProviderError, match="ranks"):
        provider.embed(["x"], purpose="query", deadline=NEVER)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.99])
def test_a_truncated_file_is_reported_in_one_line(
    local: Callable[..., LocalProvider], tiny_gguf: Path, tmp_path: Path, share: float
) -> None:
    path = tmp_path / "cut.gguf"
    raw = tiny_gguf.read_bytes()
    path.write_bytes(raw[: int(len(raw) * share)])
    with pytest.raises(ProviderError) as caught:
        local(path).embed(["x"], purpose="document", deadline=NEVER)
    assert caught.value.kind == "not_found"
    assert str(path) in str(caught.value)
    assert f"{path.stat().st_size} of {len(raw)} bytes" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.hint


def test_what_only_the_engine_finds_wrong_is_reported_in_its_words(
    local: Callable[..., LocalProvider], gguf: Any, tmp_path: Path
) -> None:
    path = gguf(tmp_path / "m.gguf", bert__block_count=3)
    with pytest.raises(ProviderError, match=r"tensor 'blk\.2\..*' not found") as caught:
        local(path).embed(["x"], purpose="document", deadline=NEVER)
    assert caught.value.kind == "not_found"
    assert caught.value.hint


def test_a_damaged_head_is_reported_in_one_line(
    local: Callable[..., LocalProvider], tiny_gguf: Path, tmp_path: Path
) -> None:
    path = tmp_path / "damaged.gguf"
    raw = bytearray(tiny_gguf.read_bytes())
    place = raw.index(b"tokenizer.ggml.tokens")
    raw[place + 21 : place + 25] = b"\xff\xff\xff\x7f"
    path.write_bytes(raw)
    with pytest.raises(ProviderError) as caught:
        local(path).embed(["x"], purpose="document", deadline=NEVER)
    assert caught.value.kind == "not_found"
    assert "\n" not in str(caught.value)


def test_a_file_that_goes_away_is_missed_at_the_first_text_and_found_again(
    local: Callable[..., LocalProvider], tiny_gguf: Path, tmp_path: Path
) -> None:
    path = tmp_path / "m.gguf"
    shutil.copy(tiny_gguf, path)
    provider = local(path)
    path.unlink()
    with pytest.raises(ProviderError, match="there is no file") as caught:
        provider.embed(["x"], purpose="document", deadline=NEVER)
    assert caught.value.kind == "not_found"
    shutil.copy(tiny_gguf, path)
    assert provider.embed(["x"], purpose="document", deadline=NEVER)


def test_a_deadline_that_has_passed_is_a_timeout(running: LocalProvider) -> None:
    with pytest.raises(ProviderError) as caught:
        running.embed(["x"], purpose="query", deadline=Deadline.after(0))
    assert caught.value.kind == "timeout"


def test_the_second_engine_is_used_where_only_it_is_installed(
    local: Callable[..., LocalProvider], tiny_gguf: Path, tmp_path: Path
) -> None:
    # It comes without wheels, and is not installed for tests: this stands in for it. The other
    # tests here have passed with llama-cpp-python 0.3.36 itself, in an environment without the
    # first engine.
    (tmp_path / "llama_cpp.py").write_text(
        "LLAMA_POOLING_TYPE_UNSPECIFIED = -1\n"
        "class Llama:\n"
        "    def __init__(self, **given):\n"
        "        assert given['embedding'] and given['n_batch'] == given['n_ctx'] == 512\n"
        "        assert given['pooling_type'] == -1 and given['n_threads'] == 1\n"
        "        if 'fail' in given['model_path']:\n"
        "            raise ValueError('Failed to load model from file: ' + given['model_path'])\n"
        "    def embed(self, texts, normalize, truncate):\n"
        "        assert normalize and not truncate\n"
        "        if any(len(text) > 512 for text in texts):\n"
        "            raise ValueError('Requested tokens (602) exceed batch size of 512')\n"
        "        return [[float(len(text)), 0.5] for text in texts]\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    provider = local(tiny_gguf, env=env, options={"engine": "llama_cpp"})
    found = provider.embed(["abc", "a"], purpose="document", deadline=NEVER)
    assert [list(vector) for vector in found] == [[3.0, 0.5], [1.0, 0.5]]
    with pytest.raises(ProviderError) as caught:
        provider.embed(["a" * 600], purpose="document", deadline=NEVER)
    assert caught.value.kind == "too_large"
    failing = tmp_path / "fail.gguf"
    shutil.copy(tiny_gguf, failing)
    with pytest.raises(ProviderError, match="Failed to load") as broken:
        local(failing, env=env, options={"engine": "llama_cpp"}).embed(
            ["x"], purpose="document", deadline=NEVER
        )
    assert broken.value.kind == "not_found"
