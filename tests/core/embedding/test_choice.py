"""The choice of a provider: by name, by key, its fallback, or none; always with a reason."""

from __future__ import annotations

import os
import sys
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.load import load_settings, section_class
from commonplace.embedding.choice import Choice, choose
from commonplace.embedding.guarded import CheckedProvider, GuardedProvider
from commonplace.embedding.http.errors import SEE_TRACEBACK
from commonplace.embedding.keys import RotatingKeys
from commonplace.errors import ProviderError
from commonplace.host.host import PluginHost
from commonplace.model.plugins import Credentials, Probe
from commonplace.plugin import hookimpl
from commonplace.protocols.providers import Limits, ProviderContext
from commonplace.resilience.deadline import NEVER
from commonplace_local.plugin import LocalSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from commonplace.config.settings import Settings
    from commonplace.plugin import ProviderRegistrar
    from commonplace.resilience.deadline import Deadline

    Choosing = Callable[..., Choice]


class Echo:
    """A provider that remembers what it was given."""

    limits = Limits()
    capabilities: frozenset[str] = frozenset()
    concurrency = 1

    def __init__(self, context: ProviderContext) -> None:
        self.context = context
        self.model = context.model or "default"

    def fingerprint(self) -> str:
        return "echo"

    def embed(
        self, texts: Sequence[str], *, purpose: str, deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        return [[1.0, 0.0] for _ in texts]

    def close(self) -> None:
        pass


class Plugin:
    """Offers one provider."""

    def __init__(self, id_: str, factory: Any = Echo, **parts: Any) -> None:
        self.id, self.factory, self.parts = id_, factory, parts

    @hookimpl
    def commonplace_register_providers(self, register: ProviderRegistrar) -> None:
        register.provider(self.id, self.factory, summary="for tests", **self.parts)


def plugins_own(guarded: GuardedProvider) -> object:
    """What the plugin made."""
    assert isinstance(guarded.provider, CheckedProvider)
    return guarded.provider.provider


ALPHA = Credentials(env=("ALPHA_KEY", "ALPHA_OTHER"), config=("alpha", "alphabet"), note="a login")
BETA = Credentials(env=("BETA_KEY",), config=("beta",))


def _file_ready(context: ProviderContext) -> Probe:
    path = str(context.options.get("model_path") or "")
    if path.endswith("gone"):
        return Probe(available=False, reason="it is gone", hint="look for it")
    return Probe(available=bool(path), reason="" if path else "none is configured")


@pytest.fixture
def host() -> PluginHost:
    host = PluginHost(entry_points=(), env={})
    host.register(Plugin("alpha", priority=10, credentials=ALPHA), name="alpha")
    host.register(Plugin("beta", priority=20, credentials=BETA), name="beta")
    host.register(
        Plugin("local", priority=5, ready=_file_ready, config=LocalSettings), name="local"
    )
    host.register(Plugin("never", credentials=Credentials(optional=True)), name="never")
    host.register(
        Plugin("broken", probe=lambda: Probe(available=False, reason="no lib", hint="get it")),
        name="broken",
    )
    return host


@pytest.fixture
def settings(tmp_path: Path, host: PluginHost) -> Callable[[Mapping[str, object]], Settings]:
    def load(search: Mapping[str, object]) -> Settings:
        extra = {k: v for k, v in search.items() if k == "models"}
        rest = {k: v for k, v in search.items() if k != "models"}
        return load_settings(
            workspace=str(tmp_path),
            config={"memory": {"search": rest}, **extra},
            env={"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")},
            sections=partial(section_class, host),
        )

    return load


@pytest.fixture
def choosing(host: PluginHost, settings: Callable[[Mapping[str, object]], Settings]) -> Choosing:
    def choose_(search: Mapping[str, object], **env: str) -> Choice:
        return choose(host, settings(search), env)

    return choose_


def ids(choice: Choice) -> list[str]:
    return [link.id for link in choice.service.providers] if choice.service else []


def context_of(choice: Choice, place: int = 0) -> ProviderContext:
    assert choice.service is not None
    provider = plugins_own(choice.service.providers[place])
    assert isinstance(provider, Echo)
    return provider.context


def test_without_a_key_there_is_no_provider_and_no_notice(choosing: Choosing) -> None:
    choice = choosing({})
    assert (choice.service, choice.notices) == (None, ())


@pytest.mark.parametrize(("env", "chosen"), [({}, []), ({"BETA_KEY": "b"}, ["beta"])])
def test_auto_reports_what_is_configured_and_missing(
    choosing: Choosing, env: dict[str, str], chosen: list[str]
) -> None:
    choice = choosing({"local": {"modelPath": "gone"}}, **env)
    assert ids(choice) == chosen
    assert choice.notices == ("local: it is gone. Fix: look for it",)


