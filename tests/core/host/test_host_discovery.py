"""Entry points are known without an import, and remembered for as long as nothing changes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.hookspecs import Hooks
from commonplace.host import discovery
from commonplace.host.discovery import (
    CALLED,
    KINDS,
    EntryPoint,
    installed,
    remember,
    scan,
)
from commonplace.host.switches import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """Every path that was really scanned."""
    seen: list[Sequence[str]] = []

    def counting(path: Sequence[str]) -> tuple[EntryPoint, ...]:
        seen.append(path)
        return scan(path)

    monkeypatch.setattr("commonplace.host.discovery.scan", counting)
    return seen


def test_kinds_and_events_are_all_the_hooks_there_are() -> None:
    hooks = {name for name in vars(Hooks) if name.startswith("commonplace_")}
    registering, called = set(KINDS.values()), {h for hooks in CALLED.values() for h in hooks}
    assert registering | called == hooks
    assert not registering & called


def test_an_entry_point_is_read_with_its_origin(
    site: Path, add_distribution: Callable[..., Path]
) -> None:
    add_distribution("My-Memory", {"backend.mine": "my_memory.plugin [fast, more]"}, version="2.1")
    (entry,) = scan([str(site)])
    assert entry == EntryPoint("backend.mine", "my_memory.plugin", "My-Memory", "2.1", "fast,more")
    assert (entry.kind, entry.id, entry.origin) == ("backend", "mine", "My-Memory 2.1")


def test_nothing_is_imported(site: Path, add_distribution: Callable[..., Path]) -> None:
    add_distribution("boom", {"ranker.boom": "no_such_module_at_all"})
    assert [entry.name for entry in scan([str(site)])] == ["ranker.boom"]


def test_comments_other_groups_and_windows_line_ends_are_understood(
    site: Path, add_distribution: Callable[..., Path]
) -> None:
    info = add_distribution("d", {})
    (info / "entry_points.txt").write_bytes(
        b"# a comment\r\n[other]\r\nranker.no = a\r\n[ commonplace ]\r\n; another\r\n\r\n"
        b"ranker.yes=b\r\n[more]\r\nranker.neither = c\r\n"
    )
    assert [(e.name, e.module) for e in scan([str(site)])] == [("ranker.yes", "b")]


@pytest.mark.parametrize(
    ("name", "module", "words"),
    [
        ("builtin", "a.plugin", "has no dot"),
        ("bakend.x", "a.plugin", "no kind of plugin named 'bakend'"),
        ("backend.", "a.plugin", "is no id"),
        ("backend.Mine", "a.plugin", "is no id"),
        ("backend.a.b", "a.plugin", "is no id"),
        ("backend.a--b", "a.plugin", "is no id"),
        ("backend.é", "a.plugin", "is no id"),
        ("command.search", "a.plugin", "is a command of core"),
        ("command.help", "a.plugin", "is a command of core"),
        ("backend.x", "a.plugin:thing", "a plugin is a whole module"),
        ("backend.x", "", "is not the name of a module"),
        ("backend.x", "a..b", "is not the name of a module"),
        ("backend.x", "no good", "is not the name of a module"),
    ],
)
def test_a_malformed_entry_point_is_kept_with_its_fault(
    site: Path, add_distribution: Callable[..., Path], name: str, module: str, words: str
) -> None:
    add_distribution("d", {name: module, "ranker.fine": "fine"})
    found = {entry.name: entry for entry in scan([str(site)])}
    assert words in found[name].problem
    assert not found["ranker.fine"].problem


@pytest.mark.parametrize("id_", ["x", "lexical_boost", "memory-lancedb", "e5-small-v2", "0"])
def test_ids_are_words_joined_by_dashes(
    site: Path, add_distribution: Callable[..., Path], id_: str
) -> None:
    add_distribution("d", {f"provider.{id_}": "m"})
    assert not scan([str(site)])[0].problem


def test_the_first_distribution_of_a_name_hides_the_later(
    tmp_path: Path, add_distribution: Callable[..., Path]
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    add_distribution("my-dist", {"ranker.a": "first"}, folder=one)
    add_distribution("My.Dist", {"ranker.a": "second", "ranker.b": "second"}, folder=two)
    assert [(e.name, e.module) for e in scan([str(one), str(two)])] == [("ranker.a", "first")]
    assert len(scan([str(two), str(one)])) == 2


def test_a_distribution_that_offers_nothing_hides_one_that_did(
    tmp_path: Path, add_distribution: Callable[..., Path]
) -> None:
    info = add_distribution("d", {}, folder=tmp_path / "one")
    (info / "entry_points.txt").unlink()
    add_distribution("d", {"ranker.a": "old"}, folder=tmp_path / "two")
    assert scan([str(tmp_path / "one"), str(tmp_path / "two")]) == ()


def test_what_pip_is_about_to_remove_is_not_seen(
    site: Path, add_distribution: Callable[..., Path]
) -> None:
    info = add_distribution("d", {"ranker.a": "m"})
    info.rename(site / "~-1.0.dist-info")
    assert scan([str(site)]) == ()


def test_name_and_version_come_from_the_folder_where_metadata_is_missing(
    site: Path, add_distribution: Callable[..., Path]
) -> None:
    info = add_distribution("my-dist", {"ranker.a": "m"}, version="3.0", suffix="egg-info")
    (info / "METADATA").unlink()
    assert scan([str(site)])[0].origin == "my_dist 3.0"


def test_what_cannot_be_read_is_passed_over(
    site: Path, add_distribution: Callable[..., Path]
) -> None:
    info = add_distribution("d", {"ranker.a": "m"})
    (info / "entry_points.txt").write_bytes(b"[commonplace]\nranker.\xff = m\nranker.b = m\n")
    (site / "file-1.0.dist-info").write_text("not a folder")
    path = [str(site / "missing"), "nul\0byte", str(site), str(site / "file-1.0.dist-info")]
    found = {entry.name: bool(entry.problem) for entry in scan(path)}
    assert found == {"ranker.\ufffd": True, "ranker.b": False}


@given(st.text(alphabet="aB-_.1", max_size=12))
def test_canonical_names_are_stable(name: str) -> None:
    assert canonical(canonical(name)) == canonical(name)
    assert canonical(name.upper().replace("-", "_")) == canonical(name)


# --- remembering --------------------------------------------------------------------------------


def test_a_second_start_does_not_scan(
    tmp_path: Path,
    site: Path,
    add_distribution: Callable[..., Path],
    settle: Callable[[Path], None],
    scans: list[Sequence[str]],
) -> None:
    add_distribution("d", {"backend.a": "m [x]", "bad": "n"})
    settle(site)
    cache = str(tmp_path / "cache")
    first = installed(cache, [str(site)])
    second = installed(cache, [str(site)])
    assert first == second
    assert len(first) == 2
    assert len(scans) == 1


def test_without_a_cache_folder_nothing_is_kept(
    site: Path, settle: Callable[[Path], None], scans: list[Sequence[str]]
) -> None:
    settle(site)
    installed(None, [str(site)])
    installed(None, [str(site)])
    assert len(scans) == 2


def test_an_installation_is_noticed(
    tmp_path: Path,
    site: Path,
    add_distribution: Callable[..., Path],
    settle: Callable[[Path], None],
) -> None:
    cache = str(tmp_path / "cache")
    settle(site)
    assert installed(cache, [str(site)]) == ()
    add_distribution("d", {"ranker.a": "m"})
    settle(site)
    assert [entry.name for entry in installed(cache, [str(site)])] == ["ranker.a"]


def test_another_path_is_another_answer(
    tmp_path: Path,
    site: Path,
    add_distribution: Callable[..., Path],
    settle: Callable[[Path], None],
) -> None:
    add_distribution("d", {"ranker.a": "m"})
    other = tmp_path / "other"
    add_distribution("e", {"ranker.b": "m"}, folder=other)
    settle(site)
    settle(other)
    cache = str(tmp_path / "cache")
    for _ in range(2):
        assert [e.name for e in installed(cache, [str(site)])] == ["ranker.a"]
        assert [e.name for e in installed(cache, [str(other)])] == ["ranker.b"]
        assert len(installed(cache, [str(site), str(other)])) == 2


def test_the_cache_is_one_private_file(
    tmp_path: Path, site: Path, settle: Callable[[Path], None]
) -> None:
    settle(site)
    cache = tmp_path / "deep" / "cache"
    installed(str(cache), [str(site)])
    (file,) = cache.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:0],
        lambda text: text[:-1],
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("\x1f", "", 1),
        lambda text: text.replace("d", "\udcff", 1),
        lambda text: text + "\nend",
    ],
    ids=["empty", "cut", "half", "field", "undecodable", "longer"],
)
def test_a_damaged_cache_is_scanned_again_and_rewritten(
    tmp_path: Path,
    site: Path,
    add_distribution: Callable[..., Path],
    settle: Callable[[Path], None],
    scans: list[Sequence[str]],
    damage: Callable[[str], str],
) -> None:
    add_distribution("d", {"ranker.a": "m"})
    settle(site)
    cache = tmp_path / "cache"
    expected = installed(str(cache), [str(site)])
    (file,) = cache.iterdir()
    file.write_bytes(damage(file.read_text()).encode(errors="surrogateescape"))
    assert installed(str(cache), [str(site)]) == expected
    assert installed(str(cache), [str(site)]) == expected
    assert len(scans) == 2


def test_neither_links_nor_pipes_nor_folders_stand_for_the_cache(
    tmp_path: Path,
    site: Path,
    settle: Callable[[Path], None],
    scans: list[Sequence[str]],
) -> None:
    settle(site)
    cache = tmp_path / "cache"
    installed(str(cache), [str(site)])
    (file,) = cache.iterdir()
    elsewhere = tmp_path / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    installed(str(cache), [str(site)])
    file.unlink()
    os.mkfifo(file)
    installed(str(cache), [str(site)])
    file.unlink()
    file.mkdir()
    installed(str(cache), [str(site)])
    assert len(scans) == 4
    assert list(cache.iterdir()) == [file], "no draft is left behind"


def test_a_cache_that_cannot_be_written_is_no_error(
    tmp_path: Path, site: Path, settle: Callable[[Path], None]
) -> None:
    settle(site)
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert installed(str(blocked / "cache"), [str(site)]) == ()
    assert installed("nul\0byte", [str(site)]) == ()


def test_a_folder_that_is_just_being_changed_is_not_remembered(
    tmp_path: Path, site: Path, scans: list[Sequence[str]]
) -> None:
    cache = tmp_path / "cache"
    newest = site.stat().st_mtime_ns
    for offset, kept in [
        (0, False),
        (1_999_999_999, False),
        (-1_000, False),
        (2_000_000_000, True),
    ]:
        file = cache / f"{offset}.txt"
        now_ns = partial(int, newest + offset)
        remember(str(file), "key", (), newest=newest, now_ns=now_ns)
        assert file.exists() is kept
    assert scans == []


def test_what_would_not_survive_the_file_is_not_remembered(tmp_path: Path) -> None:
    for name in ("a\nb", "a\x1fb"):
        remember(str(tmp_path / "f"), "key", [EntryPoint(name, "m", "d")], newest=0)
    assert not list(tmp_path.iterdir())


_field = st.text(
    alphabet=st.characters(exclude_characters="\n\x1f", exclude_categories=["Cs"]), max_size=8
)


@given(st.lists(st.builds(EntryPoint, *[_field] * 7)))
def test_what_is_remembered_is_recalled(entries: list[EntryPoint]) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        file = str(Path(folder) / "f")
        remember(file, "['key']", entries, newest=0)
        assert discovery._recall(file, "['key']") == tuple(entries)
        assert discovery._recall(file, "['other']") is None


def test_odd_things_on_the_path_are_ignored(
    tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch, scans: list[Sequence[str]]
) -> None:
    monkeypatch.setattr("sys.path", [b"bytes", None, 7, str(site), "", "\udcff"])
    installed(str(tmp_path / "cache"))
    assert scans == [[str(site), "", "\udcff"]]


def test_a_warm_start_imports_neither_writer_nor_json_nor_metadata(
    tmp_path: Path,
    site: Path,
    add_distribution: Callable[..., Path],
    add_module: Callable[[str, str], None],
    settle: Callable[[Path], None],
) -> None:
    add_distribution("tiny", {"ranker.tiny": "warm_tiny"})
    add_module(
        "warm_tiny",
        """
        from commonplace.plugin import hookimpl

        @hookimpl
        def commonplace_register_rankers(register):
            register.ranker("tiny", dict, summary="tiny")
        """,
    )
    settle(site)
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        f"sys.path[0] = {str(site)!r}\n"
        "from commonplace.host.host import PluginHost\n"
        f"host = PluginHost(cache_dir={str(tmp_path / 'cache')!r}, env={{}})\n"
        "assert host.ranker('tiny').summary == 'tiny'\n"
        "assert host.events is None\n"
        "print(*sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(program)]
    outputs = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    cold, warm = (set(output.split()) for output in outputs)
    assert "commonplace.dirs" in cold
    unwanted = {
        "commonplace.dirs",
        "commonplace.host.events",
        "commonplace.host.reports",
        "json",
        "importlib.metadata",
        "pathlib",
        "hashlib",
        "tempfile",
        "logging",
        "difflib",
    }
    assert not unwanted & warm
