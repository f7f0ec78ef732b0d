"""Stores that cannot be reached, read or written: what is said, and what is never said."""

from __future__ import annotations

import os
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from commonplace.config.secret import Secret
from commonplace.errors import (
    CallerError,
    DeadlineExceededError,
    IndexReadOnlyError,
    IndexUnavailableError,
    UnavailableError,
)
from commonplace.resilience.deadline import Deadline, GuardedCaller
from commonplace.testing import make_put, publish, search
from commonplace.testing.base import words
from commonplace_lancedb import database
from commonplace_lancedb.errors import ConflictError, is_missing_table, translated
from commonplace_lancedb.settings import LanceSettings, location_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace_lancedb.store import LanceStore

pytestmark = pytest.mark.slow

SECRET = "not-a-real-secret"


def saying(words_: str, **settings: Any) -> IndexUnavailableError:
    location = location_of("/x/index.sqlite", LanceSettings(**settings))
    with pytest.raises(IndexUnavailableError) as caught, translated(location):
        raise RuntimeError(words_)
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    ("words_", "said"),
    [
        ("Generic S3 error: <Code>SignatureDoesNotMatch</Code>", "refused the credentials"),
        ("status: 403 Forbidden, body: <Code>AccessDenied</Code>", "refused the credentials"),
        ("Http error: (status: 401)", "refused the credentials"),
        ("status: 404, <Code>NoSuchBucket</Code>", "has no such bucket"),
        ('ConnectError("tcp connect error", Connection refused)', "cannot be reached"),
        ("error sending request for url: dns error", "cannot be reached"),
        ("Hit retry limit (request_failures=0/3, connect_failures=3/3)", "cannot be reached"),
        (
            "Failed to resolve region for bucket 'memory', /x.rs:1",
            "the region of the bucket is unknown",
        ),
        ("No space left on device (os error 28)", "the disk is full"),
        ("something else", "cannot be used: something else"),
    ],
)
def test_errors_are_translated(words_: str, said: str) -> None:
    assert said in str(saying(words_))


def test_a_long_story_is_cut_and_holds_no_secret() -> None:
    error = saying(
        f"error at http://x/?key={SECRET}&{SECRET} {'y' * 500}\nand more",
        uri="s3://b/p",
        storage_options={"aws_secret_access_key": Secret(SECRET)},
    )
    assert SECRET not in f"{error} {error.hint} {error!r}"
    assert error.__cause__ is None
    assert len(str(error)) < 300


@pytest.mark.parametrize(
    "words_",
    [
        "lance error: LanceError(Arrow): Divide by zero error",
        "Commit conflict for version 7",
        "Retryable commit conflict",
        "Too many concurrent writers",
        "This transaction was preempted by concurrent transaction",
    ],
)
def test_a_conflict_is_distinguished(words_: str) -> None:
    location = location_of("/x/index.sqlite", LanceSettings())
    with pytest.raises(ConflictError), translated(location):
        raise RuntimeError(words_)


def test_errors_of_ours_and_a_late_answer_come_through() -> None:
    location = location_of("/x/index.sqlite", LanceSettings())
    with pytest.raises(CallerError), translated(location):
        raise CallerError("mine")
    late = Deadline(0.0, clock=lambda: 1.0)
    with pytest.raises(DeadlineExceededError), translated(location, late):
        raise RuntimeError("Query timed out")


def test_only_a_table_that_is_not_there_is_missing() -> None:
    assert is_missing_table(ValueError("Table 'x_chunks_1' was not found"), "x_chunks_1")
    assert not is_missing_table(ValueError("Table 'other' was not found"), "x_chunks_1")
    assert not is_missing_table(ValueError("NoSuchBucket: not found"), "x_chunks_1")


