"""Which plugins exist, without importing any: entry points, their switches and conflicts."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from commonplace.errors import CallerError, PluginConflictError, PluginUnavailableError, suggest
from commonplace.host.switches import (
    API_PREFIX,
    DISABLE,
    OWN_DISTRIBUTION,
    Switches,
    canonical,
    problem_of,
)
from commonplace.model.plugins import COMMANDS, GROUP, is_id
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from commonplace.model.plugins import SwitchRule

Kind = Literal["backend", "source", "chunker", "provider", "ranker", "command", "tool"]

KINDS: Mapping[str, str] = {
    "backend": "commonplace_register_backends",
    "source": "commonplace_register_sources",
    "chunker": "commonplace_register_chunkers",
    "provider": "commonplace_register_providers",
    "ranker": "commonplace_register_rankers",
    "command": "commonplace_register_commands",
    "tool": "commonplace_register_tools",
}
"""The kinds of parts, each with the hook that registers it."""

CALLED: Mapping[str, tuple[str, ...]] = {
    "query": ("commonplace_rewrite_query",),
    "search": ("commonplace_search",),
    "prompt": ("commonplace_prompt_section",),
    "write": ("commonplace_before_write",),
    "events": (
        "commonplace_synced",
        "commonplace_searched",
        "commonplace_degraded",
        "commonplace_recovered",
    ),
}
"""The kinds of entry points that register nothing, each with the hooks that are called."""


def check_kind(kind: str) -> None:
    """Raise :class:`~commonplace.errors.CallerError` where plugins register nothing of ``kind``."""
    if kind not in KINDS:
        hint = f"there is {', '.join(KINDS)}"
        raise CallerError(f"there is no kind of plugin named {kind!r}", hint=hint)


FIELD = "\x1f"
_MOST_BYTES = 1_000_000
_SLOTS = 251


class EntryPoint(NamedTuple):
    """One line of a distribution's entry points in our group.

    ``name`` is ``kind.id``; ``module`` is what to import; ``extras`` are the distribution's extras
    it needs, separated by commas. ``problem`` says what is wrong with one that cannot be used.
    ``api`` are the versions of the plugin API that suit its distribution, separated by commas;
    ``""`` is any.
    A named tuple, because its class is built in a fifth of an attrs class's time at each start.
    """

    name: str
    module: str
    distribution: str
    version: str = ""
    extras: str = ""
    problem: str = ""
    api: str = ""

    @property
    def kind(self) -> str:
        """The part of the name before its first dot."""
        return self.name.partition(".")[0]

    @property
    def id(self) -> str:
        """The part of the name after its first dot."""
        return self.name.partition(".")[2]

    @property
    def origin(self) -> str:
        """Distribution and version, for people."""
        return f"{self.distribution} {self.version}".rstrip()


def installed(
    cache_dir: str | None = None, path: Sequence[str] | None = None
) -> tuple[EntryPoint, ...]:
    """All entry points of our group on ``path`` (default: ``sys.path``), malformed ones included.

    With ``cache_dir`` the answer is kept there, for as long as neither Python nor the modification
    time of any folder on the path changes. A cache that cannot be read or written costs a scan of
    some milliseconds, nothing else.
    """
    # Other things than strings on the path are ignored by imports, too.
    folders: Sequence[object] = sys.path if path is None else path
    path = [entry for entry in folders if isinstance(entry, str)]
    if cache_dir is None:
        return scan(path)
    key, newest = _state_of(path)
    file = os.path.join(cache_dir, _slot(path))
    remembered = _recall(file, key)
    if remembered is not None:
        return remembered

    entry_points = scan(path)
    remember(file, key, entry_points, newest=newest)
    return entry_points


def _state_of(path: Sequence[str]) -> tuple[str, int]:
    """A line that changes whenever the answer may, and the newest modification time in ns."""
    newest = 0
    parts: list[object] = ["commonplace entry points 2", sys.version]
    for entry in path:
        try:
            folder = entry or os.getcwd()
            stamp = os.stat(folder).st_mtime_ns
        except (OSError, ValueError):
            continue
        parts += (folder, stamp)
        newest = max(newest, stamp)
    return repr(parts), newest


def _slot(path: Sequence[str]) -> str:
    """A file name for ``path``: programs with other paths keep other files, but never many."""
    number = int.from_bytes(repr((sys.version, *path)).encode(), "big") % _SLOTS
    return f"entry-points-{number:03}.txt"


def _recall(file: str, key: str) -> tuple[EntryPoint, ...] | None:
    """The entry points kept for ``key``; ``None`` if the file is missing, damaged or outdated."""
    # Neither a link nor a pipe put in the file's place is followed or waited for.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with open(os.open(file, flags), "rb") as stream:
            text = stream.read(_MOST_BYTES).decode()
        first, *records, last = text.split("\n")
        if first != key or last != "end":
            return None
        return tuple(EntryPoint._make(line.split(FIELD)) for line in records)
    except (OSError, ValueError, TypeError):  # the last for another number of fields
        return None


_RACY_NS = 2_000_000_000


def scan(path: Sequence[str]) -> tuple[EntryPoint, ...]:
    """The entry points of all distributions in the folders of ``path``, in that order.

    As for imports, the first distribution of a name hides later ones. Never raises: what cannot
    be read is passed over, what is malformed is returned with its ``problem``.
    """
    seen: set[str] = set()
    entry_points: dict[EntryPoint, None] = {}
    for folder in path:
        for info, name in _distributions(folder):
            if name not in seen:
                seen.add(name)
                entry_points.update(dict.fromkeys(_offers(info)))
    return tuple(entry_points)


def remember(
    file: str,
    key: str,
    found: Sequence[EntryPoint],
    *,
    newest: int,
    now_ns: Callable[[], int] = time.time_ns,
) -> None:
    """Keep ``found`` for ``key``; do nothing where that is impossible or unwise.

    ``newest`` is the newest modification time, in ns, of what was scanned. One that is hardly
    past may belong to an installation still at work, whose next step leaves no other time.
    """
    records = [FIELD.join(entry) for entry in found]
    if abs(now_ns() - newest) < _RACY_NS or any(
        "\n" in record or record.count(FIELD) != len(EntryPoint._fields) - 1 for record in records
    ):
        return
    text = "\n".join([key, *records, "end"])
    from commonplace.dirs import write_whole  # once an installation

    # What is no valid UTF-8 would be another name when it is read again.
    with suppress(OSError, ValueError):
        text.encode()
        write_whole(file, text)


def _distributions(folder: str) -> Iterator[tuple[str, str]]:
    """(metadata folder, canonical name) of each distribution in ``folder``, newest name first."""
    try:
        names = os.listdir(folder or os.curdir)
    except (OSError, ValueError):
        return
    for name in sorted(names, reverse=True):
        stem, _, suffix = name.rpartition(".")
        # pip puts what it is about to remove out of the way under names with a tilde.
        if stem.strip(".") and suffix in {"dist-info", "egg-info"} and not stem.startswith("~"):
            yield os.path.join(folder, name), canonical(stem.partition("-")[0])


def _offers(info: str) -> Iterator[EntryPoint]:
    pairs = list(_pairs(_read(os.path.join(info, "entry_points.txt"))))
    if not pairs:
        return
    distribution, version = _identity(info)
    api = ",".join(name[len(API_PREFIX) :] for name, _ in pairs if name.startswith(API_PREFIX))
    for name, value in pairs:
        if name.startswith(API_PREFIX):
            continue
        module, _, rest = value.partition("[")
        module = module.strip()
        extras = rest.partition("]")[0].replace(" ", "")
        yield EntryPoint(name, module, distribution, version, extras, _problem(name, module), api)


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Names and values of our section of an ``entry_points.txt``."""
    section = ""
    for raw in text.split("\n"):
        line = raw.strip()
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
        elif section == GROUP and line and line[0] not in "#;":
            name, _, value = line.partition("=")
            yield name.strip(), value.strip()


