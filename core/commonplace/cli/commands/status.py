"""``commonplace status``: the condition of a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.cli.words import count

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator, Sequence

    from commonplace.cli.context import Context
    from commonplace.model.findings import Finding
    from commonplace.model.reports import Status, UpkeepState

__all__ = ["create"]


class StatusCommand:
    """Says what is indexed, who answers, and what is not as it should be."""

    name = "status"
    summary = "Show what is indexed, who answers, and what is not as it should be"
    examples = ("commonplace status", "commonplace status --deep --json")

    def configure(self, parser: ArgumentParser) -> None:
        """Add what it takes."""
        parser.add_argument(
            "--deep",
            action="store_true",
            help="also look closely at the index and all that is kept beside it: what is sound, "
            "what is not, and what mends it",
        )
        parser.add_argument(
            "--index", action="store_true", help="bring the index up first; implies --deep"
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Gather it from all parts; 1 is returned where something is broken or nothing answers."""
        deep = args.deep or args.index
        with context.open_memory() as memory, context.progress() as progress:
            if args.index:
                memory.sync(progress=progress)
            if deep:
                progress.say("Checking the index")
            status = memory.status(deep=deep)
        if context.json:
            context.emit(_status_json(status))
        else:
            _show(status, context)
        broken = any(finding.state == "problem" for finding in status.findings)
        return 1 if status.problems or broken or not status.available else 0


def _status_json(status: Status) -> dict[str, object]:
    """Under the names of the original where it has one."""
    return {
        "agentId": status.agent,
        "workspaceDir": status.workspace,
        "backend": status.backend,
        "available": status.available,
        "requestedProvider": status.requested_provider,
        "provider": status.provider,
        "model": status.model,
        "searchMode": status.search_mode,
        "sources": status.sources,
        "extraPaths": status.extra_paths,
        "files": status.files,
        "chunks": status.chunks,
        "sourceCounts": [
            {"source": source, "files": files, "chunks": chunks}
            for source, files, chunks in status.source_counts
        ],
        "dirty": status.stale > 0,
        "stale": status.stale,
        "deferred": status.deferred,
        "dbPath": status.db_path,
        "dbBytes": status.db_bytes,
        "writable": status.writable,
        "configFiles": status.config_files,
        "failedRoots": status.failed_roots,
        "skippedSymlinks": status.skipped_symlinks,
        "fallback": status.fallback,
        "links": status.links,
        "providers": status.providers,
        "spaces": status.spaces,
        "upkeep": status.upkeep,
        "notices": status.notices,
        "information": status.information,
        "problems": status.problems,
        "findings": status.findings,
    }


def _show(status: Status, context: Context) -> None:
    from commonplace.cli.terminal import printable
    from commonplace.cli.words import columns

    style = context.style
    context.line(style.strong(f"Memory of {status.agent}"))
    facts = list(_facts(status))
    for line in columns([(f"  {label}", printable(value)) for label, value in facts]):
        context.line(line)
    told = "\n".join(value for _, value in facts)
    for notice in status.notices:
        # A reason stands with its part; what mends it may follow there, or not.
        if notice not in told and notice.rpartition(" (")[0] not in told.splitlines():
            context.line(f"  {style.warning('note:')} {printable(notice)}")
    for problem in status.problems:
        context.line(f"  {style.bad('problem:')} {printable(problem)}")
    if status.findings:
        context.line("  " + style.strong("Checks"))
        _show_findings(status.findings, context)


def _show_findings(findings: Sequence[Finding], context: Context) -> None:
    """A line for each finding, and one below it with its fix."""
    from commonplace.cli.terminal import pad, printable

    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        state = context.style.state(finding.state)(pad(finding.state, 7))
        context.line(f"  {state}  {finding.name:<{width}}  {printable(finding.text)}")
        if finding.fix is not None:
            context.line(" " * (width + 13) + printable(finding.fix.hint))


