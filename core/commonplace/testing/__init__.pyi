from commonplace.testing.base import WAIT as WAIT
from commonplace.testing.base import attach as attach
from commonplace.testing.base import held as held
from commonplace.testing.base import live_build as live_build
from commonplace.testing.base import make_append as make_append
from commonplace.testing.base import make_chunk as make_chunk
from commonplace.testing.base import make_put as make_put
from commonplace.testing.base import make_vector as make_vector
from commonplace.testing.base import nearest as nearest
from commonplace.testing.base import places as places
from commonplace.testing.base import publish as publish
from commonplace.testing.base import search as search
from commonplace.testing.base import words as words
from commonplace.testing.base import write as write
from commonplace.testing.chunker import ChunkerConformance as ChunkerConformance
from commonplace.testing.manager import MemoryManagerConformance as MemoryManagerConformance
from commonplace.testing.provider import (
    EmbeddingProviderConformance as EmbeddingProviderConformance,
)
from commonplace.testing.ranker import RankerConformance as RankerConformance
from commonplace.testing.source import SourceConformance as SourceConformance
from commonplace.testing.store import StoreConformance as StoreConformance

__all__: list[str]  # noqa: PYI035  # all that is imported here
