"""Laws about which notes a manager knows."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from commonplace.testing.manager.asking import WORDS, ask, finds, maintain, paths
from commonplace.testing.manager.law import ManagerLaws, law
from commonplace.testing.strategies import HOSTILE_PATHS, HOSTILE_TEXTS

if TYPE_CHECKING:
    from commonplace.protocols.managers import MemoryManager

__all__ = ["FindingLaws"]

_NAMES = ("MEMORY.md", "memory/2026-01-31.md", "memory/n1.md", "memory/deep/er/n1.md")

_NAME = st.sampled_from(_NAMES)
_EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), _NAME, st.lists(st.sampled_from(WORDS), max_size=3)),
        st.tuples(st.just("write"), _NAME, st.lists(st.sampled_from(WORDS), max_size=3)),
        st.tuples(st.just("delete"), _NAME, st.none()),
        st.tuples(st.just("move"), _NAME, _NAME),
        st.tuples(st.sampled_from(("maintain", "force", "reopen")), st.none(), st.none()),
    ),
    max_size=10,
)


class FindingLaws(ManagerLaws):
    """Notes that come, change and go."""

    @law(events=_EVENTS)
    def test_any_history_leaves_what_the_files_hold(
        self, manager: MemoryManager, events: list[tuple[str, str, object]]
    ) -> None:
        """Whatever happened to the notes, after ``maintain`` each is found by its words.

        They are written, changed, moved and deleted, with ``maintain`` in between or not, and the
        manager is opened again, in any order. Nothing is found that is not there any more.
        """
        words: dict[str, list[str]] = {}
        with ExitStack() as stack:
            for kind, name, more in events:
                if kind == "write":
                    assert isinstance(more, list)
                    words[name] = more
                    self.notes.write(name, f"# Note\n\n{' '.join(more)} and that is all\n")
                elif kind == "delete" and name in words:
                    del words[name]
                    self.notes.delete(name)
                elif kind == "move" and name in words and name != more:
                    words[str(more)] = words.pop(name)
                    self.notes.move(name, str(more))
                elif kind in {"maintain", "force"}:
                    maintain(manager, force=kind == "force")
                elif kind == "reopen":
                    manager.close()
                    manager = stack.enter_context(self.opened_again())
            maintain(manager)
            finds(manager, words)

    @law()
    def test_a_note_is_found_once_it_is_indexed(self, manager: MemoryManager) -> None:
        """After ``maintain`` a search finds each note by a word of it."""
        self.notes.write("MEMORY.md", "the zebra")
        self.notes.write("memory/a.md", "the okapi\n\nand the zebra")
        maintain(manager)
        finds(manager, {"MEMORY.md": {"zebra"}, "memory/a.md": {"okapi", "zebra"}})

    @law()
    def test_a_changed_note_is_found_by_its_new_words(self, manager: MemoryManager) -> None:
        """What was taken out of a note does not find it any more.

        Not even where it is as long as before and was written in the same moment.
        """
        self.notes.write("memory/a.md", "the zebra")
        maintain(manager)
        self.notes.write("memory/a.md", "the okapi")
        maintain(manager)
        finds(manager, {"memory/a.md": {"okapi"}})

    @law()
    def test_a_deleted_note_is_forgotten(self, manager: MemoryManager) -> None:
        """A note that is deleted is found no more, the last one neither."""
        self.notes.write("memory/a.md", "the zebra")
        self.notes.write("memory/b.md", "the zebra")
        maintain(manager)
        self.notes.delete("memory/a.md")
        maintain(manager)
        finds(manager, {"memory/b.md": {"zebra"}})
        self.notes.delete("memory/b.md")
        maintain(manager)
        finds(manager, {})

    @law()
    def test_a_moved_note_is_found_at_its_new_place(self, manager: MemoryManager) -> None:
        """A note that is moved is found under its new name and not under its old one."""
        self.notes.write("memory/a.md", "the zebra")
        maintain(manager)
        self.notes.move("memory/a.md", "memory/deep/b.md")
        maintain(manager)
        finds(manager, {"memory/deep/b.md": {"zebra"}})

    @law()
    def test_two_notes_of_one_text_are_both_found(self, manager: MemoryManager) -> None:
        """Equal texts are not one note, and deleting one spares the other."""
        for name in "abc":
            self.notes.write(f"memory/{name}.md", "the zebra")
        maintain(manager)
        finds(manager, {f"memory/{name}.md": {"zebra"} for name in "abc"})
        self.notes.delete("memory/b.md")
        maintain(manager)
        finds(manager, {f"memory/{name}.md": {"zebra"} for name in "ac"})

    @law()
    def test_an_unmounted_workspace_forgets_nothing(self, manager: MemoryManager) -> None:
        """Where the notes cannot be looked for, nothing is taken for deleted.

        ``maintain`` says which root failed, or that it cannot work. When the folder is back,
        everything is found as before.
        """
        self.notes.write("memory/a.md", "the zebra")
        maintain(manager)
        self.notes.vanish()
        try:
            report = manager.pending()
            assert report.failed_roots
            assert maintain(manager).removed == 0
        finally:
            self.notes.come_back()
        finds(manager, {"memory/a.md": {"zebra"}})

    @law()
    def test_hostile_names_are_kept_to_the_letter(self, manager: MemoryManager) -> None:
        """A note is found under exactly the name its file has.

        Quotes, line breaks, wildcards, emoji, composed and decomposed letters, upper and lower
        case: whatever the file system can hold.
        """
        names = [name for name in HOSTILE_PATHS if self.notes.can_name(name)]
        names = [name for name in names if name.startswith("memory/") and name.endswith(".md")]
        names = [name for name in names if "//" not in name]
        for name in names:
            self.notes.write(name, "the zebra")
        maintain(manager)
        assert paths(ask(manager, "zebra")) == set(names)

    @law()
    def test_odd_texts_do_no_harm(self, manager: MemoryManager) -> None:
        """Notes that are empty, blank, no UTF-8, full of control characters or of one long line.

        They are indexed as well as can be, and the others are found.
        """
        odd = [text.encode() for text in HOSTILE_TEXTS]
        odd += [b"\xff\xfe\xfa", b"\x00" * 99, b"x" * 20_000, b"# " * 2_000]
        for number, raw in enumerate(odd):
            self.notes.write(f"memory/odd-{number}.md", raw)
            self.notes.write(f"memory/zebra-{number}.md", raw + b"\n\nthe zebra\n")
        maintain(manager)
        expected = {f"memory/zebra-{number}.md" for number in range(len(odd))}
        assert expected <= paths(ask(manager, "zebra", limit=200))
