"""The laws of managers: finding, keeping the index up to date; all of them in one class."""

from __future__ import annotations

import shutil
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from commonplace.errors import UnavailableError
from commonplace.resilience.deadline import NEVER
from commonplace.testing.laws import law
from commonplace.testing.manager_answers import AnswerLaws, FilterLaws
from commonplace.testing.manager_laws import (
    ANIMALS,
    LifetimeLaws,
    ManagerLaws,
    ask,
    finds,
    found,
    maintain,
    paths,
)
from commonplace.testing.pressure import LATE, cancelled_after
from commonplace.testing.strategies import HOSTILE_PATHS, HOSTILE_TEXTS

if TYPE_CHECKING:
    from commonplace.model.reports import Progress
    from commonplace.protocols.managers import MemoryManager


_NAMES = ("MEMORY.md", "memory/2026-01-31.md", "memory/n1.md", "memory/deep/er/n1.md")

_NAME = st.sampled_from(_NAMES)
_EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), _NAME, st.lists(st.sampled_from(ANIMALS), max_size=3)),
        st.tuples(st.just("write"), _NAME, st.lists(st.sampled_from(ANIMALS), max_size=3)),
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
        """Not by those taken out, even where it is as long as before and of the same moment."""
        self.index(manager, "a")
        self.notes.write("memory/a.md", "the okapi")
        maintain(manager)
        finds(manager, {"memory/a.md": {"okapi"}})

    @law()
    def test_a_deleted_note_is_forgotten(self, manager: MemoryManager) -> None:
        """A note that is deleted is found no more, the last one neither."""
        self.index(manager, "a", "b")
        self.notes.delete("memory/a.md")
        maintain(manager)
        finds(manager, {"memory/b.md": {"zebra"}})
        self.notes.delete("memory/b.md")
        maintain(manager)
        finds(manager, {})

    @law()
    def test_a_moved_note_is_found_at_its_new_place(self, manager: MemoryManager) -> None:
        """A note that is moved is found under its new name and not under its old one."""
        self.index(manager, "a")
        self.notes.move("memory/a.md", "memory/deep/b.md")
        maintain(manager)
        finds(manager, {"memory/deep/b.md": {"zebra"}})

    @law()
    def test_two_notes_of_one_text_are_both_found(self, manager: MemoryManager) -> None:
        """Equal texts are not one note, and deleting one spares the other."""
        self.put(*"abc")
        maintain(manager)
        finds(manager, {f"memory/{name}.md": {"zebra"} for name in "abc"})
        self.notes.delete("memory/b.md")
        maintain(manager)
        finds(manager, {f"memory/{name}.md": {"zebra"} for name in "ac"})

    @law()
    def test_an_unmounted_workspace_forgets_nothing(self, manager: MemoryManager) -> None:
        """Nothing is taken for deleted, and the failed root is named; later all is found again."""
        self.index(manager, "a")
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
        """A note is found under exactly its file's name, whatever the file system can hold."""
        names = [name for name in HOSTILE_PATHS if self.notes.can_name(name)]
        names = [name for name in names if name.startswith("memory/") and name.endswith(".md")]
        names = [name for name in names if "//" not in name]
        for name in names:
            self.notes.write(name, "the zebra")
        maintain(manager)
        assert paths(ask(manager, "zebra")) == set(names)

    @law()
    def test_odd_texts_do_no_harm(self, manager: MemoryManager) -> None:
        """Empty, blank, no UTF-8, control characters, one long line: all others are found."""
        odd = [text.encode() for text in HOSTILE_TEXTS]
        odd += [b"\xff\xfe\xfa", b"\x00" * 99, b"x" * 20_000, b"# " * 2_000]
        for number, raw in enumerate(odd):
            self.notes.write(f"memory/odd-{number}.md", raw)
            self.notes.write(f"memory/zebra-{number}.md", raw + b"\n\nthe zebra\n")
        maintain(manager)
        expected = {f"memory/zebra-{number}.md" for number in range(len(odd))}
        assert expected <= paths(ask(manager, "zebra", limit=200))


_MANY = 130
_KEPT = "what cannot be read or seen is reported, and kept as it was indexed"


