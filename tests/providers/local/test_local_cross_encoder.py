"""The ranker ``cross_encoder``: a real model that judges, its limits, and what is no such model."""

from __future__ import annotations

import gc
import os
import signal
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory
from commonplace.model.search import Candidate, Explanation, KeywordQuery, Query, StoredChunk
from commonplace.plugin import RankContext, RankerContext, RelevanceRanker, UnavailableError
from commonplace_local.cross_encoder import CrossEncoder, CrossEncoderSettings, _cross_encoder
from commonplace_local.engines import RANK, EngineError, Job, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("needs_engine")
CONTEXT = RankContext(Query("the door code", KeywordQuery(), "the door code"), 0.0, 6)
TEXTS = ("the cat is in the tree", "the door code is 4711", "a note on a search", "code")


def hits(*texts: str) -> list[Candidate]:
    return [
        Candidate(StoredChunk(at, "memory", f"{at}.md", 1, 1, text, ()), 1 - at / 9, Explanation())
        for at, text in enumerate(texts)
    ]


def made(path: object, **options: Any) -> RelevanceRanker:
    settings = CrossEncoderSettings(model_path=str(path), threads=1, **options)
    ranker = _cross_encoder(RankerContext(config=settings))
    assert isinstance(ranker, RelevanceRanker)
    return ranker


