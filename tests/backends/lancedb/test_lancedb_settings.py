"""Every key of ``memory.lancedb``, and what becomes of secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.load import load_settings
from commonplace.config.reports import check
from commonplace.config.secret import Secret
from commonplace.config.shape import Shape
from commonplace.errors import UnavailableError
from commonplace_lancedb.settings import LanceSettings, location_of

if TYPE_CHECKING:
    from pathlib import Path

# key: ({given: taken}, what a file may not have)
KEYS: dict[str, tuple[dict[Any, Any], list[Any]]] = {
    "uri": (
        {
            "/data/memory.lance": "/data/memory.lance",
            "s3://bucket/path": "s3://bucket/path",
            "gs://bucket": "gs://bucket",
            "az://container/x": "az://container/x",
            "db://name": "db://name",
        },
        ["", 1, "https://example.com", "memory://", "ftp://x/y"],
    ),
    "storageOptions": ({}, ["text", {"aws_region": 1}, {"aws_region": ""}]),
    "apiKey": ({"k": Secret("k"), "": None}, [1]),
    "region": ({"eu-west-1": "eu-west-1"}, [1]),
    "hostOverride": (
        {"https://db.example.com/": "https://db.example.com", "http://[::1]:80": "http://[::1]:80"},
        ["db.example.com", "ftp://x", "https://user:key@example.com", ""],
    ),
    "namespace": ({"team-1": "team-1"}, ["", "../up", "a b", 1]),
    "tablePrefix": ({"x_": "x_"}, ["", "a/b", 1]),
    "readConsistencyInterval": ({0: 0.0, 2.5: 2.5}, [-1, 601, "5s", True]),
    "heldMegabytes": ({0: 0, 64: 64}, [-1, 0.5, "all"]),
    "cacheMegabytes": ({0: 0, 64: 64}, [-1, 0.5, "all"]),
    "vectorIndexRows": ({1_000: 1_000}, [999, 1_000.5, "many"]),
}


def load(tmp_path: Path, **section: Any) -> LanceSettings:
    settings = load_settings(
        workspace=str(tmp_path),
        config={"memory": {"backend": "lancedb", "lancedb": section}},
        env={"HOME": str(tmp_path), "S3_SECRET": "hush-hush"},
        sections=lambda name: LanceSettings if name == "memory.lancedb" else None,
    )
    loaded: LanceSettings = settings.section_values["memory.lancedb"]
    return loaded


def test_every_key_is_tried() -> None:
    assert set(Shape(LanceSettings).leaves) == set(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_valid_settings_are_read_and_invalid_ones_reported(tmp_path: Path, key: str) -> None:
    right, wrong = KEYS[key]
    name = Shape(LanceSettings).leaves[key].names[0]
    for given, taken in right.items():
        assert getattr(load(tmp_path, **{key: given}), name) == taken
    for given in wrong:
        report = check(
            workspace=str(tmp_path),
            config={"memory": {"lancedb": {key: given}}},
            env={"HOME": str(tmp_path)},
            sections=lambda section: LanceSettings if section == "memory.lancedb" else None,
        )
        assert any(f"memory.lancedb.{key}" in fault.key for fault in report.problems), given


def test_secrets_are_references_and_never_shown(tmp_path: Path) -> None:
    options = {"aws_secret_access_key": "${S3_SECRET}", "aws_access_key_id": "AKIA1234"}
    settings = load(tmp_path, uri="s3://b/p", storageOptions=options, apiKey="ldb_sesame")
    location = location_of("/state/main-1.sqlite", settings)
    for shown in (repr(settings), repr(location)):
        assert "hush" not in shown
        assert "AKIA1234" not in shown
        assert "ldb_sesame" not in shown
    assert location.arguments({"S3_SECRET": "hush-hush"}) == {
        "storage_options": {
            "aws_secret_access_key": "hush-hush",
            "aws_access_key_id": "AKIA1234",
            "client_retry_timeout": "30",
        }
    }
    with pytest.raises(UnavailableError, match="S3_SECRET is not set"):
        location.arguments({})


def test_a_bucket_is_asked_for_half_a_minute_unless_the_settings_say_otherwise() -> None:
    own = {"CLIENT_RETRY_TIMEOUT": Secret("90")}
    location = location_of("x.sqlite", LanceSettings(uri="s3://b/p", storage_options=own))
    assert location.arguments({}) == {"storage_options": {"CLIENT_RETRY_TIMEOUT": "90"}}
    assert location_of("x.sqlite", LanceSettings()).arguments({}) == {}


def test_by_default_it_lies_beside_the_index_under_its_name() -> None:
    location = location_of("/state/memory/main-0a1b.sqlite", LanceSettings())
    assert location.uri == location.folder == "/state/memory/main-0a1b.lance"
    assert (location.namespace, location.table) == ("main-0a1b", "commonplace_chunks_1")
    named = LanceSettings(uri="s3://b/p", namespace="team", table_prefix="x_")
    location = location_of("/state/memory/main-0a1b.sqlite", named)
    assert (location.folder, location.namespace, location.table) == (None, "team", "x_chunks_1")


def test_a_service_is_given_key_region_and_address() -> None:
    settings = LanceSettings(
        uri="db://memory",
        api_key=Secret("${KEY}"),
        region="eu-west-1",
        host_override="https://lance.example.com",
    )
    assert location_of("x.sqlite", settings).arguments({"KEY": "sesame"}) == {
        "api_key": "sesame",
        "region": "eu-west-1",
        "host_override": "https://lance.example.com",
    }


def test_a_key_from_the_environment_is_sent_to_its_vendor_only() -> None:
    env = {"LANCEDB_API_KEY": "sesame"}
    vendors = location_of("x.sqlite", LanceSettings(uri="db://memory"))
    assert vendors.arguments(env)["api_key"] == "sesame"
    other = LanceSettings(uri="db://memory", host_override="https://elsewhere.example.com")
    for location, given in ((location_of("x.sqlite", other), env), (vendors, {})):
        with pytest.raises(UnavailableError, match="no key") as caught:
            location.arguments(given)
        assert "apiKey" in caught.value.hint


def test_credentials_in_an_address_are_not_shown() -> None:
    location = location_of("x.sqlite", LanceSettings(uri="s3://key:secret@bucket/p"))
    assert location.shown == "s3://bucket/p"
