"""One table, many writers: agents, processes, machines."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import IndexBusyError, IndexUnavailableError
from commonplace.model.chunks import DeleteDocument
from commonplace.testing import live_build, make_put, publish, search, write
from commonplace.testing.base import WAIT, attach, held, ids, make_vector, nearest, words
from commonplace_lancedb import database, head
from commonplace_lancedb.database import Database
from commonplace_lancedb.errors import ConflictError
from commonplace_lancedb.settings import LanceSettings, location_of
from commonplace_lancedb.store import LanceStore
from commonplace_lancedb.writing import Committer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

pytestmark = pytest.mark.slow

WRITER = """
import json, sys
from commonplace.config.secret import Secret
from commonplace.protocols.contexts import StoreContext
from commonplace.testing import live_build, make_put
from commonplace_lancedb.plugin import make_store
from commonplace_lancedb.settings import LanceSettings

uri, options, namespace, name, rounds = sys.argv[1:]
options = {key: Secret(value) for key, value in json.loads(options).items()}
config = LanceSettings(uri=uri, storage_options=options, namespace=namespace)
store = make_store(StoreContext(path="unused.sqlite", config=config))
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(rounds)):
    with store.writer(wait=60):
        own = make_put(f"{name}/{number}.md", "ant", f"bee {name}")
        both = make_put("both.md", f"cat {name} {number}")
        store.put_documents(live_build(store), [own, both])
store.close()
"""


def two_processes(uri: str, options: Mapping[str, str], namespaces: tuple[str, str]) -> None:
    """Two processes that write at once, five batches each."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, uri, json.dumps(options), namespace, name, "5"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, namespace in zip(("one", "two"), namespaces, strict=True)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()
        assert process.returncode == 0


def check_both_wrote(store: LanceStore) -> None:
    expected = {("memory", f"{name}/{n}.md") for name in ("one", "two") for n in range(5)}
    assert set(held(store)) == {*expected, ("memory", "both.md")}
    assert len(search(store, words("ant"))) == 10
    assert len(search(store, words("cat"))) == 1, "a document stands twice"
    health = store.health(deep=True)
    assert (health.documents, health.chunks, health.problems) == (11, 21, ())


def test_a_bucket_holds_builds_documents_and_vectors(
    open_store: Callable[..., LanceStore], s3: dict[str, str], secrets: Callable[..., Any]
) -> None:
    where = {"uri": "s3://memory/one", "storage_options": secrets(s3)}
    store = open_store(**where)
    assert store.builds() == ()
    build = publish(store, make_put("a.md", "ant bee"), make_put("b.md", "cat"))
    (digest, _), *_ = store.missing_vectors(build, "space")
    attach(store, build, "space", {digest: make_vector(1, 0, 0)})
    write(store, make_put("b.md", "dog"))
    again = open_store(**where)
    assert again.builds() == (build,)
    assert set(held(again)) == {("memory", "a.md"), ("memory", "b.md")}
    assert len(search(again, words("ant", "cat"))) == 1
    assert len(nearest(again, make_vector(1, 0, 0)).found) == 1
    health = again.health(deep=True)
    assert (health.documents, health.problems, health.writable) == (2, (), True)
    assert health.size > 0
    with store.writer(wait=WAIT), again.writer(wait=0):
        pass  # no lock stands between machines: the commits do


def test_two_processes_write_one_namespace_on_disk(
    open_store: Callable[..., LanceStore], folder: str
) -> None:
    store = open_store(namespace="shared")
    publish(store)
    two_processes(folder, {}, ("shared", "shared"))
    check_both_wrote(store)


def test_two_processes_write_one_namespace_in_a_bucket(
    open_store: Callable[..., LanceStore], s3: dict[str, str], secrets: Callable[..., Any]
) -> None:
    store = open_store(uri="s3://memory/two", namespace="shared", storage_options=secrets(s3))
    publish(store)
    two_processes("s3://memory/two", s3, ("shared", "shared"))
    check_both_wrote(store)
    assert store.health().location == "s3://memory/two"


def test_two_agents_in_two_processes_see_their_own_alone(
    open_store: Callable[..., LanceStore], s3: dict[str, str], secrets: Callable[..., Any]
) -> None:
    where = {"uri": "s3://memory/agents", "storage_options": secrets(s3)}
    stores = {name: open_store(namespace=name, **where) for name in ("one", "two")}
    for store in stores.values():
        publish(store)
    two_processes("s3://memory/agents", s3, ("one", "two"))
    for name, store in stores.items():
        own = {("memory", f"{name}/{number}.md") for number in range(5)}
        assert set(held(store)) == {*own, ("memory", "both.md")}
        found = search(store, words("ant", "bee", "cat"))
        assert {hit.chunk.path for hit in found} == {path for _, path in held(store)}
        assert store.health(deep=True).problems == ()


