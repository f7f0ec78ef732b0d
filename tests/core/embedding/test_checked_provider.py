"""What a provider's plugin says of itself is checked: what it must not say makes it unavailable."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest

from commonplace import Memory
from commonplace.embedding.guarded import CheckedProvider
from commonplace.errors import (
    DeadlineExceededError,
    PluginUnavailableError,
    ProviderError,
    UnavailableError,
    how_to_install,
)
from commonplace.host.discovery import installed
from commonplace.host.host import PluginHost
from commonplace.plugin import Credentials, Limits, hookimpl
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from pathlib import Path

LABEL = "provider 'acme' of acme_embed (acme-embed 1.2)"


class Provider:
    """A provider that is lawful, but for what it is given."""

    def __init__(self, **parts: Any) -> None:
        lawful = {"limits": Limits(), "model": "m", "concurrency": 1, "capabilities": frozenset()}
        self.parts = {**lawful, "fingerprint": "acme-1", **parts}

    def __getattr__(self, name: str) -> Any:
        return self._of(name)

    def _of(self, name: str) -> Any:
        part = vars(self)["parts"][name]
        if isinstance(part, BaseException):
            raise part
        return part

    def fingerprint(self) -> Any:
        return self._of("fingerprint")

    def embed(self, texts: Any, *, purpose: str, deadline: Deadline) -> Any:
        return [[1.0, 0.0] for _ in texts]

    def close(self) -> None:
        self._of("closing")


BAD: dict[str, dict[str, Any]] = {
    "a fingerprint that raises": {"fingerprint": ValueError("secret-key")},
    "a fingerprint that exits": {"fingerprint": SystemExit(3)},
    "a fingerprint that interrupts": {"fingerprint": KeyboardInterrupt()},
    "no fingerprint": {"fingerprint": None},
    "an empty fingerprint": {"fingerprint": ""},
    "limits that raise": {"limits": RuntimeError("secret-key")},
    "no limits": {"limits": None},
    "limits of nonsense": {"limits": Limits(items=0)},
    "a limit as text": {"limits": Limits(tokens="many")},  # type: ignore[arg-type]
    "seconds that are none": {"limits": Limits(query_seconds=float("nan"))},
    "no concurrency": {"concurrency": None},
    "no capabilities": {"capabilities": None},
    "a model of nothing": {"model": None},
}


@pytest.mark.parametrize("name", BAD)
def test_what_a_provider_must_not_say_makes_it_unavailable(name: str) -> None:
    with pytest.raises(PluginUnavailableError) as caught:
        CheckedProvider(Provider(**BAD[name]), LABEL, trusted=False)
    assert str(caught.value).startswith(f"{LABEL} failed: its ")
    assert "secret-key" not in str(caught.value)


def test_its_own_reason_for_having_no_fingerprint_yet_passes() -> None:
    provider = Provider(fingerprint=UnavailableError("the model is not downloaded"))
    checked = CheckedProvider(provider, LABEL, trusted=True)
    with pytest.raises(UnavailableError, match="not downloaded"):
        checked.fingerprint()


def test_what_fails_later_is_refused_then() -> None:
    provider = Provider(closing=SystemExit(1))
    checked = CheckedProvider(provider, LABEL, trusted=True)
    provider.parts |= {"model": None, "limits": None}
    assert checked.model == "m"
    with pytest.raises(PluginUnavailableError, match="its limits cannot be"):
        _ = checked.limits
    checked.close()


def test_a_request_that_keeps_no_deadline_is_given_up() -> None:
    done = Event()
    provider = Provider()
    vars(provider)["embed"] = lambda *_, **__: done.wait(30)
    checked = CheckedProvider(provider, LABEL, trusted=False)
    with pytest.raises(DeadlineExceededError):
        checked.embed(["a"], purpose="query", deadline=Deadline.after(0.01))
    done.set()


def test_a_library_that_is_missing_is_named() -> None:
    absent = ModuleNotFoundError("secret-key", name="frobnicate")

    def embed(*_: Any, **__: Any) -> Any:
        raise absent

    provider = Provider()
    vars(provider)["embed"] = embed
    checked = CheckedProvider(provider, LABEL, trusted=True, install=lambda _: "install it")
    with pytest.raises(ProviderError) as caught:
        checked.embed(["a"], purpose="query", deadline=Deadline.after(30))
    assert str(caught.value) == f"{LABEL} failed: No module named 'frobnicate'"
    assert (caught.value.kind, caught.value.hint) == ("protocol", "install it")
    with pytest.raises(PluginUnavailableError, match="needs a module named 'frobnicate'") as fact:
        CheckedProvider(
            Provider(limits=absent), LABEL, trusted=True, install=lambda _: "install it"
        )
    assert fact.value.hint == "install it"


class Plugin:
    """Registers one provider."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider

    @hookimpl
    def commonplace_register_providers(self, register: Any) -> None:
        register.provider("acme", lambda _: self.provider, summary="for tests")


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(
    "name", ["a fingerprint that raises", "no fingerprint", "limits that raise", "no limits"]
)
def test_keywords_answer_and_the_status_says_why(tmp_path: Path, name: str, later: bool) -> None:
    (tmp_path / "MEMORY.md").write_text("The ferry leaves at nine.\n")
    env = {"COMMONPLACE_STATE_DIR": str(tmp_path / "state"), "HOME": str(tmp_path)}
    provider = Provider(**({} if later else BAD[name]))
    host = PluginHost(installed(), env={})
    host.register(Plugin(provider), name="acme_embed")
    config = {"memory": {"search": {"provider": "acme"}}}
    with Memory.open(workspace=tmp_path, config=config, env=env, host=host) as memory:
        if later:
            memory.sync()
            provider.parts |= BAD[name]
        result = memory.search("ferry")
        assert [hit.path for hit in result.hits] == ["MEMORY.md"]
        status = memory.status(deep=True)
        assert status.backend == "builtin"
        assert status.available
        reasons = [one.reason for one in status.providers if one.state == "unusable"]
        assert any("acme_embed failed: it" in reason for reason in reasons), reasons
        memory.sync()


