"""The page on SDKs: each block runs with the real package, and its model is shown the passage."""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.sample import copy_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = (Path(__file__).parents[3] / "docs" / "sdks.md").read_text(encoding="utf-8")
BLOCKS = re.findall(
    r"^## ([^\n]+)\n\n(?:[^`#\n][^\n]*\n+)*```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE
)
SHARED = {"extras", "langgraph_items", "remembering"}  # for the other modules alone
PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"
SDKS = (
    *("agents", "anthropic", "claude_agent_sdk", "google.adk", "langchain_core", "langgraph"),
    *("llama_index", "pydantic_ai"),
)
SECTIONS = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)


def test_every_section_but_the_last_has_a_block_for_its_module() -> None:
    assert [title for title, _ in BLOCKS] == SECTIONS[:-1]
    assert SECTIONS[-2:] == ["Writers", "CrewAI"]  # CrewAI is run by hand
    used = re.findall(r"^from commonplace_adapters\.(\w+) import", PAGE, re.MULTILINE)
    found = find_spec("commonplace_adapters")
    assert found is not None
    (folder,) = found.submodule_search_locations or [""]
    assert set(used) | SHARED == {file.stem for file in Path(folder).glob("[!_]*.py")}


def test_an_adapter_without_its_sdk_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    extras = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    named = set()
    used = re.findall(r"^from commonplace_adapters\.(\w+) import", PAGE, re.MULTILINE)
    loaded = [name for name in sys.modules if name.startswith(tuple(f"{sdk}." for sdk in SDKS))]
    for name in (*SDKS, *loaded):
        monkeypatch.setitem(sys.modules, name, None)
    for module in {f"commonplace_adapters.{name}" for name in used}:
        monkeypatch.delitem(sys.modules, module, raising=False)
        with pytest.raises(ModuleNotFoundError) as caught:
            importlib.import_module(module)
        found = re.search(r"needs commonplace\[([\w-]+)\].* install '", str(caught.value))
        assert found, str(caught.value)
        named.add(found[1])
    assert named <= set(extras["optional-dependencies"])
    assert len(named) == len(set(used)) - 1  # Anthropic's SDK has two adapters


@pytest.mark.slow
@pytest.mark.sdk
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("title", "code"), BLOCKS, ids=[title for title, _ in BLOCKS])
def test_its_blocks_run(
    sdk: Callable[[str], Any],
    model: Any,
    shown: Callable[[], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    title: str,
    code: str,
) -> None:
    for name in re.findall(r"^from (?!commonplace)([\w.]+) import", code, re.MULTILINE):
        sdk(name)
    copy_workspace(str(tmp_path / "notes"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("STATE", "CACHE"):
        monkeypatch.setenv(f"COMMONPLACE_{name}_DIR", str(tmp_path / name))
    # The key of the scripted model is not to be taken for one for embeddings.
    config = tmp_path / "config.json5"
    config.write_text('{agents: {defaults: {memorySearch: {provider: "none"}}}}')
    monkeypatch.setenv("COMMONPLACE_CONFIG", str(config))
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code, f"docs/sdks.md: {title}", "exec"), names)
    if title == "Writers":
        return
    if title == "LlamaIndex":  # needs no model
        assert "Source: MEMORY.md#L29-L33" in capfd.readouterr().out
        return
    if title == "Anthropic's memory tool":
        assert "content of /memories/projects/tide-api.md with" in str(model.requests[-1][1])
    else:
        shown()
    assert "That is all." in capfd.readouterr().out