@pytest.fixture(scope="module")
def ranking(gguf: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model that judges pairs, of 512 tokens; no test may change the file."""
    path: Path = gguf(tmp_path_factory.mktemp("models") / "judge.gguf", bert__pooling_type=4)
    return path


@pytest.fixture(scope="module")
def ranker(ranking: Path) -> RelevanceRanker:
    """One with a child, for the tests that only ask."""
    return made(ranking)


def judge_of(ranker: RelevanceRanker) -> CrossEncoder:
    judge = ranker._judge
    assert isinstance(judge, CrossEncoder)
    return judge


def test_hits_stand_in_the_order_of_the_models_scores(ranker: RelevanceRanker) -> None:
    scores = judge_of(ranker).judge("the door code", TEXTS)
    assert len(set(scores.values())) == len(TEXTS)
    ranked = ranker.rank(hits(*TEXTS), CONTEXT)
    assert [one.chunk.id for one in ranked] == sorted(scores, key=lambda at: -scores[at])
    assert ranked[0].explain.steps[-1].ranker == "cross_encoder"
    assert "relevance " in ranked[0].explain.steps[-1].note


def test_a_pair_is_judged_as_such(ranker: RelevanceRanker) -> None:
    judge = judge_of(ranker)
    assert judge.judge("a cat", TEXTS) != judge.judge("the door code", TEXTS)
    alone = [judge.judge("a cat", [text])[0] for text in TEXTS]
    assert list(judge.judge("a cat", TEXTS).values()) == pytest.approx(alone, abs=1e-4)


def test_texts_beyond_the_models_context_are_judged_by_their_beginning(
    ranker: RelevanceRanker,
) -> None:
    judge = judge_of(ranker)
    long, odd, *scores = judge.judge("the door", ["the door " * 2000, "\ud83d", *TEXTS]).values()
    (beginning,) = judge.judge("the door", [("the door " * 2000)[:2250]]).values()
    assert long == pytest.approx(beginning, abs=1e-4)
    assert odd == pytest.approx(judge.judge("the door", ["?"])[0], abs=1e-4)
    assert scores == pytest.approx(list(judge.judge("the door", TEXTS).values()), abs=1e-4)


def test_options_change_the_order(ranking: Path) -> None:
    given = hits(*TEXTS)
    order = [one.chunk.id for one in made(ranking).rank(given, CONTEXT)]
    assert order != [0, 1, 2, 3]
    kept = made(ranking, weight=0.0).rank(given, CONTEXT)
    assert [one.chunk.id for one in kept] == [0, 1, 2, 3]
    few = made(ranking, candidates=2).rank(given, CONTEXT)
    assert [one.chunk.id for one in few][2:] == [2, 3]


def test_it_is_not_waited_for_longer_than_it_is_given(ranking: Path) -> None:
    ranker = made(ranking, seconds=0.1)
    judge_of(ranker)._seconds = 0.0
    with pytest.raises(UnavailableError, match=r"longer than|no time was left"):
        ranker.rank(hits(*TEXTS), CONTEXT)
    judge_of(ranker)._seconds = 60.0  # the model went on loading
    assert len(ranker.rank(hits(*TEXTS), CONTEXT)) == 4


def test_a_killed_child_is_replaced(ranking: Path) -> None:
    ranker = made(ranking)
    before = ranker.rank(hits(*TEXTS), CONTEXT)
    keeper = judge_of(ranker)._running._keeper
    assert keeper is not None
    assert keeper._child is not None
    os.kill(keeper._child.pid, signal.SIGKILL)
    assert ranker.rank(hits(*TEXTS), CONTEXT) == before


def test_its_child_ends_with_it(ranking: Path) -> None:
    ranker = made(ranking)
    ranker.rank(hits(*TEXTS), CONTEXT)
    keeper = judge_of(ranker)._running._keeper
    assert keeper is not None
    child = keeper._child
    assert child is not None
    del ranker
    gc.collect()
    assert child.ended()


SETTING = "plugins.entries.cross_encoder.config.modelPath"


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("missing.gguf", "there is no file"),
        ("", "no model is configured"),
        (".", "is a folder, not a model"),
        ("hf:owner", "needs an owner and a repository"),
        ("hf:owner/repo/judge.gguf", "is not on this machine, and a search downloads nothing"),
    ],
)
def test_a_model_that_is_none_is_named_with_its_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, says: str
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnavailableError, match=says) as caught:
        made(path).rank(hits(*TEXTS), CONTEXT)
    assert "local.modelPath" not in f"{caught.value} {caught.value.hint}".replace(SETTING, "")
    assert path == "hf:owner" or SETTING in caught.value.hint


def test_a_model_that_embeds_is_refused(tiny_gguf: Path) -> None:
    with pytest.raises(UnavailableError, match="embeds, not one that ranks") as caught:
        made(tiny_gguf).rank(hits(*TEXTS), CONTEXT)
    assert SETTING in caught.value.hint


def test_the_engine_that_cannot_judge_says_which_can(
    ranking: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", ModuleType("llama_cpp"))
    with pytest.raises(EngineError, match="xllamacpp can"):
        load(Job("llama_cpp", str(ranking), 512, 1, pooling=RANK))


@pytest.fixture
def opened(tmp_path: Path) -> Callable[[object], Memory]:
    workspace = tmp_path / "notes"
    workspace.mkdir()
    for name, text in zip("abcd", TEXTS, strict=True):
        (workspace / f"{name}.md").write_text(f"{text} the code\n")

    def opened(path: object) -> Memory:
        search = {"ranking": {"chain": ["evidence", "cross_encoder"]}, "provider": "none"}
        entries = {"cross_encoder": {"config": {"modelPath": str(path), "threads": 1}}}
        config = {
            "agents": {"defaults": {"memorySearch": search}},
            "plugins": {"entries": entries},
        }
        env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
        return Memory.open(workspace=workspace, config=config, env=env)

    return opened


def test_a_search_is_reordered_and_says_so(
    ranking: Path, opened: Callable[[object], Memory]
) -> None:
    with opened(ranking) as memory:
        result = memory.search("the code")
    assert result.notes == ()
    assert len(result.hits) == 4
    notes = [hit.explain.steps[-1].note for hit in result.hits]
    shares = [float(note.rpartition("relevance ")[2]) for note in notes]
    assert shares == sorted(shares, reverse=True)


def test_where_it_fails_the_order_stays_and_a_note_says_why(
    tiny_gguf: Path, opened: Callable[[object], Memory]
) -> None:
    with opened(tiny_gguf) as memory:
        result = memory.search("the code")
    assert len(result.hits) == 4
    (note,) = result.notes
    assert "the ranker 'cross_encoder'" in note
    assert "embeds, not one that ranks" in note
