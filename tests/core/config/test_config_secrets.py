"""Secrets are passed on, and never seen."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.config.load import load_settings
from commonplace.config.reports import check, explain
from commonplace.config.secret import Secret
from commonplace.errors import ConfigError, UnavailableError
from commonplace.model.plugins import Group, setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.config.settings import Settings

SECRETS = st.text(st.characters(categories=["Lu", "Ll", "Nd", "Lo"]), min_size=12, max_size=30).map(
    lambda text: f"sk-{text}"
)


class PluginConfig(Group):
    """A plugin that knows of secrets, and keeps one as plain text all the same."""

    api_key: Secret | None = setting("", default=None)
    auth_token: str = setting("", default="", veiled=True)


def config_with(secret: str, bad: Any) -> dict[str, Any]:
    """The secret wherever one may stand, and, with ``bad``, where none may."""
    return {
        "models": {"providers": {"openai": {"apiKey": secret, "headers": {"X-Key": secret}}}},
        "plugins": {"entries": {"p": {"config": {"apiKey": secret, "authToken": secret}}}},
        "memory": {
            "mine": {"token": secret, "list": [secret, {"deep": secret}]},
            "search": {
                "remote": {
                    "apiKey": secret,
                    "baseUrl": f"https://user:{secret}@host.test/v1?key={secret}#{secret}",
                    "headers": {"Authorization": f"Bearer {secret}"},
                },
                **({bad: secret} if bad else {}),
            },
        },
        "channels": {"x": {"token": secret}},
    }


def words_of(error: BaseException | None) -> str:
    words = ""
    while error is not None:
        words += repr(error) + str(error) + repr(vars(error))
        error = error.__cause__ or error.__context__
    return words


BAD = ["query", "enabled", "sources", "extraPaths", "store", "unknownKey", "cache", "provider"]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(secret=SECRETS, bad=st.sampled_from([None, *BAD]), in_file=st.booleans())
def test_no_secret_is_ever_seen(
    secret: str,
    bad: str | None,
    in_file: bool,
    env: dict[str, str],
    workspace: str,
    write: Callable[[str, Any], str],
) -> None:
    content = config_with(secret, bad)
    arguments: dict[str, Any] = {
        "workspace": workspace,
        "env": env,
        "config": write("named", content) if in_file else content,
        "sections": lambda name: PluginConfig if name.endswith(".p.config") else None,
    }
    seen = repr(check(**arguments))
    try:
        loaded = load_settings(**arguments)
    except ConfigError as error:
        seen += words_of(error)
    else:
        seen += repr(loaded) + repr(loaded.search.remote) + repr(loaded.providers)
        seen += repr(loaded.sections) + str(loaded.sections["memory.mine"])
        seen += repr(loaded.sections["memory.mine"]["list"])
        seen += repr(explain(**arguments)).replace(f"provider', value='{secret}'", "")
        assert loaded.search.remote.api_key is not None
        assert loaded.search.remote.api_key.reveal({}) == secret
    if bad == "provider":
        # What is written where an id belongs is an id, and shown.
        seen = seen.replace(f"provider='{secret}'", "")
    assert secret not in seen


def test_a_syntax_error_shows_no_secret(
    write: Callable[[str, Any], str], load: Callable[..., Settings]
) -> None:
    write("user", "{models: {providers: {openai: {apiKey: 'sk-hush-hush'}}} 'sk-hush-hush'}")
    with pytest.raises(ConfigError) as caught:
        load()
    assert "hush" not in words_of(caught.value)


def test_references_are_looked_up_when_they_are_used(load: Callable[..., Settings]) -> None:
    remote = {"apiKey": "${MY_KEY}", "headers": {"Authorization": "Bearer ${MY_KEY}"}}
    found = load(config={"memory": {"search": {"remote": remote}}}).search.remote
    assert found.api_key is not None
    assert found.api_key.reveal({"MY_KEY": "k"}) == "k"
    assert found.headers["Authorization"].reveal({"MY_KEY": "k"}) == "Bearer k"
    with pytest.raises(UnavailableError, match="MY_KEY is not set") as caught:
        found.api_key.reveal({})
    assert "export MY_KEY" in caught.value.hint
    assert repr(found.api_key) == "Secret(from ${MY_KEY})"


@pytest.mark.parametrize(
    ("raw", "env", "revealed"),
    [
        ("plain", {}, "plain"),
        ("${A}${B}", {"A": "1", "B": "2"}, "12"),
        ("$${A}", {"A": "1"}, "${A}"),
        ("${lower}", {}, "${lower}"),
        ({"source": "env", "id": "A"}, {"A": "1"}, "1"),
    ],
)
def test_what_a_secret_reveals(raw: Any, env: dict[str, str], revealed: str) -> None:
    assert Secret(raw).reveal(env) == revealed


def test_a_reference_to_another_store_is_kept_as_data_and_cannot_be_asked() -> None:
    secret = Secret({"source": "exec", "provider": "vault", "id": "openai"})
    with pytest.raises(UnavailableError, match="commonplace cannot ask"):
        secret.reveal({})
    assert "vault" not in repr(secret)


def test_secrets_are_compared_by_what_they_are() -> None:
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2
    assert Secret("a") != "a"


def test_a_text_that_refers_to_a_variable(
    env: dict[str, str], load: Callable[..., Settings]
) -> None:
    config = {"memory": {"search": {"model": "${MODEL}-$${X}"}}}
    with pytest.raises(ConfigError, match="MODEL, which is not set"):
        load(config=config)
    env["MODEL"] = "m"
    assert load(config=config).search.model == "m-${X}"


def test_addresses_are_shown_without_credentials(env: dict[str, str], workspace: str) -> None:
    remote = {"baseUrl": "https://me:pw@host.test:8080/v1?key=k#f"}
    rows = explain(workspace=workspace, env=env, config={"memory": {"search": {"remote": remote}}})
    (row,) = (row for row in rows if row.key.endswith("remote.baseUrl"))
    assert row.value == "https://host.test:8080/v1"


def test_opaque_sections_can_be_read(load: Callable[..., Settings]) -> None:
    section = load(config={"memory": {"mine": {"a": {"b": [1]}}}}).sections["memory.mine"]
    assert section == {"a": {"b": (1,)}}
    assert len(section) == 1
    with contextlib.suppress(TypeError):
        section["a"] = 1  # type: ignore[index]  # that it cannot be written is what is tested
    assert section == {"a": {"b": (1,)}}