class FailureLaws(ManagerLaws):
    """Many notes, long ones, and ones that cannot be read or seen."""

    hint = "look for fixed sizes, and for what happens to all when one note fails"

    @law()
    def test_many_notes_are_all_found(self, manager: MemoryManager) -> None:
        """More than a page of anything: all are indexed, and found where so many are asked for."""
        names = [f"memory/{number}.md" for number in range(_MANY)]
        for name in names:
            self.notes.write(name, f"the zebra of {name}")
        assert maintain(manager).added == _MANY
        assert paths(ask(manager, "zebra", limit=2 * _MANY)) == set(names)
        for name in names[::2]:
            self.notes.delete(name)
        assert maintain(manager).removed == _MANY // 2
        assert paths(ask(manager, "zebra", limit=2 * _MANY)) == set(names[1::2])

    @law()
    def test_a_long_note_is_found_to_its_end(self, manager: MemoryManager) -> None:
        """Of hundreds of kilobytes, in lines or in one: by a word at its end as at its begin."""
        for name, end in (("lines", "\n"), ("line", " ")):
            more = end.join(f"w{number} and other words" for number in range(10_000))
            self.notes.write(f"memory/{name}.md", f"okapi{end}{more}{end}walrus {name}{end}")
        maintain(manager)
        for word in ("okapi", "walrus"):
            both = paths(ask(manager, word, limit=2_000))
            assert both == {"memory/lines.md", "memory/line.md"}

    @law(hint=_KEPT)
    def test_a_note_that_cannot_be_read_keeps_its_old_words(self, manager: MemoryManager) -> None:
        """It is reported as unreadable; all others are updated, and later it is, too."""
        self.index(manager, "a", "b", "c")
        self.put("a", "b", "d", text="the okapi, which is another text")
        self.notes.delete("memory/c.md")
        self.source.refused = {"memory/a.md"}
        report = maintain(manager)
        new = [item.chunk for item in found(ask(manager, "okapi")) if "okapi" in item.chunk.text]
        if "memory/a.md" not in {chunk.path for chunk in new}:  # an engine may read files itself
            assert [path for path, _ in report.unreadable] == ["memory/a.md"]
            assert paths(ask(manager, "zebra")) >= {"memory/a.md"}
        assert paths(ask(manager, "okapi")) >= {"memory/b.md", "memory/d.md"}
        self.source.refused.clear()
        maintain(manager)
        finds(manager, {f"memory/{name}.md": {"okapi"} for name in "abd"})

    @law(hint=_KEPT)
    def test_a_folder_that_cannot_be_seen_hides_its_notes(self, manager: MemoryManager) -> None:
        """Of a root that half failed nothing is forgotten; what was deleted elsewhere is."""
        self.index(manager, "a", "b", "deep/c", "deep/er/d")
        self.notes.delete("memory/b.md")
        self.put("e")
        self.source.hidden = "memory/deep"
        report = maintain(manager)
        assert report.removed == 1
        assert report.failed_roots or not report.hidden, "nothing says why they are hidden"
        expected = {f"memory/{name}.md": {"zebra"} for name in ("a", "deep/c", "deep/er/d", "e")}
        finds(manager, expected)
        self.source.hidden = ""
        maintain(manager)
        finds(manager, expected)


