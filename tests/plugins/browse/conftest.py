"""A browser without a browser: the application with its session, on a copy of the sample."""

from __future__ import annotations

import re
from argparse import Namespace
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory
from commonplace.sample import copy_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

HOST = "127.0.0.1:8000"
OWN = {"host": HOST, "origin": f"http://{HOST}"}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    copy_workspace(str(folder))
    return folder


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {
        "HOME": str(tmp_path),
        "COMMONPLACE_STATE_DIR": str(tmp_path / "state"),
        "COMMONPLACE_CACHE_DIR": str(tmp_path / "cache"),
    }


@pytest.fixture
def memory(notes: Path, env: dict[str, str]) -> Iterator[Memory]:
    with Memory.open(workspace=notes, env=env) as opened:
        yield opened


class Browser:
    """Asks the application as a browser that has the session does, and sends its forms."""

    def __init__(self, app: Any, keys: Any) -> None:
        from starlette.testclient import TestClient

        self.client = TestClient(app, base_url=f"http://{HOST}", follow_redirects=False)
        self.keys = keys
        self.headers = {"cookie": f"{keys.cookie}={keys.session}"}

    def get(self, path: str, status: int = 200) -> str:
        answer = self.client.get(path, headers=self.headers)
        assert answer.status_code == status, answer.text
        return answer.text

    def raw(self, method: str, path: str, **more: Any) -> Any:
        headers = {**self.headers, **more.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **more)

    def post(self, to: str, /, status: int = 200, **fields: str) -> Any:
        data = {"csrf": self.keys.csrf, **fields}
        answer = self.client.post(to, headers={**self.headers, **OWN}, data=data)
        assert answer.status_code == status, answer.text
        return answer


@pytest.fixture(scope="session")
def keep_evaluations() -> Callable[[dict[str, str], str], None]:
    """Keeps two evaluations of the folder ``notes``, the second with better figures."""
    from commonplace_evaluation.history import History
    from commonplace_evaluation.measures import Span, score_query
    from commonplace_evaluation.running import Outcome, Scored
    from commonplace_evaluation.sets import EvalQuery

    def keep(env: dict[str, str], notes: str) -> None:
        relevant = (Span("MEMORY.md", 26, 26),)
        query = EvalQuery("key", "where is it?", relevant, "-")
        found, missed = (Scored(query, score_query(relevant, hits)) for hits in (relevant, ()))
        ticks = iter((1_700_000_000.0, 1_700_086_400.0))
        for scores in ((found, missed), (found, found)):
            outcome = Outcome("mine", "mine", scores, 11, 0.5, 0.5, engine="builtin")
            History(env, notes, clock=lambda: next(ticks)).keep(outcome)

    return keep


@pytest.fixture
def make_browser(
    request: pytest.FixtureRequest, notes: Path, env: dict[str, str]
) -> Callable[..., Browser]:
    for name in ("starlette", "jinja2", "markdown_it", "nh3", "httpx"):
        pytest.importorskip(name, reason="needs the extra browse")
    from commonplace_browse.app import make_app
    from commonplace_browse.guarding import Keys, loopback_names

    def make(
        *,
        memory: Memory | None = None,
        listeners: list[Callable[[], None]] | None = None,
        read_only: bool = False,
        used: Any = lambda: None,
        **more: str,
    ) -> Browser:
        keys = Keys(8000)
        opened = Namespace(workspace=str(notes), config=None, agent=None, env={**env, **more})
        app = make_app(
            memory or request.getfixturevalue("memory"),
            keys,
            names=loopback_names(),
            read_only=read_only,
            opened=opened,
            used=used,
            listeners=listeners,
        )
        return Browser(app, keys)

    return make


@pytest.fixture
def browser(make_browser: Callable[..., Browser]) -> Browser:
    return make_browser()


@pytest.fixture
def hidden_fields() -> Callable[[str], dict[str, str]]:
    """The fields of the form that a preview would send."""

    def fields(page: str) -> dict[str, str]:
        import html

        found = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))
        texts = re.findall(
            r'<textarea name="(\w+)" hidden[^>]*>\n?(.*?)</textarea>', page, re.DOTALL
        )
        return {name: html.unescape(text) for name, text in [*found.items(), *texts]}

    return fields
