"""A part of an installed plugin that breaks costs its own share of an answer, and is named."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory, PluginUnavailableError
from commonplace.host.host import PluginHost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Open = Callable[..., Memory]

CHUNKER = """
from commonplace.plugin import Chunk, hookimpl

class Whole:
    fingerprint = "whole-1"

    def chunk(self, document):
        return [Chunk(1, len(document.text.splitlines()) or 1, document.text)]

@hookimpl
def commonplace_register_chunkers(register):
    register.chunker("whole", lambda context: Whole(), summary="one chunk of each document")
"""


@pytest.fixture
def open_memory(tmp_path: Path) -> Iterator[Open]:
    """Opens a memory of one note with the plugins that are installed now, in a new host."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("The staging server listens on port 8443.\n")
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    opened: list[Memory] = []

    def make(config: dict[str, Any]) -> Memory:
        host = PluginHost(cache_dir=None, env=env)
        memory = Memory.open(workspace=str(folder), config=config, env=env, host=host)
        opened.append(memory)
        return memory

    yield make
    for memory in opened:
        memory.close()


@pytest.fixture
def whole(
    add_module: Callable[[str, str], None], add_distribution: Callable[..., Path]
) -> Iterator[Callable[[str], None]]:
    """Installs the chunker ``whole`` of acme-parts, with the source text that is given."""
    add_distribution("acme-parts", {"chunker.whole": "acme_whole"})

    def install(source: str) -> None:
        sys.modules.pop("acme_whole", None)
        add_module("acme_whole", source)

    yield install
    sys.modules.pop("acme_whole", None)


WHOLE = {"memory": {"search": {"chunking": {"strategy": "whole"}}}}
BROKEN = "raise RuntimeError('it is broken today')\n"


def test_a_chunker_that_does_not_load_lets_the_index_answer(
    open_memory: Open, whole: Callable[[str], None]
) -> None:
    whole(CHUNKER)
    open_memory(WHOLE).sync()
    whole(BROKEN + CHUNKER)
    memory = open_memory(WHOLE)
    result = memory.search("staging server")
    assert [hit.path for hit in result.hits] == ["MEMORY.md"]
    (note,) = result.notes
    assert "could not be updated: chunker 'whole' of acme-parts 1.0 failed to load: Ru" in note
    status = memory.status(deep=True)
    assert (status.available, status.files, status.chunks) == (True, 1, 1)
    (finding,) = [one for one in status.findings if one.name == "fingerprints"]
    assert finding.state == "problem"
    assert "chunker 'whole' of acme-parts 1.0 failed to load" in finding.text
    with pytest.raises(PluginUnavailableError, match=r"of acme-parts 1\.0 failed to load"):
        memory.sync()


def test_without_an_index_the_chunker_that_does_not_load_is_the_error(
    open_memory: Open, whole: Callable[[str], None]
) -> None:
    whole(BROKEN)
    with pytest.raises(PluginUnavailableError, match=r"of acme-parts 1\.0 failed to load"):
        open_memory(WHOLE).search("staging server")
