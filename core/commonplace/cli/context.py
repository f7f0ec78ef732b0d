"""What a command is, what it runs with, and how plugins' commands are found."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol, TextIO

from commonplace.cli.streams import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from commonplace.cli.progress import ProgressLine
    from commonplace.cli.terminal import Style
    from commonplace.config.resolve import Arguments
    from commonplace.config.settings import Settings
    from commonplace.host.host import PluginHost
    from commonplace.memory import Memory
    from commonplace.model.reports import SyncListener, Upload


class UsageError(Exception):
    """The command line is not valid; ``hint`` says how to correct it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Command(Protocol):
    """One command of the command line.

    It prints plain text or JSON; one that has other forms names all of them in ``formats``, such as
    ``("plain", "json", "md")``, and asks ``context.format``.

    A plugin offers one under the entry point ``command.<name>``; the factory it registers is
    called without arguments and returns the command.
    """

    @property
    def name(self) -> str:
        """The name as it is typed."""
        ...

    @property
    def summary(self) -> str:
        """What the command does: a sentence without a full stop."""
        ...

    @property
    def examples(self) -> tuple[str, ...]:
        """Complete command lines, the most useful first; at least one."""
        ...

    def configure(self, parser: ArgumentParser) -> None:
        """Add the command's own arguments.

        The caller adds ``--workspace``, ``--config``, ``--agent``, ``--format`` and ``--json``.
        """
        ...

    def run(self, args: Namespace, context: Context) -> int | None:
        """Run the command and return the exit code: 0 done, 1 failed, 3 done in part.

        Without one (``None``) it is 0.

        Results go to ``context.line`` or ``context.emit``, everything else to ``context.note``.
        Errors are raised as :class:`~commonplace.errors.CommonplaceError` and printed by the
        caller; a :class:`~commonplace.cli.context.UsageError` and a
        :class:`~commonplace.errors.ConfigError` become exit code 2.
        """
        ...