LAZY = """
from commonplace.plugin import Credentials, Limits, hookimpl


class Acme:
    model, limits, concurrency, capabilities = "m", Limits(), 1, frozenset()

    def __init__(self, context):
        pass

    def fingerprint(self):
        return "acme"

    def embed(self, texts, *, purpose, deadline):
        import frobnicate

    def close(self):
        pass


@hookimpl
def commonplace_register_providers(register):
    register.provider("acme", Acme, summary="acme")
"""


def test_what_to_install_is_said_by_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "site" / "acme_parts-1.0.dist-info"
    info.mkdir(parents=True)
    (info.parent / "lazy_acme.py").write_text(LAZY)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.4\nName: acme-parts\nVersion: 1.0\n"
        "Requires-Dist: frobnicate; extra == 'fast'\n"
    )
    (info / "entry_points.txt").write_text("[commonplace]\nprovider.acme = lazy_acme\n")
    monkeypatch.syspath_prepend(str(info.parent))
    (tmp_path / "MEMORY.md").write_text("The ferry leaves at nine.\n")
    env = {"COMMONPLACE_STATE_DIR": str(tmp_path / "state"), "HOME": str(tmp_path)}
    config = {"memory": {"search": {"provider": "acme"}}}
    host = PluginHost(installed(), env={})
    with Memory.open(workspace=tmp_path, config=config, env=env, host=host) as memory:
        memory.sync()
        (provider,) = memory.status().providers
    lacks = "provider 'acme' of lazy_acme (acme-parts 1.0) failed: No module named 'frobnicate'"
    assert lacks in provider.reason
    assert how_to_install("acme-parts[fast]") in provider.reason


def test_a_deep_status_that_is_answered_ends_a_failure_of_queries(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("The ferry leaves at nine.\n")
    env = {"COMMONPLACE_STATE_DIR": str(tmp_path / "state"), "HOME": str(tmp_path)}
    provider = Provider(capabilities=frozenset({"remote"}), host="acme.example")
    vars(provider)["embed"] = embed = Mock(side_effect=provider.embed)
    host = PluginHost(installed(), env={})
    host.register(Plugin(provider), name="acme_embed")
    config = {"memory": {"search": {"provider": "acme"}}}

    def states() -> list[str]:
        with Memory.open(workspace=tmp_path, config=config, env=env, host=host) as memory:
            return [one.state for one in memory.status().providers]

    with Memory.open(workspace=tmp_path, config=config, env=env, host=host) as memory:
        memory.sync()
        answers, embed.side_effect = (
            embed.side_effect,
            ProviderError("no", provider="acme", kind="bad_request"),
        )
        memory.search("ferry")
        assert states() == ["failing"]
        assert [one.state for one in memory.status(deep=True).providers] == ["failing"]
        embed.side_effect = answers
        assert [one.state for one in memory.status(deep=True).providers] == ["ready"]
    assert states() == ["ready"]


def test_what_is_not_said_in_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonplace.embedding.guarded.FACT_SECONDS", 0.01)
    done = Event()

    class Slow(Provider):
        def fingerprint(self) -> str:
            done.wait(30)
            return "late"

    with pytest.raises(PluginUnavailableError, match="its fingerprint took more than"):
        CheckedProvider(Slow(), LABEL, trusted=False)
    done.set()


def test_what_hangs_once_is_not_waited_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    provider, done, asked = Provider(), Event(), []
    checked = CheckedProvider(provider, LABEL, trusted=False)
    monkeypatch.setattr("commonplace.embedding.guarded.FACT_SECONDS", 0.01)

    def fingerprint() -> str:
        asked.append(1)
        done.wait(30)
        return "late"

    vars(provider)["fingerprint"] = fingerprint
    for _ in range(3):
        with pytest.raises(UnavailableError):
            checked.fingerprint()
    assert len(asked) == 1
    done.set()


@pytest.mark.parametrize("failing", ["built", "limits", "embed"])
def test_no_traceback_shows_a_key_whatever_it_looks_like(
    failing: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COMMONPLACE_DEBUG", "1")

    class Leaking(Provider):
        def __init__(self, context: Any) -> None:
            self.words = f"refused {context.api_key} of {context.headers['X-Gate']}"
            super().__init__()
            if failing == "built":
                raise RuntimeError(self.words)
            if failing == "limits":
                self.parts["limits"] = RuntimeError(self.words)

        def embed(self, texts: Any, *, purpose: str, deadline: Deadline) -> Any:
            raise RuntimeError(self.words)

    class Registering:
        @hookimpl
        def commonplace_register_providers(self, register: Any) -> None:
            keys = Credentials(env=("ACME_API_KEY",))
            register.provider("acme", Leaking, summary="for tests", credentials=keys)

    (tmp_path / "MEMORY.md").write_text("# Notes\n\n- The key is at Mia's\n")
    remote = {"apiKey": "plain-words-here", "headers": {"X-Gate": "open sesame"}}
    config = {"memory": {"search": {"provider": "acme", "remote": remote}}}
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    host = PluginHost(installed(), env={})
    host.register(Registering(), name="acme_embed")
    with Memory.open(workspace=tmp_path, config=config, env=env, host=host) as memory:
        memory.sync()
    shown = capsys.readouterr().err
    assert "RuntimeError: refused *** of ***" in shown
    assert "plain-words" not in shown
    assert "sesame" not in shown