def _identity(info: str) -> tuple[str, str]:
    """Name and version: from the metadata, else from the folder's name."""
    stem = os.path.basename(info).rpartition(".")[0]
    name, _, rest = stem.partition("-")
    version = rest.partition("-")[0]
    text = _read(os.path.join(info, "METADATA")) or _read(os.path.join(info, "PKG-INFO"))
    for line in text.split("\n"):
        if not line.strip():
            break
        key, _, value = line.partition(":")
        if key.lower() == "name":
            name = value.strip() or name
        elif key.lower() == "version":
            version = value.strip() or version
    return name, version


def _read(file: str) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except (OSError, ValueError):
        return ""


def _problem(name: str, module: str) -> str:
    kind, dot, id_ = name.partition(".")
    if not dot:
        return f"the name {name!r} has no dot: it is made of kind and id, such as backend.mine"
    if kind not in KINDS and kind not in CALLED:
        kinds = ", ".join((*KINDS, *CALLED))
        return f"there is no kind of plugin named {kind!r}; the kinds are {kinds}"
    if not is_id(id_):
        return f"{id_!r} is no id: an id is lower-case letters and digits, joined by - or _"
    if kind == "command" and id_ in {*COMMANDS, "help"}:
        return f"{id_!r} is a command of core, whose names cannot be taken: choose another one"
    if ":" in module:
        return f"{module!r} names something inside a module: a plugin is a whole module"
    is_module = all(word.isidentifier() for word in module.split("."))
    return "" if is_module else f"{module!r} is not the name of a module"


