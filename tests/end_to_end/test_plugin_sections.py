"""What a configuration says of a plugin reaches the factory of whatever the plugin offers."""

from __future__ import annotations

from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

import commonplace_chunkers.plugin
import commonplace_inmemory.plugin
import commonplace_notes.plugin
import commonplace_ranking.plugin
from commonplace.errors import ConfigError, UnavailableError
from commonplace.host.host import PluginHost
from commonplace.memory import Memory
from commonplace.plugin import Group, hookimpl, setting

if TYPE_CHECKING:
    from pathlib import Path

OURS = (
    commonplace_chunkers.plugin,
    commonplace_inmemory.plugin,
    commonplace_notes.plugin,
    commonplace_ranking.plugin,
)


class Section(Group):
    tint: str = setting("A colour.", default="none")


class RefusedError(Exception):
    """Ends a factory once it has been seen with what it was given."""


def offering(hook: str, id_: str, seen: list[Any]) -> ModuleType:
    def factory(context: Any) -> Any:
        seen.append(context.config)
        raise RefusedError

    def implement(register: Any) -> None:
        add = getattr(register, hook.removeprefix("commonplace_register_").removesuffix("s"))
        add(id_, factory, summary="paints", config=Section)

    module = ModuleType(f"a_plugin_for_{hook}")
    setattr(module, hook, hookimpl(implement, specname=hook))
    return module


@pytest.mark.parametrize(
    ("hook", "slot"),
    [
        ("commonplace_register_rankers", {"ranking": {"chain": ["painted"]}}),
        ("commonplace_register_chunkers", {"chunking": {"strategy": "painted"}}),
        ("commonplace_register_providers", {"provider": "painted"}),
        ("commonplace_register_sources", {"sources": ["painted"]}),
    ],
)
@pytest.mark.parametrize("written", [True, False])
def test_a_section_reaches_the_factory(
    hook: str, slot: dict[str, Any], written: bool, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "MEMORY.md").write_text("a note\n")
    seen: list[Any] = []
    host = PluginHost(entry_points=[])
    for module in (*OURS, offering(hook, "painted", seen)):
        host.register(module, name=module.__name__)
    config: dict[str, Any] = {
        "memory": {"backend": "inmemory"},
        "agents": {"defaults": {"memorySearch": {"provider": "none", **slot}}},
    }
    if written:
        config["plugins"] = {"entries": {"painted": {"config": {"tint": "blue"}}}}
    with suppress(RefusedError, UnavailableError):
        env = {"COMMONPLACE_STATE_DIR": str(tmp_path / "state"), "HOME": str(tmp_path)}
        with Memory.open(workspace=notes, config=config, env=env, host=host) as memory:
            memory.sync()
            memory.search("note")
    assert seen
    assert all(one == (Section(tint="blue") if written else None) for one in seen)


def test_a_slip_in_the_sources_is_said_and_removes_nothing(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "MEMORY.md").write_text("The staging server: port 8443.\n")
    env = {"COMMONPLACE_STATE_DIR": str(tmp_path / "state"), "HOME": str(tmp_path)}

    def opened(*sources: str) -> Memory:
        config = {"memory": {"search": {"sources": sources}}}
        return Memory.open(workspace=notes, config=config, env=env)

    with opened("memory") as memory:
        assert memory.sync().added == 1
    with pytest.raises(ConfigError, match="there is no source 'sesions'") as caught:
        opened("sesions")
    assert caught.value.hint.startswith("did you mean 'sessions'?")
    with opened("memory", "sesions") as memory:
        report, result = memory.sync(), memory.search("staging")
        status = memory.status()
    assert (report.unchanged, report.removed, len(result.hits)) == (1, 0, 1)
    for lines in (report.notices, result.notes, status.notices):
        (line,) = [line for line in lines if "sesions" in line]
        assert line.startswith("source 'sesions' is not searched: ")
        assert "did you mean 'sessions'?" in line
