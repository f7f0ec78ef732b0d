"""What the child does with requests, without being a process."""

from __future__ import annotations

import json
from collections import deque
from queue import Empty
from typing import TYPE_CHECKING, Any, cast

from commonplace_local.child import serve
from commonplace_local.engines import EngineError, Job

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Script:
    """Requests one after the other, then silence; keeps how long was waited for each."""

    def __init__(self, *requests: dict[str, Any]) -> None:
        self.requests = deque(requests)
        self.waits: list[float | None] = []

    def get(self, *, timeout: float | None) -> Any:
        self.waits.append(timeout)
        if not self.requests:
            raise Empty
        return self.requests.popleft()


class Fake:
    """An engine whose vectors are the lengths of the texts."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        if "long" in texts:
            raise EngineError("too_large", "too many tokens")
        if "odd" in texts:
            raise ZeroDivisionError("odd")
        return [bytes([len(text)]) * 4 for text in texts]

    def rank(self, query: str, texts: Sequence[str]) -> list[float]:
        return [text.count(query) / 2 for text in texts]


def load_request(path: Path, **more: object) -> dict[str, Any]:
    job = {"engine": "x", "path": str(path), "threads": 1, "context": 2048, "pooling": "mean"}
    return {"id": 1, "load": {**job, "idle": 300.0, **more}}


def run(script: Script, jobs: list[Job] | None = None) -> tuple[bool, list[dict[str, Any]]]:
    reported: list[dict[str, Any]] = []

    def load(job: Job) -> Fake:
        if jobs is not None:
            jobs.append(job)
        return Fake()

    ended = serve(
        cast("Any", script), lambda answer: reported.append(json.loads(json.dumps(answer))), load
    )
    return ended, reported


def test_it_waits_for_work_and_ends_when_there_was_none(tiny_gguf: Path) -> None:
    script = Script(load_request(tiny_gguf), {"id": 2, "embed": ["ab"]})
    ended, reported = run(script)
    assert ended
    # Without an end for the first request, at least a minute for work after loading, then idle.
    assert script.waits == [None, 300.0, 300.0]
    assert reported[1] == {"id": 2, "vectors": ["AgICAg=="]}


def test_a_short_idle_time_leaves_time_for_the_first_work(tiny_gguf: Path) -> None:
    script = Script(load_request(tiny_gguf, idle=0.0), {"id": 2, "embed": ["ab"]})
    run(script)
    assert script.waits == [None, 60.0, 0.0]


def test_the_files_own_context_and_pooling_win(tiny_gguf: Path) -> None:
    jobs: list[Job] = []
    _, reported = run(Script(load_request(tiny_gguf, pooling="cls")), jobs)
    assert (jobs[0].context, jobs[0].pooling) == (512, None)
    assert reported[0]["loaded"] == {"context": 512, "pooling": "mean"}


def test_longer_contexts_than_needed_are_not_taken(gguf: Any, tmp_path: Path) -> None:
    jobs: list[Job] = []
    path = gguf(tmp_path / "m.gguf", tensors=False, bert__context_length=32768)
    run(Script(load_request(path)), jobs)
    assert jobs[0].context == 2048


def test_refusals_and_faults_are_answered_and_work_goes_on(tiny_gguf: Path) -> None:
    requests = [{"id": n, "embed": [text]} for n, text in enumerate(("long", "odd", "fine"), 2)]
    _, reported = run(Script(load_request(tiny_gguf), *requests))
    assert reported[1]["error"] == {"kind": "too_large", "message": "too many tokens"}
    assert reported[2]["error"] == {"kind": "protocol", "message": "ZeroDivisionError: odd"}
    assert "vectors" in reported[3]


def test_a_model_that_cannot_be_loaded_is_the_end(tmp_path: Path) -> None:
    ended, reported = run(Script(load_request(tmp_path / "none.gguf"), {"id": 2, "embed": ["ab"]}))
    assert not ended
    assert len(reported) == 1
    assert reported[0]["error"]["kind"] == "not_found"


def test_pairs_are_judged_by_a_model_that_was_loaded_for_it(gguf: Any, tmp_path: Path) -> None:
    ranking = gguf(tmp_path / "ranking.gguf", tensors=False, bert__pooling_type=4)
    jobs: list[Job] = []
    request = {"query": "a", "texts": ["a a", "b"]}
    loading = load_request(ranking, pooling="rank")
    _, reported = run(Script(loading, {"id": 2, "rank": request}), jobs)
    assert reported[1] == {"id": 2, "scores": [1.0, 0.0]}
    assert [job.pooling for job in jobs] == ["rank"]


def test_a_model_that_embeds_is_not_loaded_to_judge(tiny_gguf: Path) -> None:
    _, (answer,) = run(Script(load_request(tiny_gguf, pooling="rank")))
    assert answer["error"]["message"] == "it is a model that embeds, not one that ranks"
