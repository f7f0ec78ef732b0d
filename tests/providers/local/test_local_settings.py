"""Settings, choice, fingerprints: all that happens before a model is loaded."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import ProviderError, how_to_install
from commonplace.plugin import PluginHost, ProviderContext
from commonplace.resilience.deadline import NEVER
from commonplace_local import plugin

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace.model.plugins import Registration
    from commonplace_local.provider import LocalProvider


@pytest.fixture
def registration() -> Registration[Any]:
    host = PluginHost([], env={})
    host.register(plugin, name="local")
    return host.provider("local")


def test_it_is_offered_as_local_before_all_others(registration: Registration[Any]) -> None:
    assert (registration.id, registration.priority) == ("local", 10)


def test_it_needs_an_engine(
    registration: Registration[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonplace_local.engines.find_spec", {}.get)
    probe = registration.probe()
    assert not probe.available
    assert probe.hint == how_to_install("commonplace[local]")


@pytest.mark.parametrize("engine", ["xllamacpp", "llama_cpp"])
def test_either_engine_will_do(
    registration: Registration[Any], monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    known = {engine: object()}
    monkeypatch.setattr("commonplace_local.engines.find_spec", known.get)
    assert registration.probe().available


@pytest.mark.parametrize(
    ("path", "words", "hint"),
    [
        (None, "is not set", ""),
        ("", "is not set", ""),
        ("hf:o/r/m.gguf", "downloads nothing", 'set provider to "local"'),
        ("HuggingFace:o/r", "downloads nothing", 'set provider to "local"'),
        ("https://x/m.gguf", "downloads nothing", 'set provider to "local"'),
        ("{}", "is a folder", "local.modelPath"),
        ("{}/none.gguf", "no file", "local.modelPath"),
    ],
)
def test_automatic_choice_takes_nothing_but_a_file_that_is_there(
    registration: Registration[Any], tmp_path: Path, path: str | None, words: str, hint: str
) -> None:
    assert registration.ready is not None
    given = path.format(tmp_path) if path else path
    ready = registration.ready(ProviderContext(options={"model_path": given}))
    assert not ready.available
    assert words in ready.reason
    # A hint is shown to the user: so there is one only for a configured model.
    assert hint in ready.hint
    assert bool(ready.hint) == bool(path)


@pytest.mark.usefixtures("needs_engine")
def test_automatic_choice_takes_a_file(registration: Registration[Any], tiny_gguf: Path) -> None:
    assert registration.ready is not None
    assert registration.ready(ProviderContext(options={"model_path": str(tiny_gguf)})).available


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (str, "there is no file"),
        (lambda path: path.mkdir(), "a folder"),
        (lambda path: path.touch(), "it is empty"),
        (lambda path: path.write_bytes(b"<html>not found</html>"), "no GGUF file"),
        (lambda path: path.write_bytes(b"GGUF\3\0\0"), "cut short"),
    ],
)
def test_a_path_that_can_be_no_model_is_reported_at_once_with_a_hint(
    local: Callable[..., LocalProvider],
    tmp_path: Path,
    make: Callable[[Path], object],
    words: str,
) -> None:
    path = tmp_path / "m.gguf"
    make(path)
    with pytest.raises(ProviderError, match=words) as caught:
        local(path)
    assert caught.value.kind == "not_found"
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "local.modelPath" in caught.value.hint


@pytest.mark.parametrize("reference", ["hf:o", "hf:o/r/../m.gguf", "https://x/m.gguf"])
def test_a_reference_that_can_be_no_model_is_reported_at_once(
    local: Callable[..., LocalProvider], reference: str
) -> None:
    with pytest.raises(ProviderError) as caught:
        local(reference)
    assert caught.value.kind == "not_found"
    assert "hf:ggml-org/" in caught.value.hint


@pytest.mark.parametrize("threads", [0, -1, 257, 1.5, "2", True])
def test_a_number_of_threads_that_can_be_none_is_reported(
    local: Callable[..., LocalProvider], tiny_gguf: Path, threads: object
) -> None:
    with pytest.raises(ProviderError, match=r"local\.threads") as caught:
        local(tiny_gguf, options={"threads": threads})
    assert caught.value.kind == "bad_request"


def test_lengths_that_a_family_was_not_trained_for_are_refused(
    local: Callable[..., LocalProvider],
) -> None:
    reference = "hf:ggml-org/embeddinggemma-300M-GGUF/embeddinggemma-300M-Q8_0.gguf"
    assert "dims=256" in local(reference, dims=256).fingerprint()
    with pytest.raises(ProviderError, match="768, 512, 256, 128 dimensions, not of 300") as caught:
        local(reference, dims=300)
    assert caught.value.kind == "bad_request"


def test_without_a_path_it_is_embeddinggemma(local: Callable[..., LocalProvider]) -> None:
    provider = local("")
    assert provider.model == "embeddinggemma-300M-Q8_0"
    assert "task: search result | query: " in provider.fingerprint()


def test_a_model_named_elsewhere_is_taken_where_it_can_be_one(
    local: Callable[..., LocalProvider], tiny_gguf: Path
) -> None:
    assert local("", model="hf:o/r/other.gguf").model == "other"
    assert local("", model=str(tiny_gguf)).model == "tiny"
    assert local("", model="text-embedding-3-small").model.startswith("embeddinggemma")
    assert local(tiny_gguf, model="hf:o/r/other.gguf").model == "tiny"


def test_the_fingerprint_follows_the_weights_and_not_the_place(
    local: Callable[..., LocalProvider], gguf: Any, tiny_gguf: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(tiny_gguf.read_bytes())
    assert local(copy).fingerprint() == local(tiny_gguf).fingerprint()
    raw = bytearray(copy.read_bytes())
    raw[-1] ^= 1
    copy.write_bytes(raw)
    assert local(copy).fingerprint() != local(tiny_gguf).fingerprint()


def test_whatever_changes_vectors_changes_the_fingerprint(
    local: Callable[..., LocalProvider], tiny_gguf: Path
) -> None:
    made = [
        local(tiny_gguf),
        local(tiny_gguf, dims=32),
        local(tiny_gguf, query_prefix="q: "),
        local(tiny_gguf, document_prefix="q: "),
        local("hf:o/r/tiny.gguf"),
        local("hf:o/r/tiny.gguf#v2"),
        local("hf:o/r/embeddinggemma.gguf"),
    ]
    assert len({provider.fingerprint() for provider in made}) == len(made)
    assert local("huggingface:o/r/tiny.gguf").fingerprint() == made[4].fingerprint()
    assert local(tiny_gguf, options={"threads": 2}).fingerprint() == made[0].fingerprint()


def test_a_query_downloads_nothing(
    local: Callable[..., LocalProvider], hub: Any, hub_env: dict[str, str]
) -> None:
    provider = local("hf:o/r/m.gguf", env=hub_env)
    with pytest.raises(ProviderError, match="not downloaded yet") as caught:
        provider.embed(["x"], purpose="query", deadline=NEVER)
    assert caught.value.kind == "not_found"
    assert caught.value.hint
    assert not hub.seen


def test_offline_means_no_request(
    local: Callable[..., LocalProvider], hub: Any, hub_env: dict[str, str]
) -> None:
    provider = local("hf:o/r/m.gguf", env={**hub_env, "HF_HUB_OFFLINE": "1"})
    with pytest.raises(ProviderError, match="HF_HUB_OFFLINE") as caught:
        provider.embed(["x"], purpose="document", deadline=NEVER)
    assert caught.value.kind == "not_found"
    assert not hub.seen


@pytest.mark.usefixtures("needs_engine")
def test_the_first_documents_download_the_model_and_then_no_request_is_made(
    local: Callable[..., LocalProvider], hub: Any, hub_env: dict[str, str], tiny_gguf: Path
) -> None:
    hub.files["m.gguf"] = tiny_gguf.read_bytes()
    hub.breaks.append(100_000)
    seen: list[tuple[int, int | None]] = []
    options = {"progress": lambda *reported: seen.append(reported)}
    provider = local("hf:o/r/m.gguf", env=hub_env, options=options)
    before = (provider.fingerprint(), provider.limits.request_seconds)
    vector = provider.embed(["the cat"], purpose="document", deadline=NEVER)[0]
    assert seen[-1] == (tiny_gguf.stat().st_size,) * 2
    assert provider.fingerprint() == before[0]
    assert provider.limits.request_seconds < before[1]
    hub.stop()
    again = local("hf:o/r/m.gguf", env={**hub_env, "HF_HUB_OFFLINE": "1"})
    assert list(again.embed(["the cat"], purpose="query", deadline=NEVER)[0]) == list(vector)


def test_a_download_that_is_no_model_is_reported_with_its_path(
    local: Callable[..., LocalProvider], hub: Any, hub_env: dict[str, str]
) -> None:
    hub.files["m.gguf"] = b"<html>a page of a proxy</html>"
    provider = local("hf:o/r/m.gguf", env=hub_env)
    with pytest.raises(ProviderError, match="no GGUF file") as caught:
        provider.embed(["x"], purpose="document", deadline=NEVER)
    assert "snapshots" in str(caught.value)


def test_progress_is_logged_in_steps(caplog: pytest.LogCaptureFixture) -> None:
    from commonplace_local.download import Announcer

    caplog.set_level("INFO")
    announce = Announcer("m")
    for here in range(0, 1001, 5):
        announce(here, 1000)
    assert len(caplog.records) == 11
    announce(5, None)


def test_a_terminal_sees_the_share(monkeypatch: pytest.MonkeyPatch) -> None:
    from io import StringIO

    from commonplace_local.download import Announcer

    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    announce = Announcer("m")
    for here in (0, 1, 500, 1000):
        announce(here, 1000)
    assert terminal.getvalue().split("\r") == [
        "",
        "downloading m: 0 %",
        "downloading m: 50 %",
        "downloading m: 100 %\n",
    ]


def test_making_it_and_its_fingerprint_import_nothing_heavy(tiny_gguf: Path) -> None:
    code = (
        "import sys\n"
        "from commonplace.plugin import ProviderContext\n"
        "from commonplace_local.provider import LocalProvider\n"
        "for path in (sys.argv[1], ''):\n"
        "    LocalProvider(ProviderContext(options={'model_path': path}), env={}).fingerprint()\n"
        "heavy = {'httpx', 'json', 'subprocess', 'numpy', 'xllamacpp', 'llama_cpp', 'filelock',\n"
        "         'logging', 'asyncio', 'queue', 'commonplace.embedding.http.client'}\n"
        "print(sorted(heavy & sys.modules.keys()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tiny_gguf)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
