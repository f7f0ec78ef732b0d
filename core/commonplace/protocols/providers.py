"""The seam of embedding providers: texts in, vectors out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from commonplace.resilience.deadline import Deadline


Purpose = Literal["query", "document"]
"""What a text is embedded for; models embed the two differently."""


@frozen
class ProviderContext:
    """What a provider's factory is given.

    ``model`` is the one asked for (``""``: the provider's default), ``dims`` the length of vectors
    asked for (``None``: the model's own). ``base_url`` is the address to use (``None``: the
    vendor's), ``headers`` and ``api_key`` are what belongs to it, wherever they were found;
    ``key_origin`` says where the key stands, or why none is sent, for messages. ``options``
    are the input types, and what is set in the provider's own section. ``state_dir`` may keep
    derived files.
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
    key_origin: str = ""

    def prefixes(self, query: str = "", document: str = "") -> dict[str, str]:
        """By purpose what stands before texts: the configuration's, or else the model's own."""
        return {
            "query": query if self.query_prefix is None else self.query_prefix,
            "document": document if self.document_prefix is None else self.document_prefix,
        }


@frozen
class Limits:
    """The most one request may hold; ``None`` is no limit known.

    ``tokens`` counts a whole request, ``item_tokens`` one text; both are compared with an estimate:
    a token for three characters of ASCII, and for each other one. ``bytes`` is of UTF-8 text.
    ``query_seconds`` and ``request_seconds`` are how long a query, and one request for documents,
    may take; a user waits for a query, so that limit is for all of its attempts together.
    ``wait_seconds`` is how long a search waits for its query before keywords answer: a request that
    takes longer goes on, and its vector serves the next search.
    """

    items: int | None = None
    tokens: int | None = None
    bytes: int | None = None
    item_tokens: int | None = None
    query_seconds: float = 10.0
    request_seconds: float = 120.0
    wait_seconds: float = 2.0


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

    @property
    def capabilities(self) -> frozenset[str]:
        """``batches`` of a :class:`BatchProvider`, and ``remote`` of a :class:`RemoteProvider`."""
        ...

    def fingerprint(self) -> str:
        """Everything that decides a vector, without a network call and without a secret.

        Provider family, endpoint's origin, model or series, dims, prompt forms, and a digest of the
        user's headers, which gateways route by. Two providers with equal fingerprints may share
        vectors; whatever changes vectors must change it.
        """
        ...

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose, deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        """One vector a text, in the order of ``texts``; need not be normalised.

        ``texts`` is never empty, and holds no blank text. Any sequences of floats will do (lists,
        ``array('f')``, rows of numpy).
        """
        ...

    def close(self) -> None:
        """Let go of connections and children; closing twice is fine."""
        ...


class BatchLimits(NamedTuple):
    """The most one batch job may hold.

    ``bytes`` is of the file that the lines are written to. ``kept_seconds`` after its beginning
    a job may be gone: then it is forgotten, unless what it made can still be collected.
    """

    lines: int = 50_000
    bytes: int = 100_000_000
    kept_seconds: float = 7 * 86400.0


class BatchState(NamedTuple):
    """A batch job at one moment: ``done`` of ``total`` lines, 0 if that is not known.

    Jobs that are ``expired`` or ``cancelled`` may still hold what was finished by then; one that
    is ``failed`` holds nothing. ``reason`` says why, in the vendor's words and without secrets.
    """

    state: Literal["running", "done", "failed", "expired", "cancelled"]
    reason: str = ""
    done: int = 0
    total: int = 0


class BatchLine(NamedTuple):
    """What became of one text of a batch job: its vector, or the words of an ``error``.

    The words are on one line, and hold no secret.
    """

    custom_id: str
    vector: Sequence[float] | None = None
    error: str = ""


class BatchJobs(Protocol):
    """Embedding documents by jobs that a vendor works off within hours, for less money.

    Each method makes the requests it must and raises
    :class:`~commonplace.errors.ProviderError`; trying again, waiting, and keeping jobs across
    restarts are the host's.
    """

    @property
    def limits(self) -> BatchLimits:
        """The most one job may hold."""
        ...

    def submit(self, name: str, lines: Mapping[str, str], *, deadline: Deadline) -> str:
        """Begin a job for ``lines`` (custom id -> text) and return what it is known by.

        ``name`` is put where :meth:`find` sees it; called again with the same name, what was
        uploaded by then is used again. Status 404, 405 or 501 in the error says that the endpoint
        has no batch jobs.
        """
        ...

    def find(self, name: str, *, deadline: Deadline) -> str | None:
        """The job submitted as ``name``, where its beginning was not answered; ``None`` if none."""
        ...

    def poll(self, job: str, *, deadline: Deadline) -> BatchState:
        """How it stands."""
        ...

    def collect(self, job: str, *, deadline: Deadline) -> Iterator[BatchLine]:
        """What is finished, in any order; ids may be missing."""
        ...

    def cancel(self, job: str, *, deadline: Deadline) -> None:
        """Stop it."""
        ...

    def clean(self, job: str, *, deadline: Deadline) -> None:
        """Delete the files that it left with the vendor; ones that are gone are no error."""
        ...


class BatchProvider(Protocol):
    """An :class:`EmbeddingProvider` that declares the capability ``batches``."""

    def batches(self) -> BatchJobs:
        """Its jobs; costs no network."""
        ...


class RemoteProvider(Protocol):
    """An :class:`EmbeddingProvider` that declares the capability ``remote``: it sends texts away.

    Before the first text is sent to a host, the user is notified, or asked.
    """

    @property
    def host(self) -> str:
        """Scheme, host and port of the server, for people; ``""`` if it is on this machine."""
        ...
