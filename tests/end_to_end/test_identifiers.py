"""Names of programs, versions, messages and commands are found however they are written."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from commonplace import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Opener = Callable[[str], Memory]

BACKENDS = ["builtin", "inmemory", *(["lancedb"] if find_spec("lancedb") else [])]
NOTES = {
    "camel": "- 500s come from `cancelPayment`, fixed on Monday\n",
    "apart": "- cancel the gym; payment by card\n- they cancel each payment by hand\n",
    "constant": "- `GATEWAY_TIMEOUT_MS` from 3000 to 8000\n",
    "gateway": "- the gateway answers in 20 ms, the timeout is far\n- gateway timeout: 90 ms\n",
    "tools": "- Installed python3.11 and node v20.11.1 by mise\n",
    "python": "# Python\n\n- pytest -n 3\n- python is slow, 11 min\n",
    "bundle": "- bundle budget: 250 kB gzip\n",
    "certificates": "- the CA bundle lives in /etc/ssl\n",
    "tokens": "- the class OAuth2TokenStore keeps the tokens\n",
    "images": "- deploy fails: `ImagePullBackOff`, token expired\n",
    "base": "- patched the base image to 3.19\n",
    "statement": "- `statement_timeout` is 30 s for the role api\n",
    "linter": "- `golangci-lint run --timeout 5m`, timeout of CI\n",
    "relation": '- ERROR: relation "ledger_entries" does not exist (SQLSTATE 42P01): search_path\n',
    "users": '- the "users" table was moved\n',
    "java": "- settlement runs with `java -Xmx4g -XX:+UseZGC`, pauses are gone\n",
    "wireless": "- The Wi-Fi password is on the e-mail of the landlord\n",
    "package": "- settlement moved to another java package\n",
}


@pytest.fixture
def opener(tmp_path: Path) -> Iterator[Opener]:
    opened: list[Memory] = []
    folder = tmp_path / "workspace" / "memory"
    folder.mkdir(parents=True)
    for name, text in NOTES.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    env = {f"COMMONPLACE_{one}_DIR": str(tmp_path / one) for one in ("STATE", "CACHE")}

    def open_(backend: str = "builtin") -> Memory:
        config = {"memory": {"backend": [backend]}}
        memory = Memory.open(
            workspace=folder.parent, config=config, env={**env, "HOME": str(tmp_path)}
        )
        opened.append(memory)
        return memory

    yield open_
    for memory in opened:
        memory.close()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("cancelPayment", "camel"),
        ("cancel_payment", "camel"),
        ("cancel-payment", "camel"),
        ("gateway_timeout_ms", "constant"),
        ("gatewayTimeoutMs", "constant"),
        ("gatewaytimeoutms", "constant"),
        ("wifi", "wireless"),
        ("which email has the WiFi password", "wireless"),
        ("python 3.11", "tools"),
        ("node 20", "tools"),
        ("250kB bundle", "bundle"),
        ("oauth token store", "tokens"),
        ("imagepullbackof", "images"),
        ("ImagePulBackOff", "images"),
        ("statment_timeout", "statement"),
        ("statment_tokne", "tokens"),
        ("java -Xmx4g settlement", "java"),
        ('ERROR: relation "users" does not exist (SQLSTATE 42P01)', "relation"),
    ],
)
@pytest.mark.slow
def test_a_name_is_found_however_it_is_written(
    opener: Opener, backend: str, query: str, name: str
) -> None:
    assert opener(backend).search(query).hits[0].path == f"memory/{name}.md"


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("imagepullbackof", {"imagepullbackof": ("imagepullbackoff",)}),
        ("statment_timeout", {"statment_timeout": ("statement_timeout",)}),
        ("cancel_payment", {}),
        ("databse_pool_xyzzy", {"databse_pool_xyzzy": ()}),
    ],
)
def test_what_is_searched_for_instead_is_said(
    opener: Opener, query: str, named: dict[str, tuple[str, ...]]
) -> None:
    unknown = opener("builtin").search(query).unknown
    assert {one.word: one.instead for one in unknown if one.instead or query in named} == named


def test_a_note_says_that_a_quotation_is_not_all_that_is_shown(opener: Opener) -> None:
    memory = opener("builtin")
    near = "what has the quoted words matches little else; similar notes are shown, too"
    assert near in memory.search('relation "users" does not exist SQLSTATE 42P01').notes
    few = memory.search('moved "users" table')
    assert [hit.path for hit in few.hits] == ["memory/users.md"]
    assert near not in few.notes
    most = memory.search('the "users" table was moved somewhere')
    assert [hit.path for hit in most.hits] == ["memory/users.md"]
