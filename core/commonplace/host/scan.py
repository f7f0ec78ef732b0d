"""Looking through the folders of installed distributions for our entry points."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace.hookspecs import GROUP
from commonplace.host.entrypoints import FIELD, KINDS, EntryPoint, is_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["canonical", "remember", "scan"]

_RACY_NS = 2_000_000_000


def scan(path: Sequence[str]) -> tuple[EntryPoint, ...]:
    """The entry points of all distributions in the folders of ``path``, in that order.

    As for imports, the first distribution of a name hides later ones. Never raises: what cannot
    be read is passed over, what is malformed is returned with its ``fault``.
    """
    seen: set[str] = set()
    found: dict[EntryPoint, None] = {}
    for folder in path:
        for info, name in _distributions(folder):
            if name not in seen:
                seen.add(name)
                found.update(dict.fromkeys(_offers(info)))
    return tuple(found)


def canonical(distribution: str) -> str:
    """The name of a distribution as package indexes compare it."""
    words = distribution.lower().replace("_", "-").replace(".", "-").split("-")
    return "-".join(word for word in words if word)


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
    from commonplace.resilience.atomic_file import write_whole  # once an installation

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
    for name, value in pairs:
        module, _, rest = value.partition("[")
        module = module.strip()
        extras = rest.partition("]")[0].replace(" ", "")
        yield EntryPoint(name, module, distribution, version, extras, _fault(name, module))


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


def _fault(name: str, module: str) -> str:
    kind, dot, id_ = name.partition(".")
    if not dot:
        return f"the name {name!r} has no dot: it is made of kind and id, such as backend.mine"
    if kind not in KINDS:
        return f"there is no kind of plugin named {kind!r}; the kinds are {', '.join(KINDS)}"
    if not is_id(id_):
        return f"{id_!r} is no id: an id is lower-case letters and digits, joined by - or _"
    if ":" in module:
        return f"{module!r} names something inside a module: a plugin is a whole module"
    if not all(word.isidentifier() for word in module.split(".")):
        return f"{module!r} is not the name of a module"
    return ""
