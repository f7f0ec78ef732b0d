"""The spaces that vectors lie in: their names, their settings, their length, refused texts."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

from commonplace.embedding.vectors import dims_of
from commonplace.errors import IndexBusyError, UnavailableError
from commonplace.model.reports import Progress
from commonplace.model.tuples import NamedTuple
from commonplace.resilience.deadline import POLL_SECONDS
from commonplace.resilience.json_file import read_json, update_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from commonplace.embedding.guarded import GuardedProvider
    from commonplace.model.documents import SpaceInfo
    from commonplace.model.reports import ProgressCallback
    from commonplace.protocols.providers import ProviderContext


_FIELDS = ("model", "dims", "query_prefix", "document_prefix")
_LENGTH = "length"
_SINCE = "length_since"
_POLLS_SHOWN, _MOST_POLLS = 10, 1200
"""After how many polls of who fills spaces it is shown again, and must have stored a vector."""
_OPTIONS = ("input_type", "query_input_type", "document_input_type")


def space_name(fingerprint: str, dims: int) -> str:
    """The name of the space of a fingerprint's vectors of ``dims`` dimensions."""
    return f"{fingerprint}#{dims}"


def fingerprint_of(space: str) -> str:
    """The fingerprint in the name of a space."""
    return space.rpartition("#")[0]


def space_of(fingerprint: str, spaces: Sequence[SpaceInfo]) -> SpaceInfo | None:
    """The space of ``fingerprint`` that covers most chunks, if there is one."""
    own = [info for info in spaces if info.space == space_name(fingerprint, info.dims)]
    return max(own, key=lambda info: info.covered, default=None)


def lengths_of(space: SpaceInfo, spaces: Sequence[SpaceInfo]) -> dict[int, str]:
    """The filled spaces of ``space``'s fingerprint, by the bytes of a vector.

    There are several while a server changes the length of its vectors.
    """
    fingerprint = fingerprint_of(space.space)
    return {
        4 * info.dims: info.space
        for info in spaces
        if info.covered and info.space == space_name(fingerprint, info.dims)
    }


def mismatch_words(provider: str, dims: int, space: SpaceInfo) -> str:
    """What is wrong, and the fix, where vectors have ``dims`` dimensions, unlike ``space``."""
    return (
        f"{provider} now gives {dims} dimensions, the index has {space.dims}:"
        " `commonplace index` embeds the notes again"
    )


def recorded_settings(provider: str, context: ProviderContext) -> dict[str, Any]:
    """The settings that decide the vectors of ``provider``, without its key and address."""
    return {
        "provider": provider,
        **{name: getattr(context, name) for name in _FIELDS},
        **{name: context.options.get(name) for name in _OPTIONS},
    }


def context_as_recorded(context: ProviderContext, entry: Mapping[str, Any]) -> ProviderContext:
    """``context`` with the settings of an earlier :func:`recorded_settings`."""
    from attrs import evolve

    options = {**context.options, **{name: entry.get(name) for name in _OPTIONS}}
    fields = {name: entry[name] for name in _FIELDS if name in entry}
    return evolve(context, options=options, **fields)


class Filler:
    """A process that fills ``spaces`` now: shown while it is waited for, but not without end.

    It may be stopped, or wait for a server that does not answer.
    """

    def __init__(
        self, spaces: Callable[[], Sequence[SpaceInfo]], progress: ProgressCallback | None
    ) -> None:
        self.polls = 0
        self._spaces = spaces
        self._progress = progress
        self._seen: list[SpaceInfo] = []

    def poll(self, holder: str) -> None:
        """Report that ``holder`` is waited for, which is polled every :data:`POLL_SECONDS`.

        Raises :class:`~commonplace.errors.IndexBusyError` where no vector was stored in two
        minutes.
        """
        if self._progress is not None and self.polls % _POLLS_SHOWN == 0:
            label = f"waiting for {holder}, which embeds the notes"
            self._progress(Progress(label=label, completed=0, total=0))
        if self.polls % _MOST_POLLS == 0:
            before, self._seen = self._seen, list(self._spaces())
            if self.polls and before == self._seen:
                raise IndexBusyError(
                    f"{holder} embeds the notes, and has stored no vector for"
                    f" {_MOST_POLLS * POLL_SECONDS / 60:.0f} min",
                    holder=holder,
                    hint="sync again when it is done, or end it if it is stuck",
                )
        self.polls += 1