def test_a_server_that_is_not_there(
    open_store: Callable[..., LanceStore], secrets: Callable[..., Any]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # no process listens there
        options = {
            "aws_access_key_id": "AKIAEXAMPLE",
            "aws_secret_access_key": SECRET,
            "aws_region": "us-east-1",
            "aws_endpoint": f"http://127.0.0.1:{taken.getsockname()[1]}",
            "allow_http": "true",
            "client_max_retries": "0",
        }
        store = open_store(uri="s3://memory/x", storage_options=secrets(options))
        with pytest.raises(IndexUnavailableError, match="cannot be reached") as caught:
            store.builds()
        assert SECRET not in str(caught.value)


def test_closing_waits_for_no_connection_attempt(
    open_store: Callable[..., LanceStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    connecting, release = threading.Event(), threading.Event()

    def connect(*_: object, **__: object) -> None:
        connecting.set()
        release.wait()
        raise RuntimeError("connect error")

    monkeypatch.setattr("lancedb.connect", connect)
    store = open_store(uri="s3://memory/x")
    failed: list[Exception] = []

    def ask() -> None:
        try:
            store.builds()
        except IndexUnavailableError as error:
            failed.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        assert connecting.wait(30)
        closing = threading.Thread(target=store.close)
        closing.start()
        closing.join(10)
        assert not closing.is_alive()
        assert failed == []
    finally:
        release.set()
        asking.join()
    with pytest.raises(IndexUnavailableError, match="is closed"):
        store.builds()
    assert "cannot be reached" in str(failed[0])


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[None]]:
    """LanceDB waits for a server that accepts connections and answers none; its attempts."""
    attempts: list[None] = []
    release = threading.Event()

    def connect(*_: object, **__: object) -> None:
        attempts.append(None)
        release.wait()
        raise RuntimeError("connect error")

    monkeypatch.setattr("lancedb.connect", connect)
    yield attempts
    release.set()


def test_a_server_that_never_answers_is_given_up(
    open_store: Callable[..., LanceStore], hanging: list[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_ANSWERS_WITHIN", 0.05)
    monkeypatch.setattr(database, "_FAIR", 0.0)
    store = open_store(uri="s3://memory/x")
    with pytest.raises(IndexUnavailableError, match=r"cannot be reached: no answer within 0\.0"):
        store.builds()
    with pytest.raises(IndexUnavailableError, match="cannot be reached: it has not answered yet"):
        publish(store)
    assert len(hanging) == 1


def test_a_server_that_never_answers_has_no_more_time_than_the_call(
    open_store: Callable[..., LanceStore], hanging: list[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_FAIR", 0.0)
    store = open_store(uri="s3://memory/x")
    with pytest.raises(IndexUnavailableError, match="cannot be reached"):
        GuardedCaller("lancedb").run(store.builds, Deadline.after(0.05))
    assert len(hanging) == 1


def test_a_server_that_had_hardly_any_time_is_not_to_blame(
    open_store: Callable[..., LanceStore], hanging: list[None]
) -> None:
    store = open_store(uri="s3://memory/x")
    with pytest.raises(DeadlineExceededError):
        GuardedCaller("lancedb").run(store.builds, Deadline.after(0.05))
    assert len(hanging) == 1


class Refusing(BaseHTTPRequestHandler):
    """A service without users; ``asked`` are the keys it was shown."""

    asked: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        self.asked.append(self.headers.get("x-api-key"))
        self.send_error(401)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def service() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_service_is_shown_the_key_and_may_refuse_it(
    open_store: Callable[..., LanceStore], service: str
) -> None:
    store = open_store(uri="db://memory", api_key=Secret(SECRET), host_override=service)
    with pytest.raises(IndexUnavailableError, match="refused the credentials") as caught:
        store.builds()
    assert SECRET not in f"{caught.value} {caught.value!r}"
    assert set(Refusing.asked) == {SECRET}
    with store.writer(wait=0):
        pass  # which makes no folder and no lock


def test_a_bucket_that_is_not_there(
    open_store: Callable[..., LanceStore], s3: dict[str, str], secrets: Callable[..., Any]
) -> None:
    store = open_store(uri="s3://nowhere/x", storage_options=secrets(s3))
    with pytest.raises(IndexUnavailableError, match="has no such bucket"):
        publish(store)


def test_a_secret_that_is_not_set(open_store: Callable[..., LanceStore]) -> None:
    options = {"aws_secret_access_key": Secret("${NO_SUCH_VARIABLE_IS_SET}")}
    store = open_store(uri="s3://memory/x", storage_options=options)
    with pytest.raises(UnavailableError, match="NO_SUCH_VARIABLE_IS_SET is not set"):
        store.builds()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(store: LanceStore, folder: str) -> None:
    publish(store, make_put("a.md", "ant"))
    for parent, _, _ in os.walk(folder):
        os.chmod(parent, 0o500)
    try:
        with pytest.raises(IndexReadOnlyError), store.writer(wait=0):
            pass
        assert len(search(store, words("ant"))) == 1
        assert not store.health().writable
    finally:
        for parent, _, _ in os.walk(folder):
            os.chmod(parent, 0o700)


def test_a_file_in_the_way_is_reported(open_store: Callable[..., LanceStore], folder: str) -> None:
    os.makedirs(os.path.dirname(folder))
    with open(folder, "w", encoding="utf-8") as file:
        file.write("not a folder")
    store = open_store()
    assert store.builds() == ()
    with pytest.raises(IndexReadOnlyError, match="cannot be written"):
        publish(store)


def test_what_is_forked_after_the_import_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """LanceDB's threads do not run there: the child would end by a signal."""
    imported = database._lancedb()
    monkeypatch.setattr(os, "getpid", lambda: -1)  # as in a child
    with pytest.raises(IndexUnavailableError, match="forked") as caught:
        database._lancedb()
    assert "spawn" in caught.value.hint
    monkeypatch.undo()
    assert database._lancedb() is imported
