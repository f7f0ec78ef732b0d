"""Parts that are unlike all of ours and keep every law: no law may take them for broken."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from attrs import evolve
from hypothesis import Phase, settings
from tests.conformance.test_broken_chunkers import Bench as ChunkerBench
from tests.conformance.test_broken_chunkers import Sound as SoundChunker
from tests.conformance.test_broken_managers import Bench as ManagerBench
from tests.conformance.test_broken_managers import Sound as SoundManager
from tests.conformance.test_broken_providers import Sound as SoundProvider
from tests.conformance.test_broken_rankers import Bench as RankerBench
from tests.conformance.test_broken_rankers import Selects
from tests.conformance.test_broken_sources import Bench as SourceBench
from tests.conformance.test_broken_sources import Sound as SoundSource

from commonplace.errors import DeclinedError, ProviderError
from commonplace.model.search import Found, KeywordMatches, KeywordQuery, Nearest
from commonplace.protocols.providers import Limits
from commonplace.testing import EmbeddingProviderConformance, StoreConformance
from commonplace.testing.manager_laws import ANIMALS
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from commonplace.model.search import Arm, Candidate, ChunkId, Query, Where
    from commonplace.protocols.contexts import ChunkerContext, RankContext
    from commonplace.protocols.parts import Store
    from commonplace.protocols.providers import ProviderContext
    from commonplace.resilience.deadline import Deadline
    from commonplace.testing.laws import Laws

pytestmark = pytest.mark.slow

FEW = settings(
    max_examples=2,
    stateful_step_count=6,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
)


class KeywordsAlone(InMemoryStore):
    capabilities = frozenset({"keyword"})

    def keyword(self, query: KeywordQuery, **more: Any) -> KeywordMatches:
        if any(len(phrase) > 1 for phrase in (*query.must, *query.must_not)):
            raise DeclinedError("this store knows no phrases")
        return KeywordMatches(super().keyword(query, **more).found)


class VectorsAlone(InMemoryStore):
    capabilities = frozenset({"vectors"})

    def keyword(self, query: KeywordQuery, **more: Any) -> KeywordMatches:
        raise DeclinedError("this store goes by meaning alone")


class OneAtATime(InMemoryStore):
    """Answers one caller after the other."""

    def __init__(self) -> None:
        super().__init__()
        self._turn = threading.Lock()

    def keyword(self, query: KeywordQuery, **more: Any) -> KeywordMatches:
        with self._turn:
            return super().keyword(query, **more)

    def nearest(self, space: str, vector: bytes, **more: Any) -> Nearest:
        with self._turn:
            return super().nearest(space, vector, **more)


class ScoresInThousands(InMemoryStore):
    def keyword(self, query: KeywordQuery, **more: Any) -> KeywordMatches:
        matches = super().keyword(query, **more)
        return matches._replace(
            found=tuple(hit._replace(score=1_000 * hit.score) for hit in matches.found)
        )


class IsNeverSure(InMemoryStore):
    def nearest(self, space: str, vector: bytes, **more: Any) -> Nearest:
        return super().nearest(space, vector, **more)._replace(exact=False, plan="by guess")


class NamesByText(InMemoryStore):
    def keyword(self, query: KeywordQuery, **more: Any) -> KeywordMatches:
        matches = super().keyword(query, **more)
        return matches._replace(found=tuple(map(_named, matches.found)))

    def nearest(self, space: str, vector: bytes, **more: Any) -> Nearest:
        answer = super().nearest(space, vector, **more)
        return answer._replace(found=tuple(map(_named, answer.found)))

    def vectors(self, space: str, ids: Collection[ChunkId]) -> Mapping[ChunkId, bytes]:
        numbers = [int(id_[1:]) for id_ in map(str, ids) if id_[1:].isdecimal()]
        found = super().vectors(space, numbers)
        return {f"c{id_}": vector for id_, vector in found.items() if f"c{id_}" in ids}


def _named(hit: Found) -> Found:
    return hit._replace(chunk=hit.chunk._replace(id=f"c{hit.chunk.id}"))


class TakesSmallBatches(InMemoryStore):
    """Asks what it stands on for a few at a time, as a database with few parameters does."""

    def holders(self, tokens: Collection[str]) -> Mapping[str, int]:
        asked = list(tokens)
        found: dict[str, int] = {}
        for at in range(0, len(asked), 7):
            found |= super().holders(asked[at : at + 7])
        return found

    def vectors(self, space: str, ids: Collection[ChunkId]) -> Mapping[ChunkId, bytes]:
        asked = list(ids)
        found: dict[ChunkId, bytes] = {}
        for at in range(0, len(asked), 500):
            found |= super().vectors(space, asked[at : at + 500])
        return found


class FindsALittleLater(InMemoryStore):
    """Searches what was written when it was last refreshed."""

    capabilities = InMemoryStore.capabilities | {"eventual"}

    def __init__(self) -> None:
        super().__init__()
        self._seen = InMemoryStore()
        self.refreshes = 0

    def refresh(self, *, deadline: Deadline) -> None:
        deadline.check("the refresh")
        self._snapshot()
        with self._lock:
            self._seen._builds, self._seen._vectors = self._builds, self._vectors
        self.refreshes += 1

    def keyword(self, query: KeywordQuery, **more: Any) -> KeywordMatches:
        self._snapshot()
        return self._seen.keyword(query, **more)

    def nearest(self, space: str, vector: bytes, **more: Any) -> Nearest:
        self._snapshot()
        return self._seen.nearest(space, vector, **more)

    def holders(self, tokens: Collection[str]) -> Mapping[str, int]:
        self._snapshot()
        return self._seen.holders(tokens)


class SimpleManager(SoundManager):
    """Knows words and nothing else; it says so."""

    capabilities: ClassVar[frozenset[str]] = frozenset()

    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        text = query.text
        odd = any("\u0e00" <= sign <= "\u9fff" for sign in text)
        filters = (where.paths, where.not_paths, where.tags, where.not_tags, where.after)
        if odd or '"' in text or " -" in text or any(filters) or where.before:
            raise DeclinedError("this engine knows words alone")
        return query, where


class HasItsOwnScores(SoundManager):
    def search(self, *asked: Any, **more: Any) -> tuple[Arm, ...]:
        arms = super().search(*asked, **more)
        return tuple(arm._replace(name="engine", kind="opaque") for arm in arms)

    def twisted(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        return tuple(item._replace(score=item.score * 1e6 - 17) for item in found)


class TellsTheOrder(SoundManager):
    def search(self, *asked: Any, **more: Any) -> tuple[Arm, ...]:
        arms = super().search(*asked, **more)
        return tuple(arm._replace(name="order", kind="rank") for arm in arms)

    def twisted(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        return tuple(item._replace(score=float(place)) for place, item in enumerate(found))


class GoesByMeaning(SimpleManager):
    """Finds all notes for any words, those that have the words first."""

    def search(self, query: Query, *, limit: int, **more: Any) -> tuple[Arm, ...]:
        every = query._replace(keyword=KeywordQuery(should=(*ANIMALS, "the", "and", "heading")))
        (first,) = super().search(query, limit=10_000, **more)
        (others,) = super().search(every, limit=10_000, **more)
        known = {hit.chunk.id for hit in first.found}
        found = [hit._replace(score=0.5 + 0.5 * hit.score / (1 + hit.score)) for hit in first.found]
        found += [hit._replace(score=0.1) for hit in others.found if hit.chunk.id not in known]
        return (first._replace(name="meaning", kind="cosine", found=tuple(found[:limit])),)


class AnswersOneThread(SoundManager):
    def __init__(self, *given: Any) -> None:
        self._turn = threading.RLock()
        super().__init__(*given)

    def search(self, *asked: Any, **more: Any) -> tuple[Arm, ...]:
        with self._turn:
            return super().search(*asked, **more)

    def maintain(self, **asked: Any) -> Any:
        with self._turn:
            return super().maintain(**asked)


class OneRequestAtATime(SoundProvider):
    concurrency = 1


class OneTextAtATime(SoundProvider):
    limits = Limits(items=1, item_tokens=1_000)


class GivesLongVectors(SoundProvider):
    def vector(self, text: str) -> list[float]:
        return [1e4 * number for number in super().vector(text)]


class HasOneModel(SoundProvider):
    def __init__(self, context: ProviderContext) -> None:
        super().__init__(context)
        if context.dims not in (None, 8) or context.model not in ("", "sound"):
            raise ProviderError("there is no such model", provider="one", kind="bad_request")


class KeepsTheBest(Selects):
    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        return super().rank(hits[:1], context)


class IgnoresTheOverlap(SoundChunker):
    def __init__(self, context: ChunkerContext) -> None:
        super().__init__(context._replace(overlap=0))


class OnlyReads(SoundSource):
    capabilities: frozenset[str] = frozenset()


class WorksHere(SoundProvider):
    """It needs no server, has no prefixes, and names no setting that cannot work."""

    capabilities: frozenset[str] = frozenset()

    def __getattribute__(self, name: str) -> Any:
        if name == "host":
            raise AttributeError(name)
        return super().__getattribute__(name)

    def __init__(self, context: ProviderContext) -> None:
        super().__init__(evolve(context, base_url="", query_prefix=None, document_prefix=None))


class HasOneSetting(WorksHere):
    """The same, with vectors of one length alone."""

    dims = 8


class StoreOf(StoreConformance):
    def __init__(self, store: type[Store]) -> None:
        self.store = store

    def open_store(self, directory: str) -> Store:
        return self.store()


class ProviderOf(EmbeddingProviderConformance):
    def __init__(self, provider: type[SoundProvider]) -> None:
        self.provider = provider

    def make_provider(self, context: ProviderContext) -> SoundProvider:
        return self.provider(context)


ODD: list[tuple[Any, Any]] = [
    *(
        (StoreOf, store)
        for store in (
            *(KeywordsAlone, VectorsAlone, OneAtATime, ScoresInThousands, IsNeverSure),
            *(NamesByText, TakesSmallBatches, FindsALittleLater),
        )
    ),
    *(
        (ManagerBench, manager)
        for manager in (
            *(SimpleManager, HasItsOwnScores, TellsTheOrder, GoesByMeaning, AnswersOneThread),
        )
    ),
    *(
        (ProviderOf, provider)
        for provider in (
            *(OneRequestAtATime, OneTextAtATime, GivesLongVectors, HasOneModel),
            *(WorksHere, HasOneSetting),
        )
    ),
    (RankerBench, KeepsTheBest),
    (ChunkerBench, IgnoresTheOverlap),
    (SourceBench, OnlyReads),
]


@pytest.mark.parametrize(("bench", "odd"), ODD, ids=[odd.__name__ for _, odd in ODD])
def test_no_law_takes_what_is_odd_for_broken(bench: Any, odd: Any) -> None:
    laws: Laws = bench(odd)
    vars(laws)["settings"] = FEW
    judged = {name: _judged(laws, name) for name in dir(laws) if name.startswith("test_")}
    assert {name: said for name, said in judged.items() if said} == {}
    assert len(judged) > 10


def _judged(laws: Laws, name: str) -> str:
    try:
        getattr(laws, name)()
    except pytest.skip.Exception:
        return ""
    except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  whatever a law says
        return "\n".join([repr(error), *getattr(error, "__notes__", ())])
    return ""
