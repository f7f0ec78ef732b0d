"""``commonplace status``: show the state of a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.cli.parser import flag
from commonplace.cli.terminal import columns, pad, since, size, timestamp
from commonplace.errors import counted
from commonplace.health.groups import contents_words, vector_words

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator, Sequence

    from commonplace.cli.context import Context
    from commonplace.memory import Memory
    from commonplace.model.documents import Finding
    from commonplace.model.reports import Status, SyncState


class StatusCommand:
    """Shows the index, the active backend and provider, and problems."""

    name = "status"
    formats = ("plain", "json", "md")
    summary = "Show what is indexed, the active backend and provider, and problems"
    examples = ("commonplace status", "commonplace status --deep --json")

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "--deep",
            action="store_true",
            help="also ask the embedding provider, check the index and the files beside it, and "
            "show how to fix what is wrong",
        )
        about = (
            "also show folders, the embedding cache, batch jobs, spaces and plugins that are off"
        )
        flag(parser, "--verbose", about)
        flag(parser, "--index", "update the index first; implies --deep")

    def run(self, args: Namespace, context: Context) -> int:
        """Show the status; return 1 if there is a problem or no backend is available.

        Without an agent or a workspace that is named, every configured agent is shown.
        """
        with context.open_memory() as memory:
            agents = memory.settings.agents
            shown = [_one(memory, args, context)]
            others = [agent for agent in agents if agent != memory.settings.agent]
        named = context.agent or context.workspace or context.env.get("COMMONPLACE_AGENT")
        for agent in others if not named else ():
            if not context.json:
                context.line()
            shown.append(_of(agent, args, context))
        if context.json:
            documents = [facts for _, facts in shown]
            extra = {"agents": documents} if len(documents) > 1 else {}
            context.emit({**documents[0], **extra})
        return 0 if all(good for good, _ in shown) else 1


def _of(agent: str, args: Namespace, context: Context) -> tuple[bool, dict[str, object]]:
    """The status of another configured agent, or why its memory cannot be opened."""
    from commonplace.errors import CommonplaceError, reason_of

    try:
        with context.open_memory(agent=agent) as memory:
            return _one(memory, args, context)
    except CommonplaceError as error:
        reason = reason_of(error)
        if not context.json:
            context.line(context.style.strong(f"Memory of {agent}"))
            context.line(f"  {context.style.bad('not available:')} {context.suggesting(reason)}")
        return False, {"agent": agent, "available": False, "warnings": [reason]}


def _one(memory: Memory, args: Namespace, context: Context) -> tuple[bool, dict[str, object]]:
    """Show the status of one memory, or return it for JSON; whether all is well."""
    deep = args.deep or args.index
    with context.progress() as progress:
        if args.index:
            memory.sync(progress=progress)
        if deep:
            progress.show("Checking the index")
        status = memory.status(deep=deep)
    facts: dict[str, object] = {}
    if context.json:
        from commonplace.cli.jsonify import status_json

        facts = status_json(status)
    elif context.format == "md":
        from commonplace.cli.forms import facts_as_markdown

        context.out.write(facts_as_markdown(f"Memory of {status.agent}", _all_facts(status)))
    else:
        _show(status, context, _details(status, memory) if args.verbose else ())
    broken = any(finding.state == "problem" for finding in status.findings)
    unseen = status.failed_roots or status.unreadable  # problems, as `doctor` says
    return not (status.problems or broken or unseen or not status.available), facts


def _details(status: Status, memory: Memory) -> Iterator[tuple[str, str]]:
    """What ``--verbose`` adds."""
    yield "State folder", memory.settings.state_dir
    yield "Cache folder", memory.settings.cache_dir
    for source, files, chunks in status.source_counts if len(status.source_counts) == 1 else ():
        yield f"Source {source}", f"{counted(files, 'note')}, {counted(chunks, 'chunk')}"
    if (groups := status.groups) is not None:
        vector, cache, batch = groups.vector, groups.cache, groups.batch
        yield "Keyword search", f"{groups.fts.state} {groups.fts.reason}".rstrip()
        yield "Vector search", vector.state + (f", {vector.dims} dimensions" if vector.dims else "")
        if vector.path:
            yield "  library at", vector.path
        bound = f" of at most {cache.max_entries}" if cache.max_entries is not None else ""
        entries = f", {counted(cache.entries, 'embedding')}{bound}"
        yield "Embedding cache", cache.state + entries + (f": {cache.reason}" * bool(cache.reason))
        failures = f", {batch.failures} of {batch.limit} failures" if batch.limit else ""
        yield "Batch jobs", batch.state + failures + (f": {batch.reason}" * bool(batch.reason))
    for space in status.spaces:
        yield "Space", f"{space.space}: {space.covered} of {counted(space.chunks, 'chunk')}"
    for link in status.links:
        if link.reason:
            yield f"Failing {link.id}", f"{link.reason}{since(link.since)}"
    for info in memory.host.plugins():
        if info.state == "disabled":
            yield f"Off {info.name}", "; ".join(info.notices)


def _show(status: Status, context: Context, details: Iterable[tuple[str, str]] = ()) -> None:
    style, say = context.style, context.on_a_line
    context.line(style.strong(f"Memory of {status.agent}"))
    facts = [*_facts(status), *details]
    context.lines(columns([(f"  {label}", say(value)) for label, value in facts]))
    shown = "\n".join(value for _, value in facts)
    for notice in status.notices:
        # The reason of a failure is shown with its part, with its hint or without.
        if notice not in shown and notice.rpartition(" (")[0] not in shown.splitlines():
            context.line(f"  {style.warning('note:')} {say(notice)}")
    for problem in status.problems:
        context.line(f"  {style.bad('problem:')} {say(problem)}")
    if status.findings:
        context.line("  " + style.strong("Checks"))
        _show_findings(status.findings, context)


def _show_findings(findings: Sequence[Finding], context: Context) -> None:
    """A line for each finding, and one below it with its fix."""
    width = max(len(finding.name) for finding in findings)
    say = context.on_a_line
    for finding in findings:
        state = context.style.state(finding.state)(pad(finding.state, 7))
        context.line(f"  {state}  {finding.name:<{width}}  {say(finding.text)}")
        if finding.fix is not None:
            context.line(" " * (width + 13) + say(finding.fix.hint))


def _all_facts(status: Status) -> Iterator[tuple[str, str]]:
    yield from _facts(status)
    yield from (("Note", notice) for notice in status.notices)
    yield from (("Problem", problem) for problem in status.problems)
    for finding in status.findings:
        hint = f" (fix: {finding.fix.hint})" if finding.fix is not None else ""
        yield f"{finding.state}: {finding.name}", finding.text + hint


def _facts(status: Status) -> Iterator[tuple[str, str]]:
    yield "Workspace", status.workspace
    yield "Backend", status.backend + ("" if status.available else " (not available)")
    yield from _chain(status)
    yield "Search", status.search_mode
    provider = status.provider or "none"
    yield "Provider", f"{provider} (requested: {status.requested_provider})"
    if status.model:
        yield "Model", status.model
    yield from _embedding(status)
    yield from _vectors(status)
    yield "Indexed", contents_words(status)
    if len(status.source_counts) > 1:
        for source, files, chunks in status.source_counts:
            yield f"  {source}", f"{counted(files, 'note')}, {counted(chunks, 'chunk')}"
    yield "Changed since", "unknown" if status.stale < 0 else counted(status.stale, "note")
    if status.deferred:
        words = f"{counted(status.deferred, 'conversation')}, too little to be indexed yet"
        yield "Grown since", words
    yield from _watchers(status)
    if status.sync_state is not None:
        yield from _sync_state(status.sync_state)
    yield from _searched(status)
    bytes_ = "size unknown" if status.db_bytes is None else size(status.db_bytes)
    where = f"{status.db_path} ({bytes_})" if status.db_path else "in memory"
    yield "Index", where + (", not writable" if status.writable is False else "")
    yield "Configuration", ", ".join(status.config_files) or "defaults"
    for line in status.information:
        yield "Note", line
    for failure in status.failed_roots:
        yield "Not scanned", failure.words("the workspace")
    for path, reason in status.unreadable:
        yield "Not read", f"{path}: {reason}"
    if status.skipped_symlinks:
        yield "Not followed", counted(status.skipped_symlinks, "symbolic link")
    yield from _fallback(status)


def _vectors(status: Status) -> Iterator[tuple[str, str]]:
    """Whether the store's library for vectors is in use, or why not, and what is used."""
    vector = status.groups.vector if status.groups is not None else None
    if vector is not None and vector.library:
        yield "Vectors", vector_words(vector)