class Catalogue:
    """Entry points, looked up by kind and id.

    ``env`` may hold ``COMMONPLACE_PLUGINS`` (only these) and ``COMMONPLACE_DISABLE_PLUGINS`` (all
    but these): names of entry points (``ranker.mmr``) or of distributions, separated by commas. An
    empty value is as good as none. ``COMMONPLACE_SAFE=1`` leaves the builtins only. ``rules`` are
    the switches in the configuration; what the environment switches off, they cannot switch on.
    """

    def __init__(
        self,
        entries: Sequence[EntryPoint],
        env: Mapping[str, str],
        rules: Sequence[SwitchRule] = (),
    ) -> None:
        self.switches = Switches(env, rules)
        # What is built in works, whatever else is installed under its name.
        on = [e for e in entries if not self.switched_off(e)]
        builtin = {e.name for e in on if canonical(e.distribution) == OWN_DISTRIBUTION}
        self.entries = tuple(
            e._replace(problem=e.problem or problem_of(e.name, e.distribution, e.api, builtin))
            for e in entries
        )
        self._switched_on: dict[str, list[EntryPoint]] = {}
        # The well formed first: a malformed entry point must not hide one.
        for entry in sorted(self.entries, key=lambda entry: bool(entry.problem)):
            rivals = self._switched_on.setdefault(entry.name, [])
            if not self.switched_off(entry) and not (entry.problem and rivals):
                rivals.append(entry)

    def switched_off(self, entry: EntryPoint) -> str:
        """The variable or setting that switches ``entry`` off, or ``""``."""
        return self.switches.off(entry.name, entry.distribution)

    def unknown_names(self) -> tuple[str, ...]:
        """A line for each name in our own configuration's switches that no plugin has."""
        return self.switches.unknown_names([(e.name, e.distribution) for e in self.entries])

    def ids(self, kind: str) -> tuple[str, ...]:
        """The ids of ``kind`` that one entry point offers, in alphabetical order."""
        return tuple(sorted(entry.id for entry in self.of_kind(kind)))

    def of_kind(self, kind: str) -> tuple[EntryPoint, ...]:
        """The entry points of ``kind`` that are on, well formed and without a rival."""
        return tuple(
            entries[0]
            for entries in self._switched_on.values()
            if len(entries) == 1 and entries[0].kind == kind and not entries[0].problem
        )

    def unusable(self, kind: str) -> tuple[tuple[EntryPoint, str], ...]:
        """The other entry points of ``kind`` that are on, each with why it cannot be loaded."""
        return tuple(
            (entry, entry.problem or str(conflict(entry.name, rivals)))
            for rivals in self._switched_on.values()
            for entry in rivals
            if entry.kind == kind and (entry.problem or len(rivals) > 1)
        )

    def of_module(self, kind: str, module: str) -> tuple[EntryPoint, ...]:
        """All entry points of ``kind`` that name ``module``, even those that are off."""
        return tuple(e for e in self.entries if e.module == module and e.kind == kind)

    def rivals(self, name: str) -> tuple[EntryPoint, ...]:
        """The entry points that are on under ``name``: more than one is a conflict."""
        return tuple(self._switched_on.get(name, ()))

    def find(self, kind: str, id_: str, others: Iterable[str] = ()) -> EntryPoint:
        """The entry point of ``kind`` and ``id_``; ``others`` are ids known besides, for advice.

        Raises :class:`~commonplace.errors.PluginConflictError` if distributions disagree on it,
        and :class:`~commonplace.errors.PluginUnavailableError` if there is none or it is off.
        """
        name = f"{kind}.{id_}"
        rivals = self.rivals(name)
        if len(rivals) > 1:
            raise conflict(name, rivals)
        if rivals:
            return rivals[0]

        for entry in self.entries:
            if entry.name == name:
                variable = self.switched_off(entry)
                raise PluginUnavailableError(
                    f"{kind} {id_!r} is switched off by {variable}",
                    hint=self.switches.hint(entry.name, entry.distribution),
                )
        raise PluginUnavailableError(
            f"there is no {kind} {id_!r}", hint=_suggestion(kind, id_, {*self.ids(kind), *others})
        )


def conflict(name: str, rivals: Sequence[EntryPoint]) -> PluginConflictError:
    """The error for ``name`` being offered by several distributions."""
    origins = " and ".join(entry.origin for entry in rivals)
    unwanted = rivals[-1].distribution
    return PluginConflictError(
        f"{name} is offered by {origins}",
        hint=f"uninstall one of them, or switch it off: {DISABLE}={unwanted}",
    )


def _suggestion(kind: str, id_: str, known: Iterable[str]) -> str:
    """The id that was probably meant, and all known ones."""
    ids = sorted(known)
    if not ids:
        return f"install a plugin that offers a {kind}"
    listed = f"there is {', '.join(ids)}"
    close = suggest(id_, ids)
    return f"did you mean {close!r}? {listed}" if close else listed