@pytest.mark.parametrize(
    ("env", "chosen"),
    [
        ({"ALPHA_KEY": "a"}, ["alpha"]),
        ({"ALPHA_OTHER": "a"}, ["alpha"]),
        ({"BETA_KEY": "b"}, ["beta"]),
        ({"BETA_KEY": "b", "ALPHA_KEY": "a"}, ["alpha"]),
        ({"ALPHA_KEY": "  "}, []),
    ],
)
def test_auto_takes_the_first_by_priority_that_has_a_key(
    choosing: Choosing, env: dict[str, str], chosen: list[str]
) -> None:
    assert ids(choosing({}, **env)) == chosen


def test_auto_asks_a_provider_that_is_ready_without_a_key(choosing: Choosing) -> None:
    assert ids(choosing({"local": {"modelPath": "/m.gguf"}}, ALPHA_KEY="a")) == ["local"]


def test_none_is_no_provider_even_with_a_key(choosing: Choosing) -> None:
    assert ids(choosing({"provider": "none"}, ALPHA_KEY="a")) == []


def test_by_name_without_a_key_says_what_to_set_and_what_is_no_key(choosing: Choosing) -> None:
    choice = choosing({"provider": "alpha"})
    assert ids(choice) == []
    (notice,) = choice.notices
    assert "alpha: no API key found (a login)" in notice
    assert "ALPHA_KEY or ALPHA_OTHER" in notice


def test_a_key_of_the_configuration_serves_under_either_name(choosing: Choosing) -> None:
    for section in ("alpha", "alphabet"):
        models = {"providers": {section: {"apiKey": "k-" + section}}}
        choice = choosing({"provider": "alpha", "models": models})
        assert context_of(choice).api_key == "k-" + section


def test_a_key_of_the_environment_is_not_sent_to_another_address(choosing: Choosing) -> None:
    remote = {"baseUrl": "http://127.0.0.1:1/v1"}
    choice = choosing({"provider": "alpha", "remote": remote}, ALPHA_KEY="secret")
    assert context_of(choice).api_key is None
    named = {**remote, "apiKey": "${ALPHA_KEY}"}
    choice = choosing({"provider": "alpha", "remote": named}, ALPHA_KEY="secret")
    assert context_of(choice).api_key == "secret"


def keys_of(choice: Choice) -> list[str | None]:
    assert choice.service is not None
    provider = plugins_own(choice.service.providers[0])
    if not isinstance(provider, RotatingKeys):
        assert isinstance(provider, Echo)
        return [provider.context.api_key]
    held = provider._providers
    return [one.context.api_key for one in held if isinstance(one, Echo)]


@pytest.mark.parametrize(
    ("env", "keys"),
    [
        ({"ALPHA_KEYS": "a, b;c,,"}, ["a", "b", "c"]),
        ({"ALPHA_KEY": "a", "ALPHA_KEY_2": "c", "ALPHA_KEY_1": "b"}, ["a", "b", "c"]),
        ({"ALPHA_KEY_10": "b", "ALPHA_KEY_9": "a", "ALPHA_KEY_OLD": "x"}, ["a", "b"]),
        ({"ALPHA_KEYS": "b", "ALPHA_KEY": "a", "ALPHA_OTHER": "c"}, ["b", "a", "c"]),
        ({"ALPHA_KEYS": "a,a", "ALPHA_KEY": "a"}, ["a"]),
        ({"ALPHA_KEYS": " ; "}, None),
    ],
)
def test_the_environment_may_hold_several_keys(
    choosing: Choosing, env: dict[str, str], keys: list[str] | None
) -> None:
    choice = choosing({"provider": "alpha"}, **env)
    if keys is None:
        assert choice.notices
        return
    assert keys_of(choice) == keys


@pytest.mark.parametrize("written", ["ALPHA_KEY", "${ALPHA_KEY}", " ALPHA_KEY "])
def test_a_configured_key_may_name_its_variable(choosing: Choosing, written: str) -> None:
    env = {"ALPHA_KEY": "secret", "ALPHA_KEYS": "more"}
    for search in (
        {"provider": "alpha", "remote": {"apiKey": written}},
        {"provider": "alpha", "models": {"providers": {"alphabet": {"apiKey": written}}}},
    ):
        assert keys_of(choosing(search, **env)) == ["secret"]


def test_a_configured_name_that_is_not_set_is_said(choosing: Choosing) -> None:
    choice = choosing({"provider": "alpha", "remote": {"apiKey": "ALPHA_OTHER"}}, ALPHA_KEY="a")
    assert "ALPHA_OTHER is not set" in choice.notices[0]
    # The name of another's variable is no reference: it might be a key.
    assert keys_of(choosing({"provider": "alpha", "remote": {"apiKey": "BETA_KEY"}})) == [
        "BETA_KEY"
    ]


def test_a_server_that_is_named_by_address_gets_the_model_that_is_named(choosing: Choosing) -> None:
    search = {"model": "m", "local": {"modelPath": "/m.gguf"}}
    assert context_of(choosing(search)).model == ""
    search["remote"] = {"baseUrl": "http://127.0.0.1:1234/v1"}
    assert context_of(choosing(search)).model == "m"


