"""What the provider ``openai`` says of itself before it sends anything."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations
from typing import Any

import pytest

from commonplace.errors import ProviderError
from commonplace.host.host import PluginHost
from commonplace.plugin import ProviderContext
from commonplace_openai.provider import GrowingLimit, OpenAIProvider

VENDOR = "https://api.openai.com/v1"


def provider(**given: Any) -> OpenAIProvider:
    return OpenAIProvider(ProviderContext(**given))


@pytest.mark.parametrize(
    "given",
    [
        {"base_url": VENDOR},
        {"base_url": f"{VENDOR}/"},
        {"base_url": "HTTPS://API.OpenAI.com:443/v1/embeddings"},
        {"base_url": "https://api.openai.com"},
        {"base_url": "https://user:word@api.openai.com/v1?x=y"},
        {"model": "openai/text-embedding-3-small"},
        {"model": " text-embedding-3-small "},
        {"api_key": "another"},
        {"headers": {"Authorization": "Bearer p"}},
        {"headers": {"api-key": "p"}},
        {"query_prefix": "", "document_prefix": ""},
    ],
)
def test_what_changes_no_vector_leaves_the_fingerprint(given: dict[str, Any]) -> None:
    assert provider(**given).fingerprint() == provider().fingerprint()


def test_what_changes_vectors_changes_the_fingerprint() -> None:
    different: list[dict[str, Any]] = [
        {},
        {"model": "text-embedding-3-large"},
        {"base_url": "http://localhost:8080/v1"},
        {"base_url": "http://localhost:8081/v1"},
        {"base_url": "https://localhost:8080/v1"},
        {"base_url": "http://localhost:8080/other/v1"},
        {"dims": 256},
        {"dims": 512},
        {"headers": {"x-route": "a"}},
        {"headers": {"x-route": "b"}},
        {"headers": {"x-other": "a"}},
        {"query_prefix": "a"},
        {"document_prefix": "a"},
        {"query_prefix": "a' document='a"},
        {"options": {"input_type": "a"}},
        {"options": {"query_input_type": "a"}},
        {"options": {"document_input_type": "a"}},
    ]
    for one, other in combinations(different, 2):
        assert provider(**one).fingerprint() != provider(**other).fingerprint(), (one, other)


def test_no_secret_is_in_fingerprint_or_repr() -> None:
    made = provider(
        base_url="https://user:sekrit@example.test/v1?key=sekrit",
        api_key="sekrit",
        headers={"X-Key": "sekrit"},
    )
    assert "sekrit" not in made.fingerprint() + repr(made) + made.model


def test_a_publisher_s_prefix_belongs_to_the_name_elsewhere() -> None:
    model = "openai/text-embedding-3-small"
    assert provider(model=model).model == "text-embedding-3-small"
    assert provider(model=model, base_url="https://openrouter.ai/api/v1").model == model


def test_limits_are_openai_s_own_or_those_of_the_smallest_server() -> None:
    own, other = provider().limits, provider(base_url="http://localhost:8080/v1").limits
    assert (own.items, own.tokens, own.item_tokens) == (2048, 300_000, 8191)
    assert other.items == 32
    assert other.query_seconds > own.query_seconds


@pytest.mark.parametrize(
    ("model", "dims"),
    [
        ("text-embedding-3-small", 1537),
        ("text-embedding-3-large", 3073),
        ("text-embedding-ada-002", 1536),
    ],
)
def test_dimensions_that_a_model_does_not_have_are_reported_at_once(model: str, dims: int) -> None:
    with pytest.raises(ProviderError) as caught:
        provider(model=model, dims=dims)
    assert caught.value.kind == "bad_request"
    assert provider(model=model, dims=dims, base_url="http://localhost/v1").fingerprint()


def test_closing_twice_is_fine() -> None:
    made = provider()
    made.close()
    made.close()


def test_the_limit_of_texts_grows_only_by_full_requests() -> None:
    limit = GrowingLimit(32, 100)
    limit.succeeded(31)
    assert limit.texts == 32
    for expected in (64, 100, 100):
        limit.succeeded(limit.texts)
        assert limit.texts == expected
    limit.refused(100)
    limit.succeeded(50)
    assert limit.texts == 50
    limit.refused(100)
    assert limit.texts == 50
    limit.refused(1)
    assert limit.texts == 1


def test_it_is_offered_with_where_its_key_is() -> None:
    registration = PluginHost(env={}).provider("openai")
    assert registration.priority == 20
    assert registration.credentials is not None
    assert registration.credentials.env == ("OPENAI_API_KEY",)
    assert "ChatGPT" in registration.credentials.note


def test_making_one_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from commonplace.plugin import ProviderContext\n"
        "from commonplace_openai import plugin\n"
        "assert 'commonplace_openai.provider' not in sys.modules\n"
        "plugin._openai(ProviderContext(api_key='k', base_url='http://h/v1')).fingerprint()\n"
        "heavy = {'httpx', 'json', 'base64', 'ipaddress', 'hashlib', 'logging', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
