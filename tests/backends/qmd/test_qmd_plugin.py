"""The backend ``qmd`` and its command are offered, and made only where QMD is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import PluginUnavailableError, ScopeDeniedError
from commonplace.host.host import PluginHost
from commonplace.model.plugins import Probe
from commonplace.model.search import KeywordQuery, Query
from commonplace.protocols.contexts import ManagerContext
from commonplace_qmd import plugin
from commonplace_qmd.settings import QmdPath, QmdSettings, Sessions

if TYPE_CHECKING:
    from pathlib import Path

    from tests.backends.qmd.conftest import Desk

    from commonplace.model.plugins import Registration


def offered() -> Registration[Any]:
    host = PluginHost([], env={})
    host.register(plugin, name="qmd")
    return host.manager("qmd")


def test_it_is_offered_with_its_config_and_never_chosen_by_itself() -> None:
    registration = offered()
    assert registration.id == "qmd"
    assert registration.config is QmdSettings
    assert registration.priority is None
    assert registration.probe().available, "only the configuration knows where its program is"


def test_where_the_configured_program_is_missing_the_factory_says_so(tmp_path: Path) -> None:
    context = ManagerContext(
        workspace=str(tmp_path),
        agent="main",
        state_dir=str(tmp_path / "state"),
        sources=(),
        config=QmdSettings(command=str(tmp_path / "no-qmd")),
    )
    with pytest.raises(PluginUnavailableError) as caught:
        offered().factory(context)
    assert "no-qmd" in str(caught.value)
    assert caught.value.hint
    assert not (tmp_path / "state").exists(), "looking makes nothing"


@pytest.mark.parametrize("extra", [(), ("beside",), (QmdPath(path="beside"),)])
def test_where_qmd_is_missing_it_says_which_folders_no_other_backend_searches(
    tmp_path: Path, extra: tuple[str | QmdPath, ...]
) -> None:
    context = ManagerContext(
        workspace=str(tmp_path),
        agent="main",
        state_dir=str(tmp_path / "state"),
        sources=(),
        config=QmdSettings(
            command=str(tmp_path / "no-qmd"),
            paths=(QmdPath(path="beside"), QmdPath(path=" ")),
            extra_collections=(QmdPath(path=str(tmp_path / "more")),),
        ),
        extra_paths=extra,
    )
    with pytest.raises(PluginUnavailableError) as caught:
        offered().factory(context)
    paths = "" if extra else "memory.qmd.paths and "
    keys = f"{paths}memorySearch.qmd.extraCollections"
    words = f"; {keys}: searched by QMD alone, put them into extraPaths meanwhile"
    assert caught.value.hint.endswith(words)


def test_what_the_engine_finds_wrong_is_passed_on(desk: Desk) -> None:
    desk.qmd.available = Probe(available=False, reason="its Node is too old", hint="install 22")
    with pytest.raises(PluginUnavailableError, match="too old") as caught:
        desk.make()
    assert caught.value.hint == "install 22"


def test_chats_are_permitted_by_the_scope() -> None:
    permits = offered().permits
    assert permits is not None
    query = Query("x", KeywordQuery())
    permits(None, query)
    permits(QmdSettings(), query._replace(session_key="agent:main:telegram:direct:42"))
    for config in (None, QmdSettings()):
        with pytest.raises(ScopeDeniedError):
            permits(config, query._replace(session_key="agent:main:telegram:group:42"))


def test_collections_are_mounted(tmp_path: Path) -> None:
    workspace, notes = tmp_path / "workspace", tmp_path / "notes"
    (workspace / "docs").mkdir(parents=True)
    notes.mkdir()
    mounts = offered().mounts
    assert mounts is not None
    found = mounts(
        ManagerContext(
            workspace=str(workspace),
            agent="main",
            state_dir=str(tmp_path / "state"),
            sources=(),
            config=QmdSettings(
                paths=(
                    QmdPath(path="docs"),
                    QmdPath(path=str(notes), name="Shared Notes", pattern="*.txt"),
                ),
                sessions=Sessions(enabled=True),
            ),
        )
    )
    assert [(mount.prefix, mount.pattern) for mount in found] == [
        ("qmd/memory-root-main", "{MEMORY,memory}.md"),
        ("qmd/memory-dir-main", "**/*.md"),
        ("qmd/custom-1-main", "**/*.md"),
        ("qmd/shared-notes", "*.txt"),
        ("qmd/sessions-main", "*.md"),
    ]
    assert found[3].location == str(notes)


def test_the_command_is_offered() -> None:
    host = PluginHost([], env={})
    host.register(plugin, name="qmd")
    registration = host.command("qmd")
    command = registration.factory()
    assert registration.id == command.name == "qmd"
    assert registration.summary == command.summary
