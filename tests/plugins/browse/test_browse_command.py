from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from commonplace.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_the_command_serves_its_address_once_and_ends(notes: Path, env: dict[str, str]) -> None:
    for name in ("starlette", "uvicorn", "jinja2", "nh3"):
        pytest.importorskip(name, reason="needs the extra browse")
    command = [sys.executable, "-m", "commonplace", "browse", "--workspace", str(notes), "--json"]
    with subprocess.Popen(
        command,
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        jar = urllib.request.HTTPCookieProcessor(CookieJar())
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), jar)
        with opener.open(url, timeout=30) as page:
            assert b"commonplace" in page.read()
        assert json.loads(server.stdout.readline())["url"] != url  # for another browser
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=30)
        cookies = "; ".join(f"{one.name}={one.value}" for one in jar.cookiejar)
        host = urlsplit(url).netloc
        # A form whose end never arrives, so that Ctrl-C cuts a request off.
        lines = [
            "POST /preview HTTP/1.1",
            f"Host: {host}",
            f"Origin: http://{host}",
            f"Cookie: {cookies}",
            "Content-Length: 100",
        ]
        with socket.create_connection(("127.0.0.1", urlsplit(url).port or 0), timeout=30) as half:
            half.sendall(("\r\n".join(lines) + "\r\n\r\nkind=").encode())
            with opener.open(url.partition("?")[0], timeout=30):  # by now that one has begun
                server.send_signal(signal.SIGINT)
            _, err = server.communicate(timeout=30)
    assert server.returncode == 0
    assert not err


def test_wrong_ports_and_addresses_are_mistakes(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["browse", "--workspace", str(notes), "--port", "99999"]) == 2
    assert main(["browse", "--workspace", str(notes), "--host", "203.0.113.9"]) != 0
    assert "Traceback" not in capsys.readouterr().err


def test_nothing_of_the_server_is_imported_by_the_plugin() -> None:
    code = (
        "import sys, commonplace_browse.plugin, commonplace_browse.command\n"
        "print([name for name in ('starlette', 'uvicorn', 'jinja2', 'nh3') if name in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"
