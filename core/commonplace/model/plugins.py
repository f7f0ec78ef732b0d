"""What a plugin declares: its hooks, probes, credentials, mounts, and groups of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, dataclass_transform

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pluggy import HookimplMarker, HookspecMarker

    from commonplace.model.documents import Trust
    from commonplace.model.search import Query


T = TypeVar("T")

GROUP = "commonplace"
"""The entry-point group, and the name of the pluggy project."""

COMMANDS = (
    "demo",
    "init",
    "index",
    "search",
    "get",
    "recall",
    "list",
    "recent",
    "remember",
    "correct",
    "forget",
    "undo",
    "journal",
    "status",
    "watch",
    "doctor",
    "config",
    "plugins",
    "completion",
    "man",
)
"""The commands of core, in the order of the help: names that no plugin's command can have."""

MARK = f"{GROUP}_impl"
"""What pluggy's marker of implementations sets on a function."""

UNORDERED = {
    "wrapper": False,
    "hookwrapper": False,
    "optionalhook": False,
    "tryfirst": False,
    "trylast": False,
    "specname": None,
}
"""What it sets it to where no option is given."""


def _mark_specification(function: Any = None, *, firstresult: bool = False) -> Any:
    if function is None:
        return lambda function: _mark_specification(function, firstresult=firstresult)
    unset = {"historic": False, "warn_on_impl": None, "warn_on_impl_args": None}
    setattr(function, f"{GROUP}_spec", {"firstresult": firstresult, **unset})
    return function


def _mark_implementation(function: Any = None, **options: Any) -> Any:
    if function is None or options:
        from pluggy import HookimplMarker

        return HookimplMarker(GROUP)(function, **options)
    setattr(function, MARK, {**UNORDERED})
    return function


# They mark as pluggy's own do, but do not import it: that takes a sixth of the time of a search.
hookspec: HookspecMarker = _mark_specification  # type: ignore[assignment]
hookimpl: HookimplMarker = _mark_implementation  # type: ignore[assignment]


class Probe(NamedTuple):
    """Whether a part could work here, asked without a network call and without loading a model.

    ``reason`` and ``hint`` are one line each, for people; both empty when available.
    """

    available: bool
    reason: str = ""
    hint: str = ""


class SwitchRule(NamedTuple):
    """One setting that switches plugins off.

    ``setting`` is its key and ``file`` where it stands. ``names`` are ids (``mmr``), names of entry
    points (``ranker.mmr``) or distributions. With ``only`` every plugin of a third party that is
    not among them is off, else those that are. ``ours`` says that the file is commonplace's alone,
    so that a name that no plugin has must be a slip.
    """

    setting: str
    file: str
    names: tuple[str, ...] = ()
    only: bool = False
    ours: bool = False

    def __str__(self) -> str:
        return f"{self.setting} in {self.file}"


class Credentials(NamedTuple):
    """Where the host looks for a provider's key, in this order after ``remote.apiKey``.

    ``config`` are ids under ``models.providers`` whose ``apiKey`` serves, ``env`` names of
    environment variables, ``keyring`` a user name under the service ``commonplace`` in the system's
    keyring. ``optional`` providers work without a key (a server on this machine). ``note`` is
    added where a key is missing: what people take for one.

    ``hosts`` are those of the vendor, with all below them: keys that name no address go there by
    ``https`` alone, and wherever the provider goes without any address. ``address`` is the vendor's
    own variable for another address; its value reaches the provider as ``base_url``.
    """

    env: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    keyring: str | None = None
    optional: bool = False
    note: str = ""
    hosts: tuple[str, ...] = ()
    address: str = ""


class Mount(NamedTuple):
    """Files of ``location`` (an absolute folder) that hits name ``prefix/<relative path>``.

    ``prefix`` is of one part or more, such as ``qmd/notes``. Of the files only those that match
    ``pattern``, a glob relative to ``location``, can be read. ``trust`` says whose text they are.

    A folder inside the workspace, whose files hits name by their stored paths, has this path as
    ``stored`` (``""``: the workspace itself): the prefix is then another name that can be read by.
    """

    prefix: str
    location: str
    pattern: str = "**/*.md"
    trust: Trust = "external"
    stored: str | None = None


STORE_ABILITIES = frozenset({"keyword", "phrases", "counts", "term_counts", "vectors", "append"})
STORE_ABILITIES |= {"persistent", "eventual", "lookup", "holds", "days", "vocabulary"}
"""The capabilities that a store may declare; see :class:`~commonplace.plugin.Store`."""


class Registration(NamedTuple, Generic[T]):
    """One part that a plugin registers.

    ``factory`` makes the part; its arguments depend on the kind (see :mod:`commonplace.plugin`).
    ``summary`` is one line. ``config`` is the class its section of the configuration is read into;
    the factory gets it as ``context.config``, ``None`` where nothing is configured.
    ``capabilities`` are those of what the factory makes. ``probe`` answers whether the part can
    work here.

    Providers: ``priority`` orders automatic choice, lowest first; ``None`` is never chosen
    automatically. ``credentials`` say where keys are. Automatic choice passes ``ready`` the
    `ProviderContext` that the factory would get and asks whether to take this one (no network, no
    model load); without it, a provider is ready when it has a key. A hint in its answer means that
    the settings ask for this provider and it cannot work: the hint is then shown.

    Managers: ``permits`` gets ``config`` and the query before any backend of a chain is asked, and
    raises a :class:`~commonplace.errors.CallerError` where this chat may not search; it holds for
    every backend that stands in for this one. ``mounts`` gets the
    :class:`~commonplace.plugin.ManagerContext` and returns folders beside the workspace whose
    files hits name by a prefix.
    """

    id: str
    summary: str
    factory: Callable[..., T]
    config: type[Group] | None = None
    priority: int | None = None
    capabilities: frozenset[str] = frozenset()
    probe: Callable[[], Probe] = lambda: Probe(available=True)
    credentials: Credentials | None = None
    ready: Callable[[Any], Probe] | None = None
    permits: Callable[[Any, Query], None] | None = None
    mounts: Callable[[Any], Sequence[Mount]] | None = None