def _searched(status: Status) -> Iterator[tuple[str, str]]:
    """What is searched, and what is not."""
    yield "Sources", ", ".join(status.sources)
    if status.extra_paths:
        yield "Extra paths", ", ".join(status.extra_paths)
    for line in status.left_out.sentences() if status.left_out is not None else ():
        yield "Left out", line


def _fallback(status: Status) -> Iterator[tuple[str, str]]:
    """The active part in place of the failed one; why and since when, unless shown already."""
    fallback = status.fallback
    if fallback is None:
        return
    words = f"{fallback.by} in place of {fallback.part}".strip()
    shown = {provider.reason for provider in status.providers}
    if len(status.links) > 1:
        shown.update(link.reason for link in status.links)
    if fallback.reason not in shown:
        words += f"{since(fallback.since)}: {fallback.reason}"
    yield "Fallback", words


def _watchers(status: Status) -> Iterator[tuple[str, str]]:
    """The other processes that watch the notes."""
    for watcher in status.watchers:
        program = f" ({watcher.program})" if watcher.program else ""
        yield "Watched", f"by process {watcher.pid}{program}{since(watcher.since)}"


def _sync_state(state: SyncState) -> Iterator[tuple[str, str]]:
    """How changes are noticed, the sync under way, and the last sync of this process."""
    if state.watching != "off" or state.reason:
        words = {"native": "by the system", "polling": "by polling", "off": "no"}
        began = since(state.since) if state.watching != "off" else ""
        reason = f": {state.reason}" if state.reason else ""
        yield "Watched", words[state.watching] + began + reason
    if state.running:
        yield "Syncing", f"now ({', '.join(state.running)})"
    elif state.waiting:
        yield "Syncing", f"soon: {counted(state.waiting, 'changed path')}"
    if state.full_scan_in is not None:
        yield "Full scan", f"in {state.full_scan_in / 60:.0f} min: since the last, only changes"
    if (last := state.last) is not None:
        done = f"{last.added} added, {last.updated} updated, {last.removed} removed"
        yield "Last sync", f"{timestamp(last.at)} ({', '.join(last.reasons)}): {done}"
        if last.error:
            yield "  failing", f"{last.error}{since(last.failing_since)}"


