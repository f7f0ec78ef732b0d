"""What gemini makes of names, addresses and lengths before it sends anything."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from commonplace.errors import ProviderError
from commonplace.plugin import PluginHost, ProviderContext
from commonplace_gemini import plugin
from commonplace_gemini.provider import GeminiProvider


def made(**context: Any) -> GeminiProvider:
    return GeminiProvider(ProviderContext(**context))


def test_keys_of_google_serve_and_gemini_s_own_variable_goes_first() -> None:
    host = PluginHost([], env={})
    host.register(plugin, name="gemini")
    registration = host.provider("gemini")
    assert registration.credentials is not None
    assert (registration.id, registration.priority) == ("gemini", 30)
    assert registration.credentials.env == ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    assert "google" in registration.credentials.config
    assert isinstance(registration.factory(ProviderContext()), GeminiProvider)


@pytest.mark.parametrize(
    ("written", "model"),
    [
        ("", "gemini-embedding-001"),
        ("models/", "gemini-embedding-001"),
        ("gemini-embedding-001", "gemini-embedding-001"),
        ("models/gemini-embedding-2", "gemini-embedding-2"),
        ("gemini/gemini-embedding-001", "gemini-embedding-001"),
        ("google/gemini-embedding-2-preview", "gemini-embedding-2-preview"),
        (" google/models/gemini-embedding-001 ", "gemini-embedding-001"),
    ],
)
def test_prefixes_of_names_are_dropped(written: str, model: str) -> None:
    assert made(model=written).model == model


@pytest.mark.parametrize("written", ["a/b", "x?key=1", "../files", "a:embedContent"])
def test_what_could_lead_elsewhere_is_no_name(written: str) -> None:
    with pytest.raises(ProviderError, match="no model's name") as caught:
        made(model=written)
    assert caught.value.kind == "not_found"


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("https://generativelanguage.googleapis.com", "/v1beta"),
        ("https://generativelanguage.googleapis.com/v1beta/", "/v1beta"),
        ("https://generativelanguage.googleapis.com/v1", "/v1"),
        (" https://generativelanguage.googleapis.com/v1beta/openai/ ", "/v1beta"),
        ("https://generativelanguage.googleapis.com/v1beta/openai/embeddings", "/v1beta"),
        ("https://Generativelanguage.GoogleAPIs.com/v1beta/models", "/v1beta"),
    ],
)
def test_google_s_own_address_in_every_form_shares_vectors(written: str, url: str) -> None:
    provider = made(base_url=written)
    assert provider.fingerprint() == made().fingerprint()
    path = provider.client().url("x").path
    provider.close()
    assert path == f"{url}/x"


@pytest.mark.parametrize("wrong", ["generativelanguage.googleapis.com", "ftp://h/v1", "http://"])
def test_what_is_no_address_is_refused_at_once(wrong: str) -> None:
    with pytest.raises(ProviderError, match="not an http") as caught:
        made(base_url=wrong)
    assert caught.value.hint


@pytest.mark.parametrize("name", ["key", "KEY", "access_token"])
def test_a_key_in_the_address_is_refused_and_not_repeated(name: str) -> None:
    url = f"https://generativelanguage.googleapis.com/v1beta?alt=json&{name}=sekrit-0123"
    with pytest.raises(ProviderError) as caught:
        made(base_url=url)
    assert caught.value.kind == "auth"
    assert "sekrit" not in f"{caught.value!r} {caught.value.hint}"


@pytest.mark.parametrize("dims", [1, 127, 3073])
def test_lengths_that_are_not_offered_are_refused_at_once(dims: int) -> None:
    with pytest.raises(ProviderError, match=f"{dims} dimensions") as caught:
        made(dims=dims)
    assert (caught.value.kind, caught.value.hint != "") == ("bad_request", True)


def test_lengths_of_unknown_models_are_left_to_the_server() -> None:
    assert made(model="some-model", dims=64).fingerprint().endswith("some-model/64:task")


def test_a_fingerprint_is_short_and_says_what_it_stands_for() -> None:
    assert made().fingerprint() == "gemini:gemini-embedding-001/3072:task"
    second = made(model="gemini-embedding-2", dims=768, base_url="https://me:pw@h.example/v1/?a=b")
    assert second.fingerprint() == "gemini@https://h.example/v1:gemini-embedding-2/768:text"


def test_whatever_changes_vectors_changes_the_fingerprint() -> None:
    contexts: list[dict[str, Any]] = [
        {},
        {"dims": 768},
        {"model": "gemini-embedding-2"},
        {"model": "gemini-embedding-2-preview"},
        {"model": "gemini-embedding-2", "dims": 768},
        {"model": "gemini-embedding-2", "query_prefix": ""},
        {"model": "gemini-embedding-2", "document_prefix": ""},
        {"query_prefix": "a"},
        {"document_prefix": "a"},
        {"query_prefix": "a' 'b"},
        {"query_prefix": "a", "document_prefix": "b"},
        {"base_url": "https://proxy.example/v1beta"},
        {"base_url": "https://proxy.example/other"},
    ]
    assert len({made(**context).fingerprint() for context in contexts}) == len(contexts)


def test_what_changes_no_vector_changes_no_fingerprint() -> None:
    same = [
        made(),
        made(dims=3072, api_key="another", headers={"X-Goog-Api-Key": "b"}),
        made(model="models/gemini-embedding-001", query_prefix="", document_prefix=""),
        made(options={"anything": "else"}),
    ]
    assert len({provider.fingerprint() for provider in same}) == 1
    written_out = made(
        model="gemini-embedding-2",
        query_prefix="task: search result | query: ",
        document_prefix="title: none | text: ",
    )
    assert written_out.fingerprint() == made(model="gemini-embedding-2").fingerprint()


def test_limits_are_the_vendor_s_and_leave_room_for_the_form() -> None:
    first, second = made().limits, made(model="gemini-embedding-2").limits
    assert (first.items, first.item_tokens) == (100, 2048)
    assert second.item_tokens is not None
    assert 8100 < second.item_tokens < 8192
    assert made(query_prefix="x" * 4000).limits.item_tokens == 1


def test_the_key_is_in_no_representation(key: str) -> None:
    provider = made(api_key=key, headers={"X-Secret": key})
    provider.client()
    assert key not in f"{provider!r} {provider.fingerprint()} {provider.client()!r}"
    provider.close()
    provider.close()


def test_being_made_and_asked_for_a_fingerprint_imports_no_http_client() -> None:
    program = """
import sys
from commonplace_gemini import plugin
class Registrar:
    def provider(self, id, factory, **more): self.factory = factory
registrar = Registrar()
plugin.commonplace_register_providers(registrar)
assert "commonplace_gemini.provider" not in sys.modules
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