def test_scores_do_not_depend_on_other_namespaces_of_the_table(
    open_store: Callable[..., LanceStore],
) -> None:
    mine, theirs = open_store("mine"), open_store("theirs")
    publish(mine, make_put("a.md", "ant bee"), make_put("b.md", "bee", "cat"))
    before = search(mine, words("ant", "bee"))
    publish(theirs, *(make_put(f"{number}.md", "ant ant", "bee") for number in range(20)))
    assert search(mine, words("ant", "bee")) == before
    assert len(search(theirs, words("ant"))) == 20


def test_what_another_agent_drops_is_its_own(open_store: Callable[..., LanceStore]) -> None:
    mine, theirs = open_store("mine"), open_store("theirs")
    for store in (mine, theirs):
        build = publish(store, make_put("a.md", "ant"))
        (missing,) = store.missing_vectors(build, "space")
        attach(store, build, "space", {missing[0]: make_vector(1, 0, 0)})
    with theirs.writer(wait=WAIT):
        theirs.drop_space("space")
        theirs.drop(live_build(theirs))
    assert theirs.builds() == ()
    assert held(theirs) == {}
    assert len(nearest(mine, make_vector(1, 0, 0)).found) == 1
    assert len(search(mine, words("ant"))) == 1


def test_an_id_of_another_agent_names_nothing(open_store: Callable[..., LanceStore]) -> None:
    mine, theirs = open_store("mine"), open_store("theirs")
    publish(mine)
    publish(theirs, make_put("a.md", "secret"))
    found = ids(search(theirs, words("secret")))
    assert len(found) == 1
    assert search(mine, words("secret")) == []
    assert not mine.vectors("space", found)


def test_the_lease_is_of_a_namespace(open_store: Callable[..., LanceStore]) -> None:
    mine, again, theirs = open_store("mine"), open_store("mine"), open_store("theirs")
    with ThreadPoolExecutor(1) as pool, mine.writer(wait=0):
        pool.submit(publish, theirs, make_put("a.md", "ant")).result(WAIT)
        with pytest.raises(IndexBusyError):
            pool.submit(publish_at_once, again).result(WAIT)


def publish_at_once(store: LanceStore) -> None:
    with store.writer(wait=0):
        pass


class Clashing(Committer):
    """Whose first commits always come too late; ``slept`` are its pauses."""

    clashes = 3

    def __init__(self, database: Any) -> None:
        self.slept: list[float] = []
        super().__init__(database, sleep=self.slept.append, uniform=lambda _, high: high)

    def commit(self, before: Any, after: Any, rows: Any = None) -> None:
        if self.clashes:
            self.clashes -= 1
            raise ConflictError
        super().commit(before, after, rows)


@pytest.mark.usefixtures("lancedb_installed")
def test_a_commit_that_conflicts_is_retried_ever_later(folder: str) -> None:
    made: list[Clashing] = []

    def committer(database: Any) -> Clashing:
        made.append(Clashing(database))
        return made[0]

    store = LanceStore(location_of(f"{folder}/x.sqlite", LanceSettings()), committer=committer)
    publish(store, make_put("a.md", "ant"))
    assert made[0].slept == [0.04, 0.08, 0.16]
    made[0].clashes = 1_000
    with pytest.raises(IndexBusyError, match="others write") as caught:
        write(store, make_put("b.md", "bee"))
    assert caught.value.hint
    assert len(made[0].slept) == 3 + 29
    assert max(made[0].slept) <= 2.0
    assert set(held(store)) == {("memory", "a.md")}
    store.close()


