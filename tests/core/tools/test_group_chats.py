"""What a chat of several people may not see is for it as if it were not there."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace import Memory, MemoryTools, PluginHost
from commonplace.model.documents import Document, DocumentRef, ScanReport
from commonplace.plugin import hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GROUP = "agent:main:telegram:group:42"


@contextmanager
def opened(
    home: Path, notes: Mapping[str, str | bytes], host: PluginHost | None = None, **search: object
) -> Iterator[Memory]:
    for name, text in notes.items():
        path = home / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    env = {"HOME": str(home), "COMMONPLACE_STATE_DIR": str(home / "state")}
    env["COMMONPLACE_CACHE_DIR"] = str(home / "cache")
    config = {"memory": {"search": search}}
    with Memory.open(workspace=home / "notes", config=config, env=env, host=host) as memory:
        yield memory


def asked(memory: Memory, query: str, key: str = GROUP, **given: object) -> Any:
    answer = MemoryTools(memory, session_key=key, seconds=None).call(
        "memory_search", {"query": query, **given}
    )
    assert not answer.failed, answer.text
    return answer


SERVER = "# Team\n- The build server is called Orion and lives in rack seven of the basement.\n"


def test_a_readable_note_is_found_though_a_private_one_says_the_same(tmp_path: Path) -> None:
    with opened(tmp_path, {"MEMORY.md": SERVER, "memory/team.md": SERVER}) as memory:
        (owner,) = memory.search("build server orion").hits
        assert (owner.path, owner.similar) == ("MEMORY.md", ("memory/team.md#L1-L2",))
        (hit,) = MemoryTools(memory, session_key=GROUP).search("build server orion").hits
        assert (hit.path, hit.similar) == ("memory/team.md", ())
        assert memory.search("build server orion", session_key=GROUP).hits[0].path == hit.path


def test_many_private_passages_leave_room_for_the_readable_one(tmp_path: Path) -> None:
    heading = "".join(f"# Orion {n}\n\n{'Orion is a walrus. ' * 60}\n\n" for n in range(300))
    notes = {"MEMORY.md": heading, "memory/team.md": "Some words on other things, and Orion.\n"}
    with opened(tmp_path, notes) as memory:
        (found,) = asked(memory, "orion", maxResults=1).data["results"]
        assert found["path"] == "memory/team.md"


class Talks:
    """A source of conversations of another name."""

    id, version = "talks", "1"
    capabilities: frozenset[str] = frozenset()

    def __init__(self, *_: object) -> None:
        self.refs = tuple(DocumentRef("talks", f"talks/{n}", "", "1") for n in range(60))

    def scan(self) -> ScanReport:
        return ScanReport(self.refs, ("talks",))

    def read(self, ref: DocumentRef) -> Document:
        return Document(ref, "Orion, Orion! The walrus asks for Orion.", ref.path, trust="session")

    def watched(self) -> tuple[()]:
        return ()


class TalksPlugin:
    @hookimpl
    def commonplace_register_sources(self, register: Any) -> None:
        register.source("talks", Talks, summary="talks")


def test_conversations_of_a_plugin_leave_room_for_notes(tmp_path: Path) -> None:
    host = PluginHost()
    host.register(TalksPlugin(), name="talks")
    notes = {"memory/team.md": "Some words on other things, and on Orion.\n"}
    with opened(tmp_path, notes, host, sources=["memory", "talks"]) as memory:
        assert {hit.source for hit in memory.search("orion walrus").hits} >= {"talks"}
        (found,) = asked(memory, "orion walrus", maxResults=3).data["results"]
        assert found["path"] == "memory/team.md"


# Each has two tokens, as words that may be compounds: answers may depend on how long notes are.
WORDS = ["zephyrine", "quasarium", "orionide", "standuppe", "walrusine"]
LINES = st.lists(st.sampled_from(WORDS), min_size=4, max_size=4).map(" ".join)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(private=st.tuples(LINES, LINES), public=st.lists(LINES, min_size=1, max_size=3), query=LINES)
def test_an_answer_does_not_depend_on_the_words_of_private_notes(
    private: tuple[str, str], public: list[str], query: str
) -> None:
    answers = []
    for words in private:
        with TemporaryDirectory() as home:
            notes = {
                f"memory/n{number}.md": f"# N\n\n{line}\n" for number, line in enumerate(public)
            }
            with opened(Path(home), {"MEMORY.md": f"# M\n\n{words}\n", **notes}) as memory:
                found = [asked(memory, one) for one in (query, *query.split(), f'"{query[:20]}"')]
                answers.append([(one.text, one.data) for one in found])
    assert answers[0] == answers[1]


@pytest.mark.parametrize("query", ["zephirine", "zephyrine", "path:MEMORY.md x", "tag:zephyrine x"])
def test_no_note_on_an_answer_gives_away_what_private_notes_hold(
    tmp_path: Path, query: str
) -> None:
    private = "---\ntags: [acquisition]\n---\n\nWe buy Zephyrine Robotics.\n"
    with opened(tmp_path, {"MEMORY.md": private, "memory/team.md": SERVER}) as memory:
        answer = asked(memory, query)
        assert answer.text == "No passage in memory matches."
        assert answer.data["notes"] == []
        assert MemoryTools(memory, session_key=GROUP).search(query).unknown == ()


def test_files_that_cannot_be_read_are_counted_and_not_named(tmp_path: Path) -> None:
    broken = "日本語のメモです。".encode("shift-jis")
    notes: dict[str, str | bytes] = {"MEMORY.md": broken, "memory/b.md": broken}
    with opened(tmp_path, {**notes, "memory/team.md": SERVER}) as memory:
        assert "'MEMORY.md' could not be read" in asked(memory, "orion", "").text
        answer = asked(memory, "orion")
        assert answer.data["notes"] == ["2 notes or folders could not be read"]
        assert "MEMORY.md" not in answer.text


def test_what_a_plugin_adds_to_an_answer_is_withheld_too(tmp_path: Path) -> None:
    class Adding:
        @hookimpl(wrapper=True)
        def commonplace_search(self, query: str) -> Any:
            result = yield
            return result.replace(hits=(*result.hits, result.hits[0].replace(path="MEMORY.md")))

    with opened(tmp_path, {"memory/team.md": SERVER}) as memory:
        memory.host.register(Adding(), name="adding")
        assert len(memory.search("orion", session_key=GROUP).hits) == 2
        assert len(asked(memory, "orion").data["results"]) == 1