class MaintenanceLaws(ManagerLaws):
    """``maintain`` and ``pending``."""

    @law()
    def test_a_report_counts_what_was_done(self, manager: MemoryManager) -> None:
        """Added, updated, removed, unchanged and remaining notes; a second run does nothing."""
        self.put("a", "b", "c")
        report = maintain(manager)
        assert (report.added, report.updated, report.removed, report.remaining) == (3, 0, 0, 0)
        again = maintain(manager)
        assert not again.changed
        assert (again.unchanged, again.remaining) == (3, 0)
        self.put("a", text="the okapi, which is another text")
        self.put("d")
        self.notes.delete("memory/b.md")
        report = maintain(manager)
        assert (report.added, report.updated, report.removed) == (1, 1, 1)
        assert report.unchanged == 1

    @law()
    def test_pending_counts_and_does_nothing(self, manager: MemoryManager) -> None:
        """``pending`` says how many notes ``maintain`` would find changed, and changes nothing."""
        self.put("a", "b")
        for _ in range(2):
            assert manager.pending().remaining == 2
        assert not manager.pending().changed
        maintain(manager)
        report = manager.pending()
        assert (report.remaining, report.unchanged, report.known) == (0, 2, 2)
        self.put("a", text="the okapi, which is another text")
        self.put("c")
        self.notes.delete("memory/b.md")
        for _ in range(2):
            assert manager.pending().remaining == 3
        # An engine may look at the files as they are, and not show what is gone.
        assert {"memory/a.md"} <= paths(ask(manager, "zebra")) <= {"memory/a.md", "memory/b.md"}
        assert all("okapi" not in item.chunk.text for item in found(ask(manager, "okapi")))

    @law()
    def test_more_changes_than_at_most_are_left(self, manager: MemoryManager) -> None:
        """They are counted and left; ``known`` tells an empty index from one that is behind."""
        self.put("a", "b")
        report = manager.maintain(at_most=1, deadline=NEVER)
        assert (report.remaining, report.known, report.changed) == (2, 0, False)
        assert found(ask(manager, "zebra")) == []
        assert manager.maintain(at_most=2, deadline=NEVER).added == 2
        finds(manager, {"memory/a.md": {"zebra"}, "memory/b.md": {"zebra"}})
        maintain(manager)  # what was written a moment ago may have to be looked at again
        self.put("c", "d")
        self.notes.delete("memory/a.md")
        report = manager.maintain(at_most=2, deadline=NEVER)
        assert (report.remaining, report.known, report.changed) == (3, 2, False)
        assert {"memory/b.md"} <= paths(ask(manager, "zebra")) <= {"memory/a.md", "memory/b.md"}
        assert manager.maintain(at_most=3, deadline=NEVER).remaining == 0
        finds(manager, {f"memory/{name}.md": {"zebra"} for name in "bcd"})

    @law()
    def test_a_deadline_leaves_the_rest_for_later(self, manager: MemoryManager) -> None:
        """Out of time or cancelled, at any moment, it reports what remains, or fails.

        Nothing is lost, and the next run ends it.
        """
        self.index(manager, "a", "b")
        self.put("c", "d")
        for deadline in (*LATE.values(), *map(cancelled_after, (2, 4, 8, 16))):
            before = manager.pending().remaining
            with suppress(UnavailableError):
                report = manager.maintain(deadline=deadline)
                assert report.added + report.remaining == before
                assert not report.changed or deadline not in LATE.values(), "it was too late"
            assert paths(ask(manager, "zebra")) >= {"memory/a.md", "memory/b.md"}
        maintain(manager)
        finds(manager, {f"memory/{name}.md": {"zebra"} for name in "abcd"})

    @law()
    def test_a_full_rebuild_keeps_the_answers(self, manager: MemoryManager) -> None:
        """All but those of deleted notes; one that runs out of time takes nothing away."""
        self.index(manager, "a", "b", "c")
        before = [(item.chunk.path, item.chunk.text) for item in found(ask(manager, "zebra"))]
        maintain(manager, force=True)
        after = [(item.chunk.path, item.chunk.text) for item in found(ask(manager, "zebra"))]
        assert after == before
        self.notes.delete("memory/b.md")
        with suppress(UnavailableError):
            manager.maintain(force=True, deadline=LATE["cancelled"])
        assert paths(ask(manager, "zebra")) >= {"memory/a.md", "memory/c.md"}
        maintain(manager, force=True)
        finds(manager, {"memory/a.md": {"zebra"}, "memory/c.md": {"zebra"}})

    @law()
    def test_progress_is_reported_in_order(self, manager: MemoryManager) -> None:
        """Each kind of work counts up, to its total at the most, if that is known."""
        steps: list[Progress] = []
        self.put(*(f"n{number}" for number in range(30)))
        manager.maintain(deadline=NEVER, progress=steps.append)
        last: dict[str, int] = {}
        for step in steps:
            assert step.label
            assert 0 <= last.get(step.label, 0) <= step.completed
            assert step.total == 0 or step.completed <= step.total
            last[step.label] = step.completed

    @law()
    def test_notes_are_never_written(self, manager: MemoryManager) -> None:
        """The files are the only truth: no call writes, touches or adds any in the workspace."""
        self.put("a", "b")
        before = self.notes.contents()
        maintain(manager)
        maintain(manager, force=True)
        manager.pending()
        ask(manager, "zebra")
        manager.health(deep=True)
        manager.close()
        assert self.notes.contents() == before

    @law("persistent")
    def test_what_is_indexed_is_there_for_the_next(self, manager: MemoryManager) -> None:
        """A manager over the same ``state_dir`` answers at once; two of them see each other's."""
        self.index(manager, "a")
        with self.opened_again() as other:
            finds(other, {"memory/a.md": {"zebra"}})
            self.put("b", text="the okapi")
            maintain(other)
            finds(manager, {"memory/a.md": {"zebra"}, "memory/b.md": {"okapi"}})
        manager.close()
        with self.opened_again() as later:
            assert later.pending().remaining == 0
            finds(later, {"memory/a.md": {"zebra"}, "memory/b.md": {"okapi"}})

    @law("persistent")
    def test_a_kill_at_any_moment_costs_nothing_but_work(self, manager: MemoryManager) -> None:
        """The next process continues from what a killed one leaves in ``state_dir``.

        Copies are taken while ``maintain`` runs, whenever it reports progress. From each of them
        the next ``maintain`` completes the index.
        """
        self.index(manager, "a", "b")
        self.put(*(f"n{number}" for number in range(5)), text="the okapi")
        images: list[str] = []

        def kill(_: Progress) -> None:
            images.append(f"{self.directory}/killed-{len(images)}")
            shutil.copytree(f"{self.directory}/state", images[-1])

        manager.maintain(deadline=NEVER, progress=kill)
        manager.maintain(force=True, deadline=NEVER, progress=kill)
        expected = {f"memory/n{number}.md": {"okapi"} for number in range(5)}
        expected |= {"memory/a.md": {"zebra"}, "memory/b.md": {"zebra"}}
        for image in images[:6]:
            with self.opened_again(image) as survivor:
                assert paths(ask(survivor, "zebra")) >= {"memory/a.md", "memory/b.md"}
                maintain(survivor)
                finds(survivor, expected)


class MemoryManagerConformance(
    FindingLaws, FailureLaws, AnswerLaws, FilterLaws, MaintenanceLaws, LifetimeLaws
):
    """All that an engine promises: subclass it, name the class ``Test...``, define one method.

    ``open_manager(context)`` opens the engine over ``context.workspace``, a folder whose notes the
    laws write, with its own files in ``context.state_dir``; a registration's factory will do. What
    it opens is closed by the test.

    ``capabilities`` are those of :data:`~commonplace.testing.manager_laws.CAPABILITIES` that the
    registration declares (default: all). What is declared must work; what is not must be declined.
    ``settings`` are Hypothesis's, for engines that are slow to open or to be tested harder.
    """