def test_who_was_overtaken_builds_on_what_is_there_now(
    open_store: Callable[..., LanceStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between a look at the table and the commit, another machine replaces the same document."""
    slow, quick = open_store("shared"), open_store("shared")
    build = publish(slow, make_put("a.md", "ant"))
    commit = Committer.commit
    overtaken: list[bool] = []

    def late(self: Committer, *args: Any) -> None:
        if not overtaken:
            overtaken.append(True)
            # No lease stands between machines.
            monkeypatch.setattr(quick._lease, "check", lambda: None)
            quick.put_documents(build, [make_put("a.md", "bee"), make_put("b.md", "bee")])
        commit(self, *args)

    monkeypatch.setattr(Committer, "commit", late)
    write(slow, make_put("a.md", "cat"), DeleteDocument("memory", "c.md"))
    assert set(held(quick)) == {("memory", "a.md"), ("memory", "b.md")}
    assert len(search(quick, words("bee"))) == 1
    assert len(search(quick, words("ant", "cat"))) == 1
    assert quick.health(deep=True).problems == ()


def embed(store: LanceStore, space: str, *vector: float) -> None:
    """Give all chunks of the live build ``vector``."""
    build = live_build(store)
    new = {digest: make_vector(*vector) for digest, _ in store.missing_vectors(build, space)}
    attach(store, build, space, new, dims=len(vector))


@pytest.fixture(params=["folder", "bucket"])
def two_agents(
    request: pytest.FixtureRequest,
    open_store: Callable[..., LanceStore],
    secrets: Callable[..., Any],
) -> tuple[LanceStore, LanceStore]:
    """Stores of two agents in one table, which does not exist yet."""
    where: dict[str, Any] = {}
    if request.param == "bucket":
        uri = f"s3://memory/{abs(hash(request.node.name))}"
        where = {"uri": uri, "storage_options": secrets(request.getfixturevalue("s3"))}
    return open_store("mine", **where), open_store("theirs", **where)


@pytest.mark.parametrize("step", ["_begun", "commit", "_head_row"])
def test_another_agent_adds_columns_of_vectors_in_the_middle_of_a_commit(
    two_agents: tuple[LanceStore, LanceStore], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    mine, theirs = two_agents
    publish(mine, make_put("a.md", "ant"))
    publish(theirs, make_put("b.md", "ant"))
    embed(mine, "space", 1, 0)
    real = getattr(Committer, step)
    others = [(1, 0, 0), (1, 0, 0, 0)]

    def late(self: Committer, *args: Any) -> Any:
        if self is mine._committer and others:
            vector = others.pop()
            embed(theirs, f"space of {len(vector)}", *vector)
        return real(self, *args)

    monkeypatch.setattr(Committer, step, late)
    write(mine, make_put("c.md", "bee"))
    embed(mine, "space", 1, 0)
    assert not others
    assert len(nearest(mine, make_vector(1, 0)).found) == 2
    assert len(nearest(theirs, make_vector(1, 0, 0), space="space of 3").found) == 1
    assert [store.health(deep=True).problems for store in two_agents] == [(), ()]


def test_another_agent_makes_the_table_and_adds_columns_first(
    two_agents: tuple[LanceStore, LanceStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = two_agents
    schema = head.schema

    def late() -> Any:
        monkeypatch.undo()
        publish(theirs, make_put("b.md", "ant"))
        embed(theirs, "space", 1, 0)
        return schema()

    monkeypatch.setattr(database, "schema", late)
    publish(mine, make_put("a.md", "ant"))
    assert [len(search(store, words("ant"))) for store in two_agents] == [1, 1]
    assert [store.health(deep=True).problems for store in two_agents] == [(), ()]


def test_what_was_dropped_by_another_cannot_be_written(
    open_store: Callable[..., LanceStore],
) -> None:
    mine, other = open_store("shared"), open_store("shared")
    build = publish(mine, make_put("a.md", "ant"))
    publish(other, make_put("b.md", "ant"), identity="next")
    with pytest.raises(IndexUnavailableError, match="no build"), mine.writer(wait=WAIT):
        mine.put_documents(build, [make_put("c.md", "ant")])


def test_an_interval_serves_what_was_last_seen(
    open_store: Callable[..., LanceStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    patient = open_store("shared", read_consistency_interval=10.0)
    monkeypatch.setattr(patient._database, "_clock", lambda: now[0])
    other = open_store("shared")
    publish(other, make_put("a.md", "ant"))
    assert len(held(patient)) == 1
    write(other, make_put("b.md", "ant"))
    assert len(held(patient)) == 1
    now[0] += 11.0
    assert len(held(patient)) == 2
    write(patient, make_put("c.md", "ant"))
    assert len(held(patient)) == 3, "its own changes are seen at once"


@pytest.mark.parametrize(("uri", "looks"), [("s3://bucket/x", 2), ("", 3)])
def test_a_search_of_a_bucket_looks_once_for_a_newer_version(
    folder: str, monkeypatch: pytest.MonkeyPatch, uri: str, looks: int
) -> None:
    class Table:
        version = 1

    now = [0.0]
    opened: list[float] = []
    location = location_of("main.sqlite", LanceSettings(uri=uri or folder))
    looked_at = Database(location, clock=lambda: now[0])

    def open_table(_: object) -> Table:
        opened.append(now[0])
        return Table()

    monkeypatch.setattr(looked_at, "_open", open_table)
    for at in (0.0, 0.1, 0.3):
        now[0] = at
        assert looked_at.snapshot() is not None
    assert len(opened) == looks
    assert looked_at.latest() is not None
    assert len(opened) == looks + 1, "a writer always looks"
