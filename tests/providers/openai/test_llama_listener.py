"""A real server that speaks OpenAI's form: llama.cpp's, with a model of random weights."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import ProviderError
from commonplace.plugin import ProviderContext
from commonplace.resilience.deadline import Deadline
from commonplace_openai.provider import OpenAIProvider

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.providers.conftest import Runs

pytestmark = pytest.mark.skipif(find_spec("xllamacpp") is None, reason="xllamacpp not installed")

# In a process of its own: a failing assertion in native code ends the process it is in.
SERVE = """
import sys
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.api_keys = sys.argv[1], [sys.argv[2]]
params.embedding, params.warmup, params.verbosity = True, False, 0
params.n_ctx, params.n_parallel, params.port = 512, 1, 0
# Its threads spin at barriers: two on a busy machine are many times slower than one.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.n_batch = params.n_ubatch = int(sys.argv[3])
server = xllamacpp.Server(params)
print("listening", server.listening_address, flush=True)
sys.stdin.read()
"""


@contextmanager
def serving(model: Path, key: str, *, batch: int = 512) -> Iterator[str]:
    """Run the server; its base URL."""
    command = [sys.executable, "-c", SERVE, str(model), key, str(batch)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        words = next((line for line in process.stdout if line.startswith("listening ")), "")
        try:
            assert words, "the server did not start"
            yield f"{words.split()[1]}/v1"
        finally:
            process.kill()


@pytest.fixture(scope="module")
def base(tiny_gguf: Path) -> Iterator[str]:
    with serving(tiny_gguf, "sekrit-0123456789-abcdef") as url:
        yield url


@pytest.fixture
def provider(base: str, key: str) -> Iterator[OpenAIProvider]:
    provider = OpenAIProvider(ProviderContext(base_url=base, api_key=key))
    yield provider
    provider.close()


def soon() -> Deadline:
    return Deadline.after(60)


def test_it_gives_vectors_that_go_by_the_text(provider: OpenAIProvider, runner: Runs) -> None:
    texts = ["the door code", "the cat in the tree", "the door code", *["note"] * 40]
    vectors: dict[int, bytes] = {}
    for run in runner(provider).many(texts, dims=None, deadline=soon()):
        vectors.update(zip(run.indices, run.vectors, strict=True))
    assert len(vectors) == len(texts)
    assert len(vectors[0]) == 4 * 64
    assert vectors[0] == vectors[2] != vectors[1]


def test_a_text_beyond_its_context_is_cut_and_the_others_are_not(
    provider: OpenAIProvider, runner: Runs
) -> None:
    texts = ["the door", "cat " * 2000, "the tree"]
    runs = list(runner(provider).many(texts, dims=None, deadline=soon()))
    assert sorted(index for run in runs for index in run.indices) == [0, 1, 2]
    assert [index for run in runs for index in run.cut] == [1]


def test_a_text_beyond_its_batch_is_cut_and_not_tried_again_as_it_is(
    tiny_gguf: Path, key: str, runner: Runs
) -> None:
    with serving(tiny_gguf, key, batch=64) as base:
        provider = OpenAIProvider(ProviderContext(base_url=base, api_key=key))
        (run,) = runner(provider).many(["cat " * 200], dims=None, deadline=soon())
        provider.close()
    assert run.cut == (0,)
    assert runner.pauses == []


def test_a_wrong_key_is_reported(base: str, runner: Runs) -> None:
    provider = OpenAIProvider(ProviderContext(base_url=base, api_key="another-key"))
    running = runner(provider)
    with pytest.raises(ProviderError) as caught:
        running.one("text", purpose="query", deadline=soon())
    provider.close()
    assert (caught.value.kind, running.requests) == ("auth", 1)
    assert "another-key" not in str(caught.value)


def test_a_base_without_v1_is_reported_with_a_fix(base: str, key: str) -> None:
    without = base.removesuffix("/v1")
    provider = OpenAIProvider(ProviderContext(base_url=without, api_key=key))
    with pytest.raises(ProviderError) as caught:
        provider.embed(["text"], purpose="query", deadline=soon())
    provider.close()
    assert caught.value.hint == "add /v1 to remote.baseUrl"


def test_dimensions_that_it_ignores_are_noticed(base: str, key: str) -> None:
    context = ProviderContext(base_url=base, api_key=key, dims=32)
    provider = OpenAIProvider(context)
    with pytest.raises(ProviderError) as caught:
        provider.embed(["text"], purpose="query", deadline=soon())
    provider.close()
    assert caught.value.kind == "protocol"
    assert "64" in str(caught.value)


def test_the_official_client_gets_the_same_vectors(
    base: str, key: str, provider: OpenAIProvider
) -> None:
    sdk = pytest.importorskip("openai", reason="the vendor's own client as judge")
    texts = ["the door code", "the cat in the tree"]
    ours = provider.embed(texts, purpose="document", deadline=soon())
    with sdk.OpenAI(base_url=base, api_key=key, max_retries=0) as client:
        # It asks for base64 by itself, and for numbers where it is configured so.
        packed = client.embeddings.create(model="any", input=texts)
        plain = client.embeddings.create(model="any", input=texts, encoding_format="float")
    for place, vector in enumerate(ours):
        assert packed.data[place].index == plain.data[place].index == place
        assert packed.data[place].embedding == pytest.approx(list(vector), abs=1e-6)
        assert plain.data[place].embedding == pytest.approx(list(vector), abs=1e-6)


def test_the_official_client_is_refused_where_the_provider_is(base: str, key: str) -> None:
    sdk = pytest.importorskip("openai", reason="the vendor's own client as judge")
    with (
        sdk.OpenAI(base_url=base, api_key="another-key", max_retries=0) as client,
        pytest.raises(sdk.AuthenticationError),
    ):
        client.embeddings.create(model="any", input="text")
    with (
        sdk.OpenAI(base_url=base, api_key=key, max_retries=0) as client,
        pytest.raises(sdk.APIStatusError) as caught,
    ):
        client.embeddings.create(model="any", input="cat " * 2000)
    provider = OpenAIProvider(ProviderContext(base_url=base, api_key=key))
    with pytest.raises(ProviderError) as ours:
        provider.embed(["cat " * 2000], purpose="document", deadline=soon())
    provider.close()
    assert (ours.value.kind, ours.value.status) == ("too_large", caught.value.status_code)
