"""What voyage makes of names, keys, addresses and lengths before it sends anything."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from commonplace.errors import ProviderError
from commonplace.plugin import PluginHost, ProviderContext
from commonplace_voyage import plugin
from commonplace_voyage.provider import VoyageProvider


def made(**context: Any) -> VoyageProvider:
    return VoyageProvider(ProviderContext(**context))


def address(**context: Any) -> str:
    provider = made(**context)
    url = str(provider.client().url("embeddings"))
    provider.close()
    return url


def test_the_registration_says_where_the_key_is() -> None:
    host = PluginHost([], env={})
    host.register(plugin, name="voyage")
    registration = host.provider("voyage")
    assert registration.credentials is not None
    assert (registration.id, registration.priority) == ("voyage", 40)
    assert registration.credentials.env == ("VOYAGE_API_KEY",)
    assert registration.credentials.config == ("voyage",)
    assert isinstance(registration.factory(ProviderContext()), VoyageProvider)


@pytest.mark.parametrize(
    ("written", "model"),
    [
        ("", "voyage-4-large"),
        ("voyage-4-lite", "voyage-4-lite"),
        ("voyage/voyage-code-3", "voyage-code-3"),
        ("voyageai/voyage-3.5 ", "voyage-3.5"),
    ],
)
def test_prefixes_of_names_are_dropped(written: str, model: str) -> None:
    assert made(model=written).model == model


@pytest.mark.parametrize(
    ("context", "url"),
    [
        ({"api_key": "pa-x"}, "https://api.voyageai.com/v1/embeddings"),
        ({}, "https://api.voyageai.com/v1/embeddings"),
        ({"api_key": "al-x"}, "https://ai.mongodb.com/v1/embeddings"),
        ({"base_url": "https://ai.mongodb.com"}, "https://ai.mongodb.com/v1/embeddings"),
        (
            {"api_key": "al-x", "base_url": "http://h.example:8080/voyage/"},
            "http://h.example:8080/voyage/embeddings",
        ),
        (
            {"base_url": " https://api.voyageai.com/v1/embeddings/ "},
            "https://api.voyageai.com/v1/embeddings",
        ),
    ],
)
def test_requests_go_to_the_host_of_the_key(context: dict[str, Any], url: str) -> None:
    assert address(**context) == url


@pytest.mark.parametrize("wrong", ["api.voyageai.com/v1", "file:///v1", "https://"])
def test_what_is_no_address_is_refused_at_once(wrong: str) -> None:
    with pytest.raises(ProviderError, match="not an http") as caught:
        made(base_url=wrong)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("model", "dims"),
    [("", 768), ("voyage-4", 128), ("voyage-code-3", 4096), ("voyage-law-2", 512)],
)
def test_lengths_that_are_not_offered_are_refused_at_once(model: str, dims: int) -> None:
    with pytest.raises(ProviderError, match=f"{dims} dimensions") as caught:
        made(model=model, dims=dims)
    assert caught.value.kind == "bad_request"
    assert "1024" in caught.value.hint


def test_lengths_of_unknown_models_are_left_to_the_server() -> None:
    assert made(model="voyage-9", dims=77).fingerprint() == "voyage:voyage-9/77/float:types"
    assert made(model="voyage-9").fingerprint() == "voyage:voyage-9//float:types"


def test_series_4_shares_a_space_and_nothing_else_does() -> None:
    series = ["", "voyage-4-large", "voyage-4", "voyage-4-lite", "voyage/voyage-4-large"]
    assert {made(model=model).fingerprint() for model in series} == {
        "voyage:voyage-4/1024/float:types"
    }
    apart = ["voyage-4", "voyage-3-large", "voyage-3.5", "voyage-3.5-lite", "voyage-code-3"]
    apart += ["voyage-finance-2", "voyage-law-2", "voyage-40", "voyage-4.5"]
    assert len({made(model=model).fingerprint() for model in apart}) == len(apart)


def test_whatever_changes_vectors_changes_the_fingerprint() -> None:
    contexts: list[dict[str, Any]] = [
        {},
        {"dims": 256},
        {"model": "voyage-code-3"},
        {"query_prefix": "a"},
        {"document_prefix": "a"},
        {"query_prefix": "a' 'b"},
        {"query_prefix": "a", "document_prefix": "b"},
        {"base_url": "https://proxy.example/v1"},
        {"base_url": "https://proxy.example:8443/v1"},
        {"base_url": "https://proxy.example/v2"},
    ]
    assert len({made(**context).fingerprint() for context in contexts}) == len(contexts)


def test_what_changes_no_vector_changes_no_fingerprint() -> None:
    same = [
        made(),
        made(dims=1024, api_key="pa-another"),
        made(api_key="al-another", headers={"Authorization": "b"}),
        made(base_url="https://api.voyageai.com/v1/"),
        made(base_url="HTTPS://me:secret@AI.MongoDB.com:443/v1/embeddings?a=b"),
    ]
    assert len({provider.fingerprint() for provider in same}) == 1
    foreign = made(base_url="https://me:secret@proxy.example/v1/?token=secret").fingerprint()
    assert foreign == made(base_url="https://proxy.example/v1").fingerprint()


@pytest.mark.parametrize(
    ("model", "tokens", "item_tokens"),
    [
        ("voyage-4-large", 120_000, 32_000),
        ("voyage-4", 320_000, 32_000),
        ("voyage-4-lite", 1_000_000, 32_000),
        ("voyage-law-2", 120_000, 16_000),
        ("voyage-unheard-of", 120_000, 32_000),
    ],
)
def test_limits_are_the_model_s_own(model: str, tokens: int, item_tokens: int) -> None:
    limits = made(model=model).limits
    assert (limits.items, limits.tokens) == (1000, tokens)
    assert limits.item_tokens is not None
    assert item_tokens - 100 < limits.item_tokens < item_tokens


def test_the_key_is_in_no_representation(key: str) -> None:
    provider = made(api_key=key, headers={"X-Secret": key})
    assert key not in f"{provider!r} {provider.fingerprint()} {provider.client()!r}"
    provider.close()
    provider.close()


def test_being_made_and_asked_for_a_fingerprint_imports_no_http_client() -> None:
    program = """
import sys
from commonplace_voyage import plugin
class Registrar:
    def provider(self, id, factory, **more): self.factory = factory
registrar = Registrar()
plugin.commonplace_register_providers(registrar)
assert "commonplace_voyage.provider" not in sys.modules
from commonplace.plugin import ProviderContext
provider = registrar.factory(ProviderContext(base_url="https://h.example/v1"))
provider.fingerprint(), provider.limits
heavy = {"httpx", "json", "re", "urllib.parse", "base64", "ssl", "pathlib", "logging"}
before = set(sys.argv[1].split())
print(sorted((heavy - before) & set(sys.modules)))
"""
    plain = "import sys, attrs, pluggy; print(*sys.modules)"
    before = subprocess.run([sys.executable, "-c", plain], capture_output=True, check=True)
    loaded = subprocess.run(
        [sys.executable, "-c", program, before.stdout.decode()], capture_output=True, check=True
    )
    assert loaded.stdout.decode().strip() == "[]"
