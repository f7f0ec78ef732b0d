"""A key, and every header, goes to the address that it was configured with, and nowhere else."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.config.load import load_settings, section_class
from commonplace.embedding.access import Access, access_of
from commonplace.errors import UnavailableError
from commonplace.host.host import PluginHost
from commonplace.model.plugins import Credentials, Registration

if TYPE_CHECKING:
    from collections.abc import Mapping

VENDOR = "https://api.vendor.test/v1"
GATEWAY = "http://gateway.test:4000/v1"
OTHER = "http://127.0.0.1:8000/v1"
CREDENTIALS = Credentials(
    env=("VENDOR_KEY",),
    config=("vendor", "vendor-too"),
    hosts=("vendor.test",),
    address="VENDOR_BASE_URL",
)
REGISTRATION: Registration[Any] = Registration("vendor", "", object, credentials=CREDENTIALS)


def access(
    folder: Path,
    *,
    remote: Mapping[str, object] | None = None,
    section: Mapping[str, object] | None = None,
    env: Mapping[str, str] | None = None,
    dotenv: str = "",
    block: Mapping[str, object] | None = None,
    provider: str = "vendor",
    primary: bool = True,
) -> Access:
    """How the vendor is reached with these settings, as far as they are given."""
    home = folder / ".openclaw"
    home.mkdir(exist_ok=True)
    if dotenv:
        (home / ".env").write_text(dotenv, encoding="utf-8")
    content: dict[str, Any] = {"memory": {"search": {"provider": provider}}}
    if remote is not None:
        content["memory"]["search"]["remote"] = remote
    if section is not None:
        content["models"] = {"providers": {"vendor": section}}
    if block is not None:
        content["env"] = block
    (home / "openclaw.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
    whole = {"HOME": str(folder), "COMMONPLACE_STATE_DIR": str(folder / "state"), **(env or {})}
    settings = load_settings(
        workspace=str(folder), env=whole, sections=partial(section_class, PluginHost(env={}))
    )
    return access_of(settings, whole, REGISTRATION, primary=primary)


def keys(found: Access) -> list[str]:
    return [key.value for key in found.keys]


@pytest.mark.parametrize(
    ("remote", "section", "env", "address"),
    [
        ({}, {}, {}, None),
        ({}, {"baseUrl": GATEWAY}, {}, GATEWAY),
        ({"baseUrl": OTHER}, {"baseUrl": GATEWAY}, {}, OTHER),
        ({"baseUrl": ""}, {"baseUrl": GATEWAY}, {}, GATEWAY),
        ({"baseUrl": " "}, {"baseUrl": " "}, {}, None),
        ({}, {}, {"VENDOR_BASE_URL": OTHER}, OTHER),
        ({}, {"baseUrl": GATEWAY}, {"VENDOR_BASE_URL": OTHER}, GATEWAY),
        ({}, {"baseUrl": "${GATEWAY_URL}"}, {"GATEWAY_URL": GATEWAY}, GATEWAY),
        ({"baseUrl": "${GATEWAY_URL}"}, {}, {"GATEWAY_URL": GATEWAY}, GATEWAY),
    ],
)
def test_the_address_is_the_nearest_one(
    tmp_path: Path,
    remote: dict[str, object],
    section: dict[str, object],
    env: dict[str, str],
    address: str | None,
) -> None:
    assert access(tmp_path, remote=remote, section=section, env=env).base_url == address


def test_headers_are_merged_whatever_their_case_and_remote_wins(tmp_path: Path) -> None:
    found = access(
        tmp_path,
        remote={"headers": {"X-Route": "large", "x-own": "1"}},
        section={"baseUrl": GATEWAY, "headers": {"x-route": "small", "x-team": "${TEAM}"}},
        env={"TEAM": "a"},
    )
    assert found.headers == {"X-Route": "large", "x-team": "a", "x-own": "1"}


def test_a_fallback_has_its_own_address_headers_and_key(tmp_path: Path) -> None:
    section = {"baseUrl": GATEWAY, "apiKey": "of-the-gateway", "headers": {"x-team": "a"}}
    remote = {"baseUrl": OTHER, "apiKey": "of-remote", "headers": {"x-own": "1"}}
    found = access(tmp_path, remote=remote, section=section, primary=False)
    assert (found.base_url, keys(found)) == (GATEWAY, ["of-the-gateway"])
    assert found.headers == {"x-team": "a"}
    assert found.named


def test_a_blank_key_leaves_it_to_the_provider_s_own(tmp_path: Path) -> None:
    section = {"baseUrl": GATEWAY, "apiKey": "of-the-gateway"}
    assert keys(access(tmp_path, remote={"apiKey": ""}, section=section)) == ["of-the-gateway"]
    blank = access(
        tmp_path, remote={"apiKey": " "}, section={"apiKey": ""}, env={"VENDOR_KEY": "e"}
    )
    assert keys(blank) == ["e"]


# What goes where: the table of the page on configuration, row by row. ``key`` is the one sent.
SECTION_HERE = {"baseUrl": GATEWAY, "apiKey": "s"}
SECTION_PLAIN = {"apiKey": "s"}
ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("remote to its own address", {"remote": {"baseUrl": GATEWAY, "apiKey": "r"}}, ["r"]),
    ("remote to the section's", {"remote": {"apiKey": "r"}, "section": SECTION_HERE}, ["r"]),
    ("remote to the vendor", {"remote": {"apiKey": "r"}}, ["r"]),
    (
        "remote to a variable's address",
        {"remote": {"apiKey": "r"}, "env": {"VENDOR_BASE_URL": GATEWAY}},
        [],
    ),
    (
        "remote to the vendor's in a variable",
        {"remote": {"apiKey": "r"}, "env": {"VENDOR_BASE_URL": VENDOR}},
        ["r"],
    ),
    ("a section to its own address", {"section": SECTION_HERE}, ["s"]),
    ("a section to the vendor", {"section": SECTION_PLAIN}, ["s"]),
    ("a section elsewhere", {"section": SECTION_PLAIN, "remote": {"baseUrl": GATEWAY}}, []),
    ("another section elsewhere", {"section": SECTION_HERE, "remote": {"baseUrl": OTHER}}, []),
    ("a gateway's key to the vendor", {"section": SECTION_HERE, "remote": {"baseUrl": VENDOR}}, []),
    ("the same server", {"section": SECTION_HERE, "remote": {"baseUrl": GATEWAY + "/x"}}, ["s"]),
    (
        "another port",
        {"section": SECTION_HERE, "remote": {"baseUrl": "http://gateway.test/v1"}},
        [],
    ),
    (
        "not encrypted",
        {"section": SECTION_PLAIN, "remote": {"baseUrl": "http://api.vendor.test/v1"}},
        [],
    ),
    ("the vendor by name", {"section": SECTION_PLAIN, "remote": {"baseUrl": VENDOR}}, ["s"]),
    (
        "the vendor's other servers",
        {"section": SECTION_PLAIN, "remote": {"baseUrl": "https://eu.api.vendor.test/v1"}},
        ["s"],
    ),
    (
        "another that ends alike",
        {"section": SECTION_PLAIN, "remote": {"baseUrl": "https://notvendor.test/v1"}},
        [],
    ),
    ("a variable to the vendor", {"env": {"VENDOR_KEY": "e"}}, ["e"]),
    ("a variable elsewhere", {"env": {"VENDOR_KEY": "e"}, "remote": {"baseUrl": GATEWAY}}, []),
    (
        "a variable to a section's address",
        {"env": {"VENDOR_KEY": "e"}, "section": {"baseUrl": GATEWAY}},
        [],
    ),
    (
        "variables that stand together",
        {"env": {"VENDOR_KEY": "e", "VENDOR_BASE_URL": GATEWAY}},
        ["e"],
    ),
    (
        "variables that stand together, and the vendor is named",
        {
            "env": {"VENDOR_KEY": "e", "VENDOR_BASE_URL": GATEWAY},
            "remote": {"baseUrl": VENDOR},
        },
        [],
    ),
    (
        "a key of a file, an address of the shell",
        {"env": {"VENDOR_BASE_URL": GATEWAY}, "dotenv": "VENDOR_KEY=d"},
        [],
    ),
    (
        "a key of the shell, an address of a file",
        {"env": {"VENDOR_KEY": "e"}, "dotenv": f"VENDOR_BASE_URL={GATEWAY}"},
        [],
    ),
    (
        "both in a file",
        {"dotenv": f"VENDOR_BASE_URL={GATEWAY}\nVENDOR_KEY=d"},
        ["d"],
    ),
    ("the file before the block", {"dotenv": "VENDOR_KEY=d", "block": {"VENDOR_KEY": "b"}}, ["d"]),
    ("the shell before both", {"env": {"VENDOR_KEY": "e"}, "dotenv": "VENDOR_KEY=d"}, ["e"]),
    ("the block last", {"block": {"vars": {"VENDOR_KEY": "b"}}}, ["b"]),
    (
        "a key that cannot be sent does not hide one that can",
        {"remote": {"baseUrl": GATEWAY}, "section": SECTION_HERE, "env": {"VENDOR_KEY": "e"}},
        ["s"],
    ),
]


@pytest.mark.parametrize(("given", "sent"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_what_is_sent_where(tmp_path: Path, given: dict[str, Any], sent: list[str]) -> None:
    found = access(tmp_path, **given)
    assert keys(found) == sent
    assert bool(found.withheld) == (not sent)


def test_a_key_that_is_withheld_is_named_with_its_place(tmp_path: Path) -> None:
    found = access(tmp_path, section=SECTION_PLAIN, remote={"baseUrl": OTHER})
    assert found.key_origin.startswith(
        "no key was sent: that of models.providers.vendor.apiKey in "
    )
    assert "openclaw.json:" in found.key_origin
    assert found.key_origin.endswith("is for the vendor alone")
    found = access(tmp_path, section=SECTION_HERE, remote={"baseUrl": OTHER})
    assert found.key_origin.endswith("is for http://gateway.test:4000 alone")


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        ({"remote": {"apiKey": "x"}}, "memory.search.remote.apiKey in {file}:"),
        ({"section": {"apiKey": "x"}}, "models.providers.vendor.apiKey in {file}:"),
        ({"section": {"apiKey": "${A_KEY}"}, "env": {"A_KEY": "x"}}, "(from ${{A_KEY}})"),
        ({"section": {"apiKey": "VENDOR_KEY"}, "env": {"VENDOR_KEY": "x"}}, "(from VENDOR_KEY)"),
        ({"env": {"VENDOR_KEY": "x"}}, "VENDOR_KEY"),
        ({"env": {"VENDOR_KEYS": "x,y"}}, "VENDOR_KEYS"),
        ({"env": {"VENDOR_KEY_7": "x"}}, "VENDOR_KEY_7"),
        ({"dotenv": "# a\nexport VENDOR_KEY='x'"}, "VENDOR_KEY in {folder}/.env:2"),
        ({"block": {"VENDOR_KEY": "x"}}, "VENDOR_KEY in {file}:"),
    ],
)
def test_where_a_key_came_from(tmp_path: Path, given: dict[str, Any], origin: str) -> None:
    found = access(tmp_path, **given)
    assert keys(found)[0] == "x"
    folder = tmp_path / ".openclaw"
    assert origin.format(folder=folder, file=folder / "openclaw.json") in found.key_origin


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"env": {"VENDOR_KEY": "x"}}, False),
        ({"dotenv": "VENDOR_KEY=x"}, False),
        ({"block": {"VENDOR_KEY": "x"}}, False),
        ({"env": {"VENDOR_KEY": "x"}, "section": {"baseUrl": OTHER}}, False),
        ({"section": {"apiKey": "x"}}, True),
        ({"remote": {"apiKey": "x"}}, True),
        ({"remote": {"baseUrl": OTHER}}, True),
        ({"env": {"VENDOR_KEY": "x"}, "provider": "vendor"}, True),
    ],
)
def test_what_asks_for_a_provider(tmp_path: Path, given: dict[str, Any], named: bool) -> None:
    assert access(tmp_path, **{"provider": "auto", **given}).named == named


def test_a_section_is_taken_whole_from_the_nearest_file(tmp_path: Path) -> None:
    user = tmp_path / ".config" / "commonplace" / "config.json5"
    user.parent.mkdir(parents=True)
    user.write_text('{ models: { providers: { vendor: { apiKey: "of-the-user" } } } }')
    found = access(tmp_path, section={"baseUrl": GATEWAY, "apiKey": "of-the-gateway"})
    assert (found.base_url, keys(found)) == (None, ["of-the-user"])
    user.write_text("{ models: { providers: { vendor: { models: [] } } } }")
    found = access(tmp_path, section={"baseUrl": GATEWAY, "apiKey": "of-the-gateway"})
    assert (found.base_url, keys(found)) == (GATEWAY, ["of-the-gateway"])


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"baseUrl": 5}, "models.providers.vendor.baseUrl in .*: must be an address"),
        ({"apiKey": 5}, "models.providers.vendor.apiKey in .*: must be a string"),
        ({"headers": ["x"]}, "models.providers.vendor.headers in .*: must be an object"),
        ({"headers": {"x": 5}}, "models.providers.vendor.headers.x in .*: must be a string"),
        ({"baseUrl": "${GONE_URL}"}, "GONE_URL is not set"),
        ({"headers": {"x": "${GONE}"}}, "GONE is not set"),
        ({"apiKey": {"source": "exec", "id": "x"}}, "cannot ask"),
    ],
)
def test_a_section_that_cannot_be_used_is_reported_and_never_passed_over(
    tmp_path: Path, section: dict[str, object], words: str
) -> None:
    with pytest.raises(UnavailableError, match=words) as caught:
        access(tmp_path, section=section)
    assert caught.value.hint


ADDRESSES = st.sampled_from(["", VENDOR, GATEWAY, OTHER, "http://gateway.test:4001/v1"])


def section_of(draw: st.DrawFn, name: str, home: str, homes: dict[str, str]) -> dict[str, Any]:
    """A key and a header, each there or not, which belong to ``home``."""
    section: dict[str, Any] = {}
    if draw(st.booleans()):
        section["apiKey"] = f"{name}-key"
        homes[f"{name}-key"] = home
    if draw(st.booleans()):
        section["headers"] = {f"x-{name}": f"{name}-header"}
        homes[f"{name}-header"] = home
    return section


@st.composite
def configurations(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, str]]:
    """Settings, and for each key and header in them the address that it belongs to."""
    homes: dict[str, str] = {}
    given_: dict[str, Any] = {}
    section_url, remote_url = "", draw(ADDRESSES)
    if draw(st.booleans()):
        section_url = draw(ADDRESSES)
        own = section_of(draw, "section", section_url or VENDOR, homes)
        given_["section"] = {"baseUrl": section_url, **own}
    if draw(st.booleans()):
        own = section_of(draw, "remote", remote_url or section_url or VENDOR, homes)
        given_["remote"] = {"baseUrl": remote_url, **own}
    for place in ("env", "block"):
        url = draw(ADDRESSES)
        if draw(st.booleans()):
            homes[f"{place}-key"] = url or VENDOR
            given_[place] = {"VENDOR_KEY": f"{place}-key", "VENDOR_BASE_URL": url}
    return given_, homes


def server(url: str) -> str:
    return "/".join(url.split("/")[:3])


@given(configurations())
def test_nothing_goes_to_an_address_that_it_was_not_configured_with(
    configuration: tuple[dict[str, Any], dict[str, str]],
) -> None:
    given_, homes = configuration
    with TemporaryDirectory() as folder:
        found = access(Path(folder), **given_)
    target = found.base_url or VENDOR
    for sent in (*keys(found), *found.headers.values()):
        assert server(homes[sent]) == server(target), (sent, target)
