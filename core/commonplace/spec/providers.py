"""The seam of embedding providers: texts in, vectors out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.deadline import Deadline

__all__ = ["EmbeddingProvider", "Limits", "ProviderContext"]


@frozen
class ProviderContext:
    """What a provider's factory is given.

    ``model`` is the one asked for (``""``: the provider's default), ``dims`` the length of vectors
    asked for (``None``: the model's own). ``base_url``, ``api_key`` and ``headers`` are of the
    configuration's ``remote`` section, ``api_key`` found wherever keys are looked for; ``options``
    are the rest of that section and of ``local``, as read. ``state_dir`` may keep derived files.
    ``transport`` replaces the network in tests (an ``httpx.BaseTransport``).
    """

    model: str = ""
    dims: int | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(factory=dict, repr=False)
    query_prefix: str | None = None
    document_prefix: str | None = None
    options: Mapping[str, Any] = field(factory=dict, repr=False)
    state_dir: str = ""
    cache_dir: str = ""
    transport: Any = None
    config: Any = field(default=None, repr=False)

    def prefixes(self, query: str = "", document: str = "") -> dict[str, str]:
        """By purpose what stands before texts: the configuration's, or else the model's own."""
        return {
            "query": query if self.query_prefix is None else self.query_prefix,
            "document": document if self.document_prefix is None else self.document_prefix,
        }


@frozen
class Limits:
    """The most one request may hold; ``None`` is no limit known.

    ``tokens`` counts a whole request, ``item_tokens`` one text; both are compared with an estimate
    (see :func:`commonplace.embedding.packing.estimate_tokens`). ``bytes`` is of UTF-8 text.
    ``query_seconds`` and ``request_seconds`` are how long a query, and one request for documents,
    may take; somebody waits for a query, so all of its attempts together.
    """

    items: int | None = None
    tokens: int | None = None
    bytes: int | None = None
    item_tokens: int | None = None
    query_seconds: float = 10.0
    request_seconds: float = 120.0


class EmbeddingProvider(Protocol):
    """Turns texts into vectors.

    Splitting, packing, caching, retries, deadlines, normalising and checking are the host's: an
    author makes one request and tells what went wrong with a
    :class:`~commonplace.errors.ProviderError` of the right ``kind``. ``embed`` may be called from
    several threads at once, unless ``concurrency`` is 1.
    """

    @property
    def model(self) -> str:
        """The model that answers, as it is shown."""
        ...

    @property
    def limits(self) -> Limits:
        """The most one call of ``embed`` may hold."""
        ...

    @property
    def concurrency(self) -> int:
        """How many calls may run at once, at the most."""
        ...

    def fingerprint(self) -> str:
        """Everything that decides a vector, without a network call and without a secret.

        Provider family, endpoint's origin, model or series, dims, prompt forms. Two providers with
        equal fingerprints may share vectors; whatever changes vectors must change it.
        """
        ...

    def embed(
        self, texts: Sequence[str], *, purpose: Literal["query", "document"], deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        """One vector a text, in the order of ``texts``; need not be normalised.

        ``texts`` is never empty, and holds no blank text. Any sequences of floats will do (lists,
        ``array('f')``, rows of numpy).
        """
        ...

    def close(self) -> None:
        """Let go of connections and children; closing twice is fine."""
        ...
