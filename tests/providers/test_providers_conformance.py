from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from attrs import evolve

from commonplace.plugin import ProviderContext
from commonplace.testing import EmbeddingProviderConformance
from commonplace_gemini.provider import GeminiProvider
from commonplace_local.provider import LocalProvider
from commonplace_mistral.provider import MistralProvider
from commonplace_ollama.provider import OllamaProvider
from commonplace_openai.provider import OpenAIProvider
from commonplace_voyage.provider import VoyageProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.providers.conftest import Loopback
    from tests.providers.tiny_gguf import Writes

    from commonplace.plugin import EmbeddingProvider


class AtVendor(EmbeddingProviderConformance):
    """A provider whose vendor is a loopback server."""

    vendor = ""
    path = "/v1"
    more: ClassVar[Mapping[str, Any]] = {}
    other: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @pytest.fixture(autouse=True)
    def _vendor(self, fake: Callable[[str], Loopback], key: str) -> None:
        self.url, self.key = fake(self.vendor).url, key

    def context(self) -> ProviderContext:
        return ProviderContext(base_url=self.url + self.path, api_key=self.key, **self.more)

    def variants(self) -> Mapping[str, ProviderContext]:
        usual = self.context()
        own = {name: evolve(usual, **more) for name, more in self.other.items()}
        return {**super().variants(), **own}

    def failures(self) -> Mapping[str, ProviderContext]:
        usual = self.context()
        return {
            **super().failures(),
            "no such page": evolve(usual, base_url=f"{self.url}/nowhere"),
            "no such model": evolve(usual, model="no-such-model", dims=None),
            "no address": evolve(usual, base_url="file:///etc/passwd"),
        }


class TestOpenAI(AtVendor):
    vendor = "openai"
    other: ClassVar = {"model": {"model": "text-embedding-3-large"}, "dims": {"dims": 4}}

    def make_provider(self, context: ProviderContext) -> EmbeddingProvider:
        return OpenAIProvider(context)


class TestMistral(AtVendor):
    vendor = "mistral"
    other: ClassVar = {
        "model": {"model": "codestral-embed"},
        "dims": {"model": "codestral-embed", "dims": 4},
    }

    def make_provider(self, context: ProviderContext) -> EmbeddingProvider:
        return MistralProvider(context)


class TestOllama(AtVendor):
    vendor = "ollama"
    path = ""
    other: ClassVar = {"model": {"model": "embeddinggemma"}, "dims": {"dims": 4}}

    def make_provider(self, context: ProviderContext) -> EmbeddingProvider:
        return OllamaProvider(context)


class TestVoyage(AtVendor):
    vendor = "voyage"
    more: ClassVar = {"dims": 256}
    other: ClassVar = {"model": {"model": "voyage-code-3"}, "dims": {"dims": 512}}

    def make_provider(self, context: ProviderContext) -> EmbeddingProvider:
        return VoyageProvider(context)


class TestGemini(AtVendor):
    vendor = "gemini"
    path = "/v1beta"
    more: ClassVar = {"dims": 128}
    other: ClassVar = {"model": {"model": "gemini-embedding-2"}, "dims": {"dims": 256}}

    def make_provider(self, context: ProviderContext) -> EmbeddingProvider:
        return GeminiProvider(context)


class TestLocal(EmbeddingProviderConformance):
    @pytest.fixture(autouse=True)
    def _files(self, tiny_gguf: Path, gguf: Writes, tmp_path: Path) -> None:
        pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
        self.model, self.folder, self.write = tiny_gguf, tmp_path, gguf

    def at(self, path: Path, **more: Any) -> ProviderContext:
        return ProviderContext(options={"model_path": str(path), "threads": 1}, **more)

    def context(self) -> ProviderContext:
        return self.at(self.model)

    def variants(self) -> Mapping[str, ProviderContext]:
        return {**super().variants(), "dims": self.at(self.model, dims=32)}

    def failures(self) -> Mapping[str, ProviderContext]:
        broken = self.folder / "broken.gguf"
        broken.write_bytes(b"GGUF" + b"\0" * 100)
        return {
            "no such file": self.at(self.folder / "none.gguf"),
            "no model": self.at(broken),
            "too many dims": self.at(self.model, dims=100_000),
        }

    def make_provider(self, context: ProviderContext) -> EmbeddingProvider:
        return LocalProvider(context, env={"PATH": "/usr/bin:/bin"})
