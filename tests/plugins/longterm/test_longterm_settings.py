"""The section of the store, under the names of the original."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace import ConfigError, Memory, MemoryTools, PluginHost
from commonplace_longterm import plugin
from commonplace_longterm.settings import LongTermSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def settings_of(tmp_path: Path) -> Callable[..., Any]:
    def read(**section: Any) -> Any:
        host = PluginHost([], env={})
        host.register(plugin, name="longterm")
        config = {"plugins": {"entries": {"memory-lancedb": {"config": section}}}}
        env = {"HOME": str(tmp_path), "KEY": "from the environment"}
        with Memory.open(workspace=tmp_path, env=env, host=host, config=config) as memory:
            assert len(MemoryTools(memory).definitions) == 2, "the slot does not name it"
            return memory.settings.plugin_config("memory-lancedb"), memory.settings.warnings

    return read


def test_the_originals_keys_are_read(settings_of: Callable[..., Any], tmp_path: Path) -> None:
    settings, warnings = settings_of(
        embedding={
            "apiKey": "${KEY}",
            "model": "text-embedding-3-large",
            "baseUrl": "https://e.example/v1",
            "dimensions": 256,
        },
        dbPath="~/memories",
        storageOptions={"aws_region": "eu"},
        autoCapture=True,
        autoRecall=False,
        captureMaxChars=100,
        recallMaxChars=200,
        customTriggers=["note this"],
        dreaming={"enabled": True},
    )
    own = settings.embedding.own()
    assert (own.id, own.model, own.dims) == ("openai", "text-embedding-3-large", 256)
    assert own.base_url == "https://e.example/v1"
    assert own.api_key.reveal({"KEY": "from the environment"}) == "from the environment"
    assert settings.uri("/state") == str(tmp_path / "memories")
    assert (settings.auto_capture, settings.auto_recall) == (True, False)
    assert (settings.capture_max_chars, settings.recall_max_chars) == (100, 200)
    assert settings.custom_triggers == ("note this",)
    assert any("dreaming" in warning for warning in warnings)
    assert "from the environment" not in repr(settings)
    assert "e.example" not in repr(settings)


def test_the_defaults_are_those_of_the_original() -> None:
    settings = LongTermSettings()
    assert (settings.auto_capture, settings.auto_recall) == (False, True)
    assert (settings.capture_max_chars, settings.recall_max_chars) == (500, 1000)
    assert settings.embedding.own() is None
    assert settings.uri("/state") == "/state/memory/longterm.lance"


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"autoCatpure": True}, "autoCatpure"),
        ({"captureMaxChars": 99}, "captureMaxChars"),
        ({"captureMaxChars": 10_001}, "captureMaxChars"),
        ({"dbPath": "ftp://x/y"}, "must be a folder"),
        ({"customTriggers": ["x"] * 51}, "at most 50"),
        ({"customTriggers": [" "]}, "empty phrase"),
        ({"customTriggers": "x"}, "must be a list"),
        ({"embedding": {"dims": 3}}, "dims"),
    ],
)
def test_wrong_values_are_named(
    section: dict[str, Any], words: str, settings_of: Callable[..., Any]
) -> None:
    with pytest.raises(ConfigError) as caught:
        settings_of(**section)
    assert words in str(caught.value)