class Context:
    """The streams, environment and common options of one run of a command.

    ``format`` is the form of the result that was asked for, ``None`` without a wish; ``json`` says
    whether it is that. ``pretty``: standard output is a terminal and the form is left to us;
    ``style`` decorates the result, or leaves it plain where colours are off. ``commands`` are the
    names of those of core.
    """

    def __init__(
        self,
        args: Namespace,
        *,
        out: TextIO | None = None,
        err: TextIO | None = None,
        env: Mapping[str, str] | None = None,
        commands: Sequence[str] = (),
    ) -> None:
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self.env = os.environ if env is None else env
        self.format: str | None = "json" if args.json else getattr(args, "format", None)
        self.json = self.format == "json"
        self.workspace: str | None = args.workspace
        self.config: str | None = args.config
        self.agent: str | None = args.agent
        self._commands = commands
        self.pretty = self.format is None and self.out.isatty()
        self._progress: ProgressLine | None = None
        self._settings: Settings | None = None
        self._noted: set[str] = set()

    @cached_property
    def style(self) -> Style:
        """The decoration of standard output."""
        from commonplace.cli.terminal import Style, style_of

        return style_of(self.out, self.env) if self.format is None else Style(colour=False)

    def link(self, path: str, line: int) -> str:
        """The URL that opens a note of the opened memory, or ``""`` where none can be shown."""
        if self._settings is None or not self.style.links:
            return ""
        from commonplace.cli.forms import url_of

        return url_of(self._settings, path, line, self.env)

    def line(self, text: str = "") -> None:
        """Write a line of the result to standard output."""
        self.out.write(text + "\n")

    def lines(self, texts: Iterable[str]) -> None:
        """Write lines of the result."""
        for text in texts:
            self.line(text)

    def emit(self, value: object, *, versioned: bool = True) -> None:
        """Write the result as JSON to standard output; ``versioned`` adds ``schemaVersion``."""
        from commonplace.cli.jsonify import document, dumps, plain, with_suggestions

        facts = document(value) if versioned else plain(value)
        facts = with_suggestions(facts, self.suggesting)
        self.out.write(dumps(facts, self.out.encoding) + "\n")

    def emit_line(self, value: object) -> None:
        """Write one result of several as one line of JSON, and flush it."""
        from commonplace.cli.jsonify import document, dumps, with_suggestions

        facts = with_suggestions(document(value), self.suggesting)
        self.out.write(dumps(facts, self.out.encoding, indent=None) + "\n")
        self.out.flush()

    def note(self, text: str, *, once: bool = False) -> None:
        """Write what is not the result, for a person, to standard error; ``once``: not again."""
        line = self.on_a_line(text)
        if line not in self._noted:
            self._noted.update([line] if once else ())
            self.err.write(f"note: {line}\n")

    def suggesting(self, text: str, agent: str | None = None, config: str | None = None) -> str:
        """``text``, the commands in it with this one's options on whose memory is meant.

        ``agent`` is that of the memory where the options do not name one; ``config`` is its file
        where it is not that of the options.
        """
        values = self.workspace, config or self.config, self.agent or agent
        given = {option: value for option, value in zip(_WHOSE, values, strict=True) if value}
        if not given or "commonplace " not in text:  # as in most: nothing need be imported
            return text
        from commonplace.cli.forms import suggesting

        return suggesting(text, given, self._commands, self.plugin_host, self.env)

    def on_a_line(self, text: str) -> str:
        """The same on one line, without what steers a terminal."""
        return one_line(self.suggesting(text))

    def notes(self, texts: Iterable[str]) -> None:
        """Write several of them."""
        for text in texts:
            self.note(text)

    def progress(self) -> ProgressLine:
        """A progress line, shown once work takes over half a second; in a pipe a line every 15."""
        from commonplace.cli.progress import ProgressLine

        self._progress = ProgressLine(self.err, self.env)
        return self._progress

    def plugin_host(self) -> PluginHost:
        """A host of the installed plugins, without those that are switched off."""
        return plugin_host(self.env, self.config)

    def section_classes(self) -> Callable[[str], type | None]:
        """Maps a section of the configuration to the settings class that its plugin declares."""
        from commonplace.config.load import section_class
        from commonplace.errors import PluginConflictError

        host = self.plugin_host()

        def class_of(section: str) -> type | None:
            try:
                return section_class(host, section)
            except PluginConflictError:
                return None  # reported when a memory is opened

        return class_of

    def arguments(self) -> Arguments:
        """What the configuration is loaded with."""
        return {
            "workspace": self.workspace,
            "agent": self.agent,
            "config": self.config,
            "env": self.env,
            "sections": self.section_classes(),
        }

    def check_agents(self, names: Iterable[str]) -> None:
        """Raise :class:`~commonplace.errors.ConfigError` for an agent that is not configured.

        What is wrong with the configuration itself is reported when a memory is opened.
        """
        from commonplace.config.paths import listed_agent
        from commonplace.config.resolve import resolve

        settings = resolve(
            workspace=self.workspace, agent="main", config=self.config, env=self.env, needed=False
        ).settings
        if settings is not None:
            for name in names:
                listed_agent(name, settings.agents)

    @property
    def whose(self) -> dict[str, str]:
        """Agent and workspace of the opened memory, with which results in JSON begin."""
        assert self._settings is not None, "a memory was opened"
        return {"agent": self._settings.agent, "workspace": self._settings.workspace}

    def open_memory(
        self,
        *,
        workspace: str | None = None,
        agent: str | None = None,
        config: str | None = None,
        state_dir: str | None = None,
        alone: bool = False,
        on_sync: SyncListener | None = None,
        yes: bool = False,
    ) -> Memory:
        """Open the memory that the command line names; arguments given here win.

        With ``state_dir`` the index is kept there, wherever the configuration places it; with
        ``alone`` it then has the notes of the workspace, and no documents that the configuration
        adds to them.
        ``on_sync`` is called after every sync. With ``yes`` the user is notified, not asked,
        before texts first go to a provider's server.

        Raises :class:`~commonplace.errors.CommonplaceError` if it cannot be opened.
        """
        from commonplace.errors import CommonplaceError
        from commonplace.memory import Memory

        on_upload = partial(self._on_upload, yes=yes)
        env = self.env
        if state_dir is not None:
            env = {**env, "COMMONPLACE_STATE_DIR": state_dir}
        try:
            memory = Memory.open(
                workspace=workspace or self.workspace,
                agent=agent or self.agent,
                config=config or self.config,
                env=env,
                one_shot=True,
                on_sync=on_sync,
                on_upload=on_upload,
            )
        except CommonplaceError as error:
            if config is not None:
                error.hint = self.suggesting(error.hint, agent, config)
            raise
        if state_dir is not None:
            from commonplace.config.load import set_apart

            memory.close()
            memory = Memory(
                set_apart(memory.settings, alone=alone),
                memory.host,
                env=env,
                one_shot=True,
                on_sync=on_sync,
                on_upload=on_upload,
            )
        self._settings = memory.settings
        for mistake in memory.settings.mistakes:
            self.note(mistake, once=True)
        if not (workspace or self.workspace):
            self._note_above(memory.settings.workspace)
        return memory

    def _note_above(self, workspace: str) -> None:
        """Say so where the current folder was taken, and lies in a workspace."""
        from commonplace.config.paths import workspace_above

        if above := workspace_above(workspace, self.env):
            self.note(
                f"the notes are those of {workspace}, the current folder, which lies in the "
                f"workspace {above}: name that by --workspace if it is meant",
                once=True,
            )

    def _on_upload(self, upload: Upload, *, yes: bool) -> bool | None:
        from commonplace.cli.progress import UploadQuestion

        def pause() -> None:
            if self._progress is not None:
                self._progress.close()

        return UploadQuestion(self.err, yes=yes, ask=not self.json, pause=pause)(upload)


