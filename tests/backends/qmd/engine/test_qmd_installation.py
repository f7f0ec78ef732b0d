from __future__ import annotations

import errno
import http.client
import json
import socket
import sys
import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from commonplace_qmd.engine import installation
from commonplace_qmd.engine.installation import (
    OfflineHub,
    Program,
    check_version,
    environment,
    locate,
)
from commonplace_qmd.engine.values import QmdError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.backends.qmd.engine.conftest import House


def executable(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def a_node(folder: Path, version: str = "24.21.0") -> Path:
    return executable(folder / "node", f"#!/bin/sh\necho v{version}\n")


def a_package(root: Path, version: str = "2.8.3") -> Path:
    """QMD as npm installs it; its folder."""
    package = root / "node_modules" / "@tobilu" / "qmd"
    executable(package / "bin" / "qmd", "#!/usr/bin/env node\n")
    executable(package / "dist" / "cli" / "qmd.js")
    (package / "package.json").write_text(json.dumps({"name": "@tobilu/qmd", "version": version}))
    return package


def a_link(root: Path, package: Path) -> Path:
    link = root / "bin" / "qmd"
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(package / "bin" / "qmd")
    return link


def test_npms_launcher_is_passed_by(tmp_path: Path) -> None:
    package = a_package(tmp_path / "lib")
    link = a_link(tmp_path, package)
    node = a_node(tmp_path / "elsewhere")
    env = {"PATH": f"{link.parent}:{node.parent}"}
    direct = (str(node), str(package / "dist" / "cli" / "qmd.js"))
    assert locate("qmd", env) == Program(direct, "2.8.3")
    assert locate(str(link), {"PATH": str(node.parent)}) == Program(direct, "2.8.3")


def test_the_node_beside_the_command_comes_before_the_one_in_the_path(tmp_path: Path) -> None:
    link = a_link(tmp_path, a_package(tmp_path / "lib"))
    beside = a_node(link.parent)
    other = a_node(tmp_path / "elsewhere")
    assert locate(str(link), {"PATH": str(other.parent)}).argv[0] == str(beside)


def test_an_old_node_is_passed_over(tmp_path: Path) -> None:
    link = a_link(tmp_path, a_package(tmp_path / "lib"))
    old, new = a_node(tmp_path / "old", "20.20.2"), a_node(tmp_path / "new", "22.0.0")
    env = {"PATH": f"{old.parent}:{new.parent}"}
    assert locate(str(link), env).argv[0] == str(new)


def test_nothing_but_an_old_node_is_refused_as_it_would_crash(tmp_path: Path) -> None:
    link = a_link(tmp_path, a_package(tmp_path / "lib"))
    old = a_node(tmp_path / "old", "20.20.2")
    with pytest.raises(QmdError, match=r"needs Node 22, and .* is version 20") as caught:
        locate(str(link), {"PATH": str(old.parent)})
    assert caught.value.reason == "wrong_runtime"
    assert "Node 22" in caught.value.hint


def test_a_missing_node_is_reported(tmp_path: Path) -> None:
    link = a_link(tmp_path, a_package(tmp_path / "lib"))
    with pytest.raises(QmdError, match="Node was not found") as caught:
        locate(str(link), {"PATH": str(tmp_path)})
    assert caught.value.reason == "wrong_runtime"


def test_a_node_that_brings_its_header_is_not_run(tmp_path: Path) -> None:
    link = a_link(tmp_path, a_package(tmp_path / "lib"))
    node = executable(tmp_path / "node24" / "bin" / "node", "#!/bin/sh\nexit 1\n")
    header = tmp_path / "node24" / "include" / "node" / "node_version.h"
    header.parent.mkdir(parents=True)
    header.write_text("#define NODE_MAJOR_VERSION 24\n#define NODE_MINOR_VERSION 1\n")
    assert locate(str(link), {"PATH": str(node.parent)}).argv[0] == str(node)


def test_another_program_is_run_as_it_is(tmp_path: Path) -> None:
    command = executable(tmp_path / "qmd")
    assert locate(str(command), {"PATH": ""}) == Program((str(command),))


@pytest.mark.parametrize("lock", ["bun.lock", "bun.lockb"])
def test_what_bun_installed_is_left_to_its_launcher(tmp_path: Path, lock: str) -> None:
    link = a_link(tmp_path, a_package(tmp_path / "lib"))
    (tmp_path / "lib" / lock).touch()
    assert locate(str(link), {"PATH": ""}) == Program((str(link),), "2.8.3")


def test_a_checkout_is_left_to_its_launcher(tmp_path: Path) -> None:
    installed = a_package(tmp_path / "lib")
    checkout = installed.rename(tmp_path / "qmd")
    command = checkout / "bin" / "qmd"
    assert locate(str(command), {"PATH": ""}) == Program((str(command),), "2.8.3")


@pytest.mark.parametrize("command", ["qmd", "/nowhere/qmd"])
def test_what_is_missing_is_reported_with_how_to_get_it(tmp_path: Path, command: str) -> None:
    with pytest.raises(QmdError, match="was not found") as caught:
        locate(command, {"PATH": str(tmp_path)})
    assert caught.value.reason == "not_installed"
    assert "npm install" in caught.value.hint


def test_a_file_that_cannot_be_run_is_not_called_missing(tmp_path: Path) -> None:
    command = tmp_path / "qmd"
    command.write_text("#!/bin/sh\n")
    with pytest.raises(QmdError, match="is a file that cannot be run") as caught:
        locate(str(command), {"PATH": ""})
    assert caught.value.reason == "not_installed"
    assert "chmod +x" in caught.value.hint


def test_an_old_qmd_is_refused(tmp_path: Path) -> None:
    link = a_link(tmp_path, a_package(tmp_path / "lib", "2.5.3"))
    with pytest.raises(QmdError, match=r"version 2\.5\.3 is too old") as caught:
        locate(str(link), {"PATH": ""})
    assert caught.value.reason == "wrong_version"


@pytest.mark.parametrize("version", ["2.8.3", "2.10.0", "3.0.0-beta.1", "qmd 2.9.1 (abc)", ""])
def test_a_new_or_unknown_version_is_not(version: str) -> None:
    check_version(version)


@pytest.mark.parametrize("version", ["2.8.2", "1.9.9", "qmd 2.1.0"])
def test_older_ones_are(version: str) -> None:
    with pytest.raises(QmdError):
        check_version(version)


NOWHERE = "http://127.0.0.1:9/"


def test_keys_and_qmds_other_homes_are_not_handed_on(house: House) -> None:
    env = {
        "OPENAI_API_KEY": "secret",
        "HF_TOKEN": "secret",
        "HTTPS_PROXY": "http://user:secret@proxy",
        "QMD_TRUST_UPDATE_HOOKS": "1",
        "QMD_HOST": "0.0.0.0",
        "QMD_CONFIG_DIR": "/another/users",
        "INDEX_PATH": "/another/users",
        "NODE_OPTIONS": "--inspect",
        "FORCE_COLOR": "1",
    }
    seen = environment(house.home, env, endpoint=NOWHERE)
    assert not any("secret" in value for value in seen.values())
    assert not {"HF_TOKEN", "HTTPS_PROXY", "QMD_HOST", "NODE_OPTIONS"} & seen.keys()
    assert not {"OPENAI_API_KEY", "QMD_TRUST_UPDATE_HOOKS", "FORCE_COLOR"} & seen.keys()
    assert seen["QMD_CONFIG_DIR"] == house.home.config_dir
    assert seen["INDEX_PATH"] == house.home.index_path


def test_what_tunes_models_is(house: House) -> None:
    env = {"QMD_EMBED_MODEL": "/m.gguf", "CUDA_VISIBLE_DEVICES": "0", "PATH": "/bin", "LC_ALL": "C"}
    seen = environment(house.home, env, endpoint=NOWHERE)
    assert env.items() <= seen.items()


def test_the_way_to_fetch_models_is_not(house: House) -> None:
    env = {"https_proxy": "http://proxy", "HF_ENDPOINT": "http://mirror"}
    seen = environment(house.home, env, endpoint=NOWHERE)
    assert seen["HF_ENDPOINT"] == seen["MODEL_ENDPOINT"] == NOWHERE
    assert "https_proxy" not in seen


def test_on_a_mac_its_memory_is_let_go(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert environment(house.home, {}, endpoint=NOWHERE)["GGML_METAL_NO_RESIDENCY"] == "1"
    kept = environment(house.home, {"QMD_METAL_KEEP_RESIDENCY": "1"}, endpoint=NOWHERE)
    assert "GGML_METAL_NO_RESIDENCY" not in kept


def test_the_stand_in_for_the_hub_has_nothing() -> None:
    refusal = OfflineHub()
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


@pytest.mark.parametrize("failure", [errno.EMFILE, errno.ECONNABORTED, errno.ENOBUFS])
def test_a_request_is_refused_after_one_that_could_not_be_accepted(
    monkeypatch: pytest.MonkeyPatch, failure: int
) -> None:
    accept, failures = socket.socket.accept, [failure, failure]

    def failing(self: socket.socket) -> tuple[socket.socket, object]:
        if failures:
            raise OSError(failures.pop(), "no descriptor is left")
        return accept(self)

    monkeypatch.setattr(socket.socket, "accept", failing)
    monkeypatch.setattr(installation, "_PAUSE", 0.0)
    refusal = OfflineHub()
    asking = http.client.HTTPConnection(urlsplit(refusal.address()).netloc, timeout=5)
    asking.request("GET", "/model.gguf")
    assert asking.getresponse().status == 404
    asking.close()
    refusal.close()
    for thread in threading.enumerate():
        if thread.name == "qmd-offline":
            thread.join(5)
            assert not thread.is_alive()
    assert not failures