def is_id(text: str) -> bool:
    """Whether ``text`` may be an id: lower-case ASCII words joined by ``-`` or ``_``."""
    return all(
        word.isascii() and word.isalnum() and word == word.lower()
        for word in text.replace("_", "-").split("-")
    )


class ConfigProblem(NamedTuple):
    """One thing wrong in a configuration. ``line`` is 1-based, 0 where it is not known."""

    file: str
    line: int
    key: str
    message: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.key}: {self.message}" if self.key else f"{where}: {self.message}"


def camel(name: str) -> str:
    """The JSON key of a Python name."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


REQUIRED: Any = object()
"""The default of what has none."""


class Setting:
    """What is known of one setting besides its type; see :func:`setting` for the parts."""

    key: str = ""
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    clamp: tuple[float | None, float | None] | None = None
    known: tuple[str, ...] = ()
    read: Callable[..., Any] | str | None = None
    schema: Mapping[str, Any] | None = None
    shown: str = ""
    path: bool = False
    adds: bool = False
    veiled: bool = False
    tunable: bool = False
    tunable_within: tuple[float, float] | None = None
    locates: bool = False
    widens: bool = False

    def __init__(self, about: str, default: Any, options: Mapping[str, Any]) -> None:
        self.about = about
        self.default = default
        self.__dict__.update(options)
        self.tunable = self.tunable or self.tunable_within is not None


def setting(about: str, *, default: Any = REQUIRED, **options: Any) -> Any:
    """Describe one field of a :class:`Group`.

    ``about`` is one sentence for the reference. The options:

    - ``key``: its JSON key where that is not the name in camelCase; dots nest;
    - ``unit``: what a number counts;
    - ``minimum``, ``maximum``: what a file may hold, else it is at fault;
    - ``clamp``: (low, high), to which a number given by a program is brought silently, and one
      from a file once it has passed the limits;
    - ``known``: the names an open set of names has so far;
    - ``read``: a function of (value, :class:`~commonplace.config.values.Reading`) for what the
      type does not say, or the name of one in :mod:`commonplace.config.reading`; it raises
      :class:`WrongValueError`;
    - ``schema``: the JSON Schema of what ``read`` takes;
    - ``shown``: the default in words, where it is not a constant;
    - ``path``: a file or folder: ``~`` is expanded, a relative one is relative to its file;
    - ``adds``: values of defaults, agents and files add up instead of replacing one another;
    - ``tunable``: a workspace's own file may set it, which may be another person's;
    - ``tunable_within``: (least, most) of a number there, so that no folder makes searches fail or
      embedding expensive; it is ``tunable`` then;
    - ``locates``: it names where an index, or what belongs to it, is written: a measurement, which
      must not write there, uses the default;
    - ``widens``: it adds documents that are not notes of the workspace: a measurement of one
      folder uses the default;
    - ``veiled``: ``repr`` leaves it out, as it may hold what must not be seen.
    """
    return Setting(about, default, options)


class WrongValueError(Exception):
    """What is wrong with a value, in words that never quote it.

    ``problems`` are pairs of words and the keys that lead from the value to the place.
    """

    def __init__(self, message: str, *below: str | int) -> None:
        super().__init__(message)
        self.problems: tuple[tuple[str, tuple[str | int, ...]], ...] = ((message, below),)

    @classmethod
    def together(cls, parts: Mapping[Any, WrongValueError]) -> WrongValueError:
        """Everything that is wrong with the parts of one value, by key or index."""
        wrong = cls("several problems")
        wrong.problems = tuple(
            (words, (key, *below)) for key, part in parts.items() for words, below in part.problems
        )
        return wrong


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(setting,))
class Group:
    """A frozen value with named parts, given by keyword; parts not given have their defaults.

    ``unsupported`` names keys of the original inside this group that have no effect here, with
    the reason: they are warned of, once each.
    """

    unsupported: ClassVar[dict[str, str]] = {}
    _fields: ClassVar[dict[str, Setting]] = {}
    _required: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        fields = {name: part for name, part in vars(cls).items() if isinstance(part, Setting)}
        cls._fields = fields
        cls._required = frozenset(n for n, part in fields.items() if part.default is REQUIRED)
        for name, part in fields.items():
            if part.default is REQUIRED:
                delattr(cls, name)
            else:
                # Instances hold only what differs; the class answers for the rest.
                setattr(cls, name, part.default)

    def __init__(self, **values: Any) -> None:
        name = type(self).__name__
        if unknown := values.keys() - self._fields.keys():
            raise TypeError(f"{name} has no {', '.join(sorted(unknown))}")
        if missing := self._required - values.keys():
            raise TypeError(f"{name} needs {', '.join(sorted(missing))}")
        self.__dict__.update(values)

    @classmethod
    def fields(cls) -> Mapping[str, Setting]:
        """Name and description of every part, in order."""
        return cls._fields

    def evolve(self, **changes: Any) -> Self:
        """A copy with ``changes``."""
        return type(self)(**{**self.__dict__, **changes})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen; use evolve({name}=...)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._fields)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in self._fields))

    def __repr__(self) -> str:
        parts = ", ".join(
            f"{name}={getattr(self, name)!r}"
            for name, part in self._fields.items()
            if not part.veiled
        )
        return f"{type(self).__name__}({parts})"