class SpaceLedger:
    """A small JSON file: for each fingerprint the provider's id, model, length and prompt forms.

    No key is in it. Without it nothing is lost but comfort: vectors of a former model are not
    searched until the new ones are made, and a changed vector length is noticed only when
    documents are embedded. ``clock`` gives epoch seconds.
    """

    def __init__(self, path: str, *, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self._clock = clock

    def entries(self) -> dict[str, dict[str, Any]]:
        """By fingerprint; a missing or invalid file counts as empty."""
        return _objects(read_json(self.path))

    def length(self, fingerprint: str) -> int | None:
        """How many dimensions the last vectors seen of it had."""
        length = self.entries().get(fingerprint, {}).get(_LENGTH)
        return length if isinstance(length, int) and length > 0 else None

    def note_length(self, fingerprint: str, length: int) -> None:
        """Keep that a vector of ``length`` dimensions was returned."""
        if self.length(fingerprint) != length:
            self.note(fingerprint, {_LENGTH: length, _SINCE: self._clock()})

    def mismatch(self, space: SpaceInfo, spaces: Sequence[SpaceInfo]) -> tuple[int, float] | None:
        """The length of the last vector, if none of ``spaces`` has it, and since when.

        ``space`` is one of the same fingerprint; the time is in epoch seconds, 0 if unknown.
        """
        entry = self.entries().get(fingerprint_of(space.space), {})
        length, since = entry.get(_LENGTH), entry.get(_SINCE)
        if not isinstance(length, int) or length <= 0 or 4 * length in lengths_of(space, spaces):
            return None
        return length, since if isinstance(since, float) else 0.0

    def note(self, fingerprint: str, entry: Mapping[str, object]) -> None:
        """Add ``entry`` to what is known. Write errors are ignored."""

        def change(content: dict[str, Any]) -> dict[str, Any] | None:
            entries = _objects(content)
            known = entries.get(fingerprint, {})
            merged = {**known, **entry}
            return {**entries, fingerprint: merged} if known != merged else None

        with contextlib.suppress(UnavailableError):
            update_json(self.path, change)


class RefusedText(NamedTuple):
    """Where the text stands (``""``: not found), and the provider's reason."""

    path: str
    reason: str


class RefusedTexts:
    """Texts that a provider will not embed, in a small JSON file: no sync sends them again.

    By index (``index`` names this one), fingerprint and digest of the chunk. Without the file those
    texts are sent, and refused, again.
    """

    def __init__(self, path: str, index: str) -> None:
        self.path = path
        self._index = index

    def of(self, fingerprint: str) -> dict[str, RefusedText]:
        """By the digest of the chunk; a missing or invalid file counts as empty."""
        return self._texts(read_json(self.path), fingerprint)

    def keep(self, fingerprint: str, texts: Mapping[str, RefusedText]) -> None:
        """Replace the texts of ``fingerprint`` in this index. Write errors are ignored."""

        def change(content: dict[str, Any]) -> dict[str, Any] | None:
            if texts == self._texts(content, fingerprint):
                return None
            own = content.get(self._index)
            own = {**(own if isinstance(own, dict) else {}), fingerprint: texts}
            content[self._index] = {name: refused for name, refused in own.items() if refused}
            return {index: entries for index, entries in content.items() if entries}

        with contextlib.suppress(UnavailableError):
            update_json(self.path, change)

    def _texts(self, content: Mapping[str, Any], fingerprint: str) -> dict[str, RefusedText]:
        own = content.get(self._index)
        refused = own.get(fingerprint) if isinstance(own, dict) else None
        return {
            digest: RefusedText(*fields)
            for digest, fields in (refused.items() if isinstance(refused, dict) else ())
            if isinstance(fields, list) and len(fields) == 2
            if all(isinstance(field, str) for field in fields)
        }


class VectorLength:
    """The length of one provider's vectors, which a server may change without notice.

    ``dims`` is the length to use (``None``: not known yet), ``expected`` that of the vectors which
    are in the index. ``confirmed`` says that vectors of ``dims`` have just been returned,
    ``changed`` that they had another length than before. ``note`` is one line on a change.
    """

    def __init__(
        self, provider: GuardedProvider, spaces: Sequence[SpaceInfo], ledger: SpaceLedger | None
    ) -> None:
        self.confirmed = self.changed = False
        self.note = ""
        self._id = provider.id
        self._fingerprint = provider.fingerprint()
        self._ledger = ledger
        self._kept = ledger.length(self._fingerprint) if ledger is not None else None
        known = space_of(self._fingerprint, spaces)
        self.dims = known.dims if known is not None else None
        self.expected = self._indexed = self.dims
        if self._kept is not None and self.dims is not None and self._kept != self.dims:
            self._change(self._kept)  # the length of a query's vector

    @property
    def doubtful(self) -> bool:
        """Whether query and index disagree: one text is embedded first, and its vector decides."""
        return bool(self.note) and not self.confirmed

    @property
    def space(self) -> str:
        """The space of vectors of this length."""
        return space_name(self._fingerprint, self.dims or 0)

    def measured(self, vectors: Iterable[bytes]) -> None:
        """Take the length from vectors that the provider has just returned."""
        dims = next(map(dims_of, vectors), None)
        if dims is None:
            return
        if not self.confirmed and self.dims is not None and dims != self.dims:
            self._change(dims)
            self.changed = True
        self.dims = self.expected = dims
        self.confirmed = True
        if self._ledger is not None and dims != self._kept:
            self._ledger.note_length(self._fingerprint, dims)
            self._kept = dims

    def _change(self, dims: int) -> None:
        if self._indexed is None:
            self._indexed = self.dims  # that of vectors from the cache, in a new index
        self.dims = dims
        self.note = (
            f"{self._id} now gives {dims} dimensions instead of {self._indexed}:"
            " the vectors of all notes are replaced"
            if dims != self._indexed
            else ""
        )


def _objects(content: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {key: entry for key, entry in content.items() if isinstance(entry, dict)}