def _facts(status: Status) -> Iterator[tuple[str, str]]:
    from commonplace.cli.words import size

    yield "Workspace", status.workspace
    yield "Backend", status.backend + ("" if status.available else " (not available)")
    yield from _chain(status)
    yield "Search", status.search_mode
    provider = status.provider or "none"
    yield "Provider", f"{provider} (requested: {status.requested_provider})"
    if status.model:
        yield "Model", status.model
    yield from _embedding(status)
    yield "Indexed", f"{count(status.files, 'note')}, {count(status.chunks, 'chunk')}"
    if len(status.source_counts) > 1:
        for source, files, chunks in status.source_counts:
            yield f"  {source}", f"{count(files, 'note')}, {count(chunks, 'chunk')}"
    yield "Changed since", "unknown" if status.stale < 0 else count(status.stale, "note")
    if status.deferred:
        words = f"{count(status.deferred, 'conversation')}, by too little to be indexed unasked"
        yield "Grown since", words
    if status.upkeep is not None:
        yield from _upkeep(status.upkeep)
    yield "Sources", ", ".join(status.sources)
    if status.extra_paths:
        yield "Extra paths", ", ".join(status.extra_paths)
    where = f"{status.db_path} ({size(status.db_bytes)})" if status.db_path else "in memory"
    yield "Index", where + ("" if status.writable else ", cannot be written")
    yield "Configuration", ", ".join(status.config_files) or "defaults"
    for line in status.information:
        yield "About", line
    for failure in status.failed_roots:
        yield "Not scanned", f"{failure.root or 'the workspace'}: {failure.reason}"
    if status.skipped_symlinks:
        yield "Not followed", count(status.skipped_symlinks, "symbolic link")
    yield from _fallback(status)


def _fallback(status: Status) -> Iterator[tuple[str, str]]:
    """Who stands in for whom; why and since when, unless that stands with the part already."""
    fallback = status.fallback
    if fallback is None:
        return
    words = f"{fallback.by} in place of {fallback.part}".strip()
    shown = {provider.reason for provider in status.providers}
    if len(status.links) > 1:
        shown.update(link.reason for link in status.links)
    if fallback.reason not in shown:
        words += f"{_since(fallback.since)}: {fallback.reason}"
    yield "Fallback", words


def _upkeep(state: UpkeepState) -> Iterator[tuple[str, str]]:
    """Who watches, what is being done, and how the last sync of this process ended."""
    if state.watching != "off" or state.reason:
        words = {"native": "by the system", "polling": "by looking again", "off": "no"}
        since = _since(state.since) if state.watching != "off" else ""
        reason = f": {state.reason}" if state.reason else ""
        yield "Watched", words[state.watching] + since + reason
    if state.running:
        yield "Syncing", f"now ({', '.join(state.running)})"
    elif state.waiting:
        yield "Syncing", f"soon: {count(state.waiting, 'changed path')}"
    if (last := state.last) is not None:
        done = f"{last.added} added, {last.updated} updated, {last.removed} removed"
        yield "Last sync", f"{_moment(last.at)} ({', '.join(last.reasons)}): {done}"
        if last.error:
            yield "  failing", f"{last.error}{_since(last.failing_since)}"


def _chain(status: Status) -> Iterator[tuple[str, str]]:
    """Each backend, where there is more than one, with what it does or why it does not."""
    for link in status.links if len(status.links) > 1 else ():
        words: str = link.state
        if link.state == "failing":
            words += _since(link.since)
            words += f", tried again in {link.retry_in:.0f} s" if link.retry_in else ""
            words += f": {link.reason}"
        yield f"  {link.id}", words


def _embedding(status: Status) -> Iterator[tuple[str, str]]:
    """Each provider with what it has embedded and what is wrong; then spaces of nobody's."""
    for provider in status.providers:
        covered = f"{provider.covered} of {count(provider.chunks, 'chunk')} embedded"
        label = "Embeddings" if provider.role == "primary" else "  fallback"
        words = provider.id + (f", {covered}" if provider.state != "unusable" else "")
        if provider.state != "ready":
            told = {"unusable": "cannot be used", "probing": "failing, will be tried again"}
            state = told.get(provider.state, provider.state)
            words += f"; {state}{_since(provider.since)}: {provider.reason}"
        yield label, words
    theirs = {provider.space for provider in status.providers}
    for space in status.spaces:
        if space.space not in theirs:
            yield "  others", f"{space.space}: {space.covered} of {count(space.chunks, 'chunk')}"


def _since(seconds: float | None) -> str:
    return f" since {_moment(seconds)}" if seconds else ""


def _moment(seconds: float) -> str:
    import time

    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


create = StatusCommand