def _chain(status: Status) -> Iterator[tuple[str, str]]:
    """The state of each backend, where there is more than one."""
    for link in status.links if len(status.links) > 1 else ():
        words: str = link.state
        if link.state == "failing":
            words += since(link.since)
            words += f"{_next_try(link.retry_in)}: {link.reason}"
        yield f"  {link.id}", words


def _next_try(seconds: float) -> str:
    """When a part that fails is tried again; ``""`` where the next call does."""
    if not seconds:
        return ""
    return f", next try in {f'{seconds:.0f} s' if seconds < 100 else f'{seconds / 60:.0f} min'}"


def _embedding(status: Status) -> Iterator[tuple[str, str]]:
    """Each provider with its coverage and failure; then spaces of other providers."""
    for provider in status.providers:
        covered = f"{provider.covered} of {counted(provider.chunks, 'chunk')} embedded"
        label = "Embeddings" if provider.role == "primary" else "  fallback"
        words = provider.id + (f", {covered}" if provider.state != "unusable" else "")
        if provider.state != "ready":
            state = "not available" if provider.state == "unusable" else "failing"
            again = ", the next call tries again" if provider.state == "probing" else ""
            again = again or (_next_try(provider.retry_in) if state == "failing" else "")
            words += f"; {state}{since(provider.since)}{again}: {provider.reason}"
        yield label, words
    theirs = {provider.space for provider in status.providers}
    for space in status.spaces:
        if space.space not in theirs:
            yield "  others", f"{space.space}: {space.covered} of {counted(space.chunks, 'chunk')}"
