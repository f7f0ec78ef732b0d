"""A store's look-ups after a first answer: where one fails, the answer stands, with a note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from commonplace import Memory, MemoryClosedError
from commonplace.host.host import PluginHost
from commonplace.plugin import DeclinedError, IndexUnavailableError, Limits, hookimpl
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from commonplace.plugin import BackendRegistrar, ProviderRegistrar

FAILURES = {
    "unavailable": IndexUnavailableError("the server is busy"),
    "declined": DeclinedError("not that word"),
    "a defect": RuntimeError("no socket"),
    "an exit": SystemExit(3),
    "nothing": None,
}
WORDS = {
    "unavailable": "the server is busy",
    "declined": "not that word",
    "a defect": "the backend 'odd' of odd failed: RuntimeError: no socket",
    "an exit": "the backend 'odd' of odd failed: SystemExit: 3",
    "nothing": "the backend 'odd' of odd answered with a NoneType for a look-up",
}


class Letters:
    """A provider that embeds a text by how often it has some letters."""

    capabilities: frozenset[str] = frozenset()
    model = "letters"
    limits = Limits()
    concurrency = 1

    def fingerprint(self) -> str:
        return "letters"

    def embed(self, texts: Sequence[str], **_: object) -> list[list[float]]:
        return [[1.0 + text.count(letter) for letter in "etaoinsrhl"] for text in texts]

    def close(self) -> None: ...


class Odd:
    """A plugin with a store whose ``broken`` methods end as one of ``FAILURES``."""

    def __init__(self) -> None:
        self.broken: dict[str, str] = {}
        self.asked: list[str] = []

    @hookimpl
    def commonplace_register_backends(self, register: BackendRegistrar) -> None:
        register.store(
            "odd", lambda _: self.store(), summary="odd", capabilities=InMemoryStore.capabilities
        )

    @hookimpl
    def commonplace_register_providers(self, register: ProviderRegistrar) -> None:
        register.provider("letters", lambda _: Letters(), summary="letters")

    def store(self) -> InMemoryStore:
        store = InMemoryStore()
        for name in ("holders", "tokens_beginning", "vectors"):
            setattr(store, name, self._guarded(name, getattr(store, name)))
        return store

    def _guarded(self, name: str, whole: Callable[..., Any]) -> Callable[..., Any]:
        def look_up(*given: object) -> Any:
            self.asked.append(name)
            if name not in self.broken:
                return whole(*given)
            failure = FAILURES[self.broken[name]]
            if failure is None:
                return None
            raise failure

        return look_up


@pytest.fixture
def odd() -> Odd:
    return Odd()


@pytest.fixture
def memory(tmp_path: Path, odd: Odd) -> Iterator[Memory]:
    (tmp_path / "memory").mkdir()
    (tmp_path / "MEMORY.md").write_text("# Ports\n\nThe deploy port of staging is 8080.\n")
    (tmp_path / "memory" / "cluster.md").write_text("# K\n\nKubernetes forwards the deploy port.\n")
    host = PluginHost()
    host.register(odd, name="odd")
    config = {"memory": {"backend": "odd", "search": {"provider": "letters"}}}
    env = {"HOME": str(tmp_path / "home"), "PATH": ""}
    with Memory.open(
        workspace=tmp_path, config=config, env=env, host=host, one_shot=True
    ) as opened:
        yield opened
    host.close()


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize(("name", "query"), [("holders", "forwadrs"), ("tokens_beginning", "kube")])
def test_words_that_cannot_be_looked_up_leave_the_answer_with_a_note(
    memory: Memory, odd: Odd, failure: str, name: str, query: str
) -> None:
    memory.sync()
    before = memory.search(f"{query} deploy")
    odd.broken = {name: failure}
    result = memory.search(f"{query} deploy")
    assert {hit.path for hit in result.hits} == {"MEMORY.md", "memory/cluster.md"}
    assert [word.word for word in result.unknown] == [query]
    note = f"similar words could not be looked up: {WORDS[failure]}"
    (added,) = set(result.warnings) - set(before.warnings)
    assert added.startswith(note)
    odd.broken = {}
    assert memory.search(f"{query} deploy").warnings == before.warnings, "it works again"


def test_a_long_word_is_looked_up_by_few_beginnings(memory: Memory, odd: Odd) -> None:
    memory.sync()
    memory.search("donau" * 30)
    assert 0 < odd.asked.count("tokens_beginning") <= 10


@pytest.mark.parametrize("failure", FAILURES)
def test_vectors_that_cannot_be_read_leave_the_answer_with_a_note(
    memory: Memory, odd: Odd, tmp_path: Path, failure: str
) -> None:
    memory.sync()
    (tmp_path / "memory" / "new.md").write_text("# N\n\nA new port for the deploy.\n")
    whole = memory.search("deploy port")
    odd.broken = {"vectors": failure}
    result = memory.search("deploy port")
    assert {hit.path for hit in result.hits} == {hit.path for hit in whole.hits}
    assert len(result.hits) == 3
    note = f"what is not embedded yet may rank too low: {WORDS[failure]}"
    added = set(result.warnings) - set(whole.warnings)
    assert any(warning.startswith(note) for warning in added), result.warnings


def test_a_memory_that_is_closed_meanwhile_says_so(memory: Memory) -> None:
    memory.search("deploy")

    def closing(*_: object) -> NoReturn:
        memory.close()
        raise RuntimeError("gone")

    backend: Any = memory._backends()
    backend.manager()._store.holders = closing
    with pytest.raises(MemoryClosedError):
        memory.search("forwadrs deploy")