def plugin_host(env: Mapping[str, str], config: str | None = None) -> PluginHost:
    """The host of the installed plugins, as ``env`` and the configuration switch them."""
    from commonplace.config.load import load_switches
    from commonplace.config.paths import cache_dir
    from commonplace.host.host import PluginHost

    return PluginHost(cache_dir=cache_dir(env), env=env, rules=load_switches(config, env))


def command_names(host: PluginHost) -> tuple[str, ...]:
    """The commands that plugins offer, also those that cannot be loaded. Loads nothing."""
    infos = [info for info in host.plugins() if info.kind == "command"]
    return tuple(sorted({info.id for info in infos if info.state != "disabled"}))


def plugin_commands(env: Mapping[str, str]) -> list[tuple[str, str]]:
    """Name and summary of each command that plugins offer, or why it does not load."""
    from commonplace.errors import CommonplaceError

    host = plugin_host(env)
    found = []
    for name in command_names(host):
        try:
            summary = host.command(name).summary
        except CommonplaceError as error:
            summary = f"(does not load: {error})"
        found.append((name, summary))
    return found


@contextmanager
def faults_named(name: str, host: PluginHost) -> Iterator[None]:
    """Where the code of a plugin's command ``name`` raises, report a fault of that plugin.

    What a command is meant to raise passes, and so do exits and the user's Ctrl-C.
    """
    from commonplace.errors import CommonplaceError

    try:
        yield
    except (CommonplaceError, UsageError, OSError, SystemExit):
        raise
    except BaseException as error:
        from commonplace.host.reports import fault_of

        raise fault_of(host.plugins(), f"command.{name}", error) from error


def plugin_command(name: str, host: PluginHost) -> Command:
    """The command that a plugin offers as ``name``.

    Raises :class:`~commonplace.errors.PluginUnavailableError` if it cannot be loaded.
    """
    command: Command = host.command(name).factory()
    return command


def is_safe(argv: Sequence[str]) -> bool:
    """Whether ``--safe`` is given; it counts before a plugin's command is looked up."""
    words = list(argv)
    return "--safe" in (words[: words.index("--")] if "--" in words else words)


def named_config(argv: Sequence[str]) -> str | None:
    """The file that ``--config`` names, which may switch off a plugin's command."""
    return given_options(argv).get("--config")


_WHOSE = "--workspace", "--config", "--agent"
"""The options that say whose memory is meant."""


def given_options(argv: Sequence[str]) -> dict[str, str]:
    """Those of ``argv`` that say whose memory is meant, with their values; it need not be valid."""
    given: dict[str, str] = {}
    words = argv[: argv.index("--")] if "--" in argv else argv
    for word, following in zip(words, (*words[1:], ""), strict=False):
        option, _, value = word.partition("=")
        if option in _WHOSE and (value or following):
            given[option] = value or following  # the last one counts
    return given
