from __future__ import annotations

import http.client
import socket
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from commonplace_qmd.engine.refusal import Refusal
from commonplace_qmd.engine.surroundings import surroundings

if TYPE_CHECKING:
    from tests.backends.qmd.engine.conftest import House

NOWHERE = "http://127.0.0.1:9/"


def test_keys_and_qmds_other_homes_are_not_handed_on(house: House) -> None:
    env = {
        "OPENAI_API_KEY": "secret",
        "HF_TOKEN": "secret",
        "HTTPS_PROXY": "http://user:secret@proxy",
        "QMD_TRUST_UPDATE_HOOKS": "1",
        "QMD_HOST": "0.0.0.0",
        "QMD_CONFIG_DIR": "/somebody/elses",
        "INDEX_PATH": "/somebody/elses",
        "NODE_OPTIONS": "--inspect",
        "FORCE_COLOR": "1",
    }
    seen = surroundings(house.home, env, endpoint=NOWHERE)
    assert not any("secret" in value for value in seen.values())
    assert not {"HF_TOKEN", "HTTPS_PROXY", "QMD_HOST", "NODE_OPTIONS"} & seen.keys()
    assert not {"OPENAI_API_KEY", "QMD_TRUST_UPDATE_HOOKS", "FORCE_COLOR"} & seen.keys()
    assert seen["QMD_CONFIG_DIR"] == house.home.config_dir
    assert seen["INDEX_PATH"] == house.home.index_path


def test_what_tunes_models_is(house: House) -> None:
    env = {"QMD_EMBED_MODEL": "/m.gguf", "CUDA_VISIBLE_DEVICES": "0", "PATH": "/bin", "LC_ALL": "C"}
    seen = surroundings(house.home, env, endpoint=NOWHERE)
    assert env.items() <= seen.items()


def test_only_who_may_fetch_models_knows_the_way(house: House) -> None:
    env = {"https_proxy": "http://proxy", "HF_ENDPOINT": "http://mirror"}
    assert env.items() <= surroundings(house.home, env, endpoint=None).items()
    seen = surroundings(house.home, env, endpoint=NOWHERE)
    assert seen["HF_ENDPOINT"] == seen["MODEL_ENDPOINT"] == NOWHERE
    assert "https_proxy" not in seen


def test_on_a_mac_its_memory_is_let_go(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert surroundings(house.home, {}, endpoint=NOWHERE)["GGML_METAL_NO_RESIDENCY"] == "1"
    kept = surroundings(house.home, {"QMD_METAL_KEEP_RESIDENCY": "1"}, endpoint=NOWHERE)
    assert "GGML_METAL_NO_RESIDENCY" not in kept


def test_the_stand_in_for_the_hub_has_nothing() -> None:
    refusal = Refusal()
    address = urlsplit(refusal.address())
    assert refusal.address() == address.geturl()
    for _ in range(2):
        asking = http.client.HTTPConnection(address.netloc, timeout=60)
        asking.request("GET", "/x/resolve/main/model.gguf")
        answer = asking.getresponse()
        assert (answer.status, answer.read()) == (404, b"")
        asking.close()
    refusal.close()
    refusal.close()
    with pytest.raises(ConnectionRefusedError), socket.socket() as gone:
        gone.connect((address.hostname, address.port))
