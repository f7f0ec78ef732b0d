"""Small files of a QMD home: written whole or not at all, for nobody else to read."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace.plugin import expand_user
from commonplace_qmd.engine import QmdHome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from commonplace.plugin import Stamp

__all__ = [
    "Home",
    "Manifest",
    "State",
    "home_of",
    "load_manifest",
    "load_state",
    "make_home",
    "make_private_folder",
    "read_json",
    "save_manifest",
    "save_state",
    "shared_models",
    "write_whole",
]


def make_private_folder(path: str) -> None:
    """Make ``path`` and what is missing above it; nobody else may look into ``path`` itself."""
    os.makedirs(path, exist_ok=True)
    with suppress(OSError):  # somebody else's folder, or a disk without permissions
        os.chmod(path, 0o700)


def write_whole(path: str, data: bytes) -> None:
    """Replace the file at ``path`` by ``data`` in one step; raises ``OSError``."""
    import tempfile

    handle, beside = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:  # made with mode 0600
            file.write(data)
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def read_json(path: str) -> dict[str, object]:
    """The JSON object in the file at ``path``; empty where there is none that can be read."""
    import json

    try:
        with open(path, "rb") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


class Home(NamedTuple):
    """Where everything of one agent's QMD lives; all paths are absolute.

    ``retired`` is an empty folder, which collections that are no longer configured are pointed at,
    so that QMD forgets their files.
    """

    root: str
    qmd: QmdHome
    exported: str

    @property
    def config_file(self) -> str:
        """QMD's list of collections."""
        return os.path.join(self.qmd.config_dir, "index.yml")

    @property
    def retired(self) -> str:
        """An empty folder."""
        return os.path.join(self.root, "retired")

    @property
    def state(self) -> str:
        """What we remember of former updates."""
        return os.path.join(self.root, "state.json")

    @property
    def manifest(self) -> str:
        """The files that the last update found, with their stamps."""
        return os.path.join(self.root, "manifest.json")

    @property
    def lock(self) -> str:
        """Held by the one process that writes."""
        return os.path.join(self.root, "writer.lock")


def home_of(state_dir: str, agent: str, workspace: str) -> Home:
    """The home of ``agent`` in ``workspace`` below ``state_dir``; nothing is made.

    Its name holds a checksum of the folder: two folders searched under one agent's name must not
    share an index, which each would empty of the other's notes.
    """
    from zlib import crc32

    folder = os.path.realpath(workspace).encode("utf-8", "surrogateescape")
    above = os.path.join(os.path.abspath(state_dir), "agents", agent, "qmd")
    root = os.path.join(above, f"{crc32(folder):08x}")
    cache = os.path.join(root, "xdg-cache")
    return Home(
        root=root,
        qmd=QmdHome(
            config_dir=os.path.join(root, "xdg-config", "qmd"),
            index_path=os.path.join(cache, "qmd", "index.sqlite"),
            cache_home=cache,
            cwd=os.path.join(root, "work"),
        ),
        exported=os.path.join(above, "sessions"),
    )


def shared_models(env: Mapping[str, str]) -> str:
    """Where QMD by itself keeps its models, which all agents share: some 2 GB."""
    base = env.get("XDG_CACHE_HOME", "")
    base = base if os.path.isabs(base) else expand_user("~/.cache", env)
    return os.path.join(base, "qmd", "models")


def make_home(home: Home, env: Mapping[str, str]) -> None:
    """Make the folders of ``home`` and lead its models to the shared ones; raises ``OSError``.

    A folder of models that is there already, with something in it, stays.
    """
    for folder in (home.root, home.qmd.config_dir, home.qmd.cwd, home.retired):
        make_private_folder(folder)
    models = home.qmd.models_dir
    make_private_folder(os.path.dirname(models))
    if os.path.islink(models) or (os.path.isdir(models) and os.listdir(models)):
        return
    shared = shared_models(env)
    if os.path.realpath(shared) == os.path.realpath(models):
        return
    os.makedirs(shared, exist_ok=True)
    if os.path.isdir(models):
        os.rmdir(models)
    try:
        os.symlink(shared, models, target_is_directory=True)
    except FileExistsError:
        return  # another process was quicker
    except OSError:
        os.makedirs(models, exist_ok=True)  # Windows, without the right to make links


Manifest = dict[str, dict[str, "Stamp"]]
"""By collection, the files of the last update with their stamps."""

_FORMAT = 1


class State(NamedTuple):
    """Times are epoch seconds, 0 for never.

    ``configured`` is the text of ``index.yml`` as it was last written. ``embed_failures`` came in
    a row, the last because of ``embed_reason``; nothing is embedded before ``embed_after``.
    ``documents`` and ``pending`` (texts without vectors) are as of the last update, ``pending`` -1
    where it is not known.
    """

    configured: str = ""
    last_update: float = 0.0
    last_embed: float = 0.0
    embed_failures: int = 0
    embed_after: float = 0.0
    embed_reason: str = ""
    documents: int = 0
    pending: int = -1
    version: str = ""


def load_state(home: Home) -> State:
    """The state as it was saved; a fresh one where there is none, or QMD's index is not there."""
    if not os.path.exists(home.qmd.index_path):
        return State()
    found = read_json(home.state)
    if found.get("version") != _FORMAT:
        return State()
    values: dict[str, Any] = {
        name: value
        for name, default in State()._asdict().items()
        if isinstance(value := found.get(_key(name)), type(default)) or _is_number(value, default)
    }
    return State(**values)


def save_state(home: Home, state: State) -> None:
    """Write the state; raises ``OSError``."""
    values = {_key(name): value for name, value in state._asdict().items()}
    _save(home.state, {"version": _FORMAT, **values})


def load_manifest(home: Home) -> Manifest:
    """The files of the last update; none where there was none, or QMD's index is not there."""
    if not os.path.exists(home.qmd.index_path):
        return {}
    found = read_json(home.manifest)
    files = found.get("files") if found.get("version") == _FORMAT else None
    if not isinstance(files, dict):
        return {}
    return {
        name: dict(_stamps(of_collection))
        for name, of_collection in files.items()
        if isinstance(of_collection, dict)
    }


def save_manifest(home: Home, manifest: Mapping[str, Mapping[str, Stamp]]) -> None:
    """Write the manifest; raises ``OSError``."""
    _save(home.manifest, {"version": _FORMAT, "files": manifest})


def _stamps(files: Mapping[object, object]) -> Iterable[tuple[str, Stamp]]:
    for path, stamp in files.items():
        if isinstance(stamp, list) and len(stamp) == 4:
            yield str(path), (int(stamp[0]), int(stamp[1]), int(stamp[2]), int(stamp[3]))


def _save(path: str, value: object) -> None:
    write_whole(path, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _key(name: str) -> str:
    # ``version`` alone is that of the file.
    return "qmdVersion" if name == "version" else name


def _is_number(value: object, default: object) -> bool:
    return isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool)