def test_a_reference_that_leads_nowhere_is_said(choosing: Choosing) -> None:
    choice = choosing({"provider": "alpha", "remote": {"apiKey": "${GONE}"}})
    assert ids(choice) == []
    assert "GONE" in choice.notices[0]


def test_the_fallback_has_its_own_model_and_key(choosing: Choosing) -> None:
    search = {
        "provider": "alpha",
        "fallback": "beta",
        "model": "big",
        "remote": {"apiKey": "own", "headers": {"x-a": "b"}},
    }
    choice = choosing(search, BETA_KEY="b")
    assert ids(choice) == ["alpha", "beta"]
    first, second = context_of(choice), context_of(choice, 1)
    assert (first.model, first.api_key, first.headers) == ("big", "own", {"x-a": "b"})
    assert (second.model, second.api_key, second.headers) == ("", "b", {})


def test_a_fallback_serves_where_the_first_cannot_be_made(choosing: Choosing) -> None:
    choice = choosing({"provider": "broken", "fallback": "beta"}, BETA_KEY="b")
    assert ids(choice) == ["beta"]
    assert "no lib. Fix: get it" in choice.notices[0]


def test_an_unknown_provider_is_reported_with_a_suggestion(choosing: Choosing) -> None:
    choice = choosing({"provider": "alhpa"}, ALPHA_KEY="a")
    assert ids(choice) == []
    assert "alpha" in choice.notices[0]


def test_no_key_is_ever_shown(choosing: Choosing) -> None:
    choice = choosing({"provider": "alpha", "remote": {"apiKey": "tops3cret"}})
    assert context_of(choice).api_key == "tops3cret"
    assert "tops3cret" not in repr(choice) + repr(context_of(choice)) + str(choice.notices)


def test_who_cannot_be_made_is_reported_with_reason_and_time(choosing: Choosing) -> None:
    choice = choosing({"provider": "broken", "fallback": "beta"}, BETA_KEY="b")
    assert choice.service is not None
    absent = choice.service.absent
    assert absent is not None
    assert (absent.part, absent.reason) == ("broken", choice.notices[0])
    assert absent.since > 0
    assert choice.service.primary is None
    assert choice.service.standby is choice.service.providers[0]


def test_a_provider_that_fails_while_it_is_made_is_reported_without_its_words(
    host: PluginHost, choosing: Choosing
) -> None:
    def make(context: ProviderContext) -> Echo:
        raise KeyError(context.api_key)

    host.register(Plugin("failing", make, credentials=ALPHA), name="failing")
    choice = choosing({"provider": "failing"}, ALPHA_KEY="tops3cret")
    assert ids(choice) == []
    words = "provider 'failing' of failing failed: it could not be built: KeyError"
    assert choice.notices == (f"{words}. Fix: {SEE_TRACEBACK}",)


@pytest.mark.parametrize("keys", [{"ALPHA_KEY": "tops3cret"}, {"ALPHA_KEYS": "one-key, another"}])
def test_a_failure_is_forgotten_when_the_plugin_s_code_changes(
    keys: dict[str, str],
    host: PluginHost,
    choosing: Choosing,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken(Echo):
        def embed(
            self, texts: Sequence[str], *, purpose: str, deadline: Deadline
        ) -> Sequence[Sequence[float]]:
            raise RuntimeError("a bug")

    module = ModuleType("broken_plugin")
    file = tmp_path / "broken_plugin.py"
    file.touch()
    os.utime(file, (1000, 1000))
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    Broken.__module__ = module.__name__
    host.register(Plugin("ailing", Broken, credentials=ALPHA), name="ailing")

    def chosen() -> GuardedProvider:
        service = choosing({"provider": "ailing"}, **keys).service
        assert service is not None
        return service.providers[0]

    with pytest.raises(ProviderError, match="RuntimeError"):
        chosen().query("text", deadline=NEVER)
    assert chosen().state("query").state == "open"
    os.utime(file, (2000, 2000))  # as an editor does
    assert chosen().state("query").state == "closed"


def test_prefixes_and_the_local_section_reach_whom_they_are_for(choosing: Choosing) -> None:
    search = {
        "provider": "alpha",
        "fallback": "beta",
        "queryPrefix": "q: ",
        "documentPrefix": "d: ",
        "inputType": "passage",
        "local": {"threads": 3, "idleSeconds": 60},
    }
    choice = choosing(search, ALPHA_KEY="a", BETA_KEY="b")
    first, second = context_of(choice), context_of(choice, 1)
    assert (first.query_prefix, first.document_prefix) == ("q: ", "d: ")
    assert first.options["input_type"] == "passage"
    assert (second.query_prefix, second.document_prefix) == (None, None)
    assert "input_type" not in second.options
    assert "threads" not in first.options
    own = context_of(choosing({**search, "provider": "local"}))
    assert (own.options["threads"], own.options["idle_seconds"]) == (3, 60)
    assert "idle_seconds" not in context_of(choosing({"provider": "local"})).options
