"""What a command works with: where to write, how it may look, and the memory it was pointed at."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Mapping

    from commonplace.cli.progress import ProgressLine
    from commonplace.cli.terminal import Style
    from commonplace.memory import Memory
    from commonplace.model.reports import SyncListener

__all__ = ["Context"]


class Context:
    """The surroundings of one run of a command.

    ``json`` says that the result is wanted as JSON. ``pretty`` says that it is shown to a person
    on a terminal; ``style`` is how, and is plain text where colours are not wanted.
    """

    def __init__(
        self,
        args: Namespace,
        *,
        out: TextIO | None = None,
        err: TextIO | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self.env = os.environ if env is None else env
        self.json: bool = args.json
        self.workspace: str | None = args.workspace
        self.config: str | None = args.config
        self.agent: str | None = args.agent
        self.pretty = not self.json and self.out.isatty()
        self._style: Style | None = None

    @property
    def style(self) -> Style:
        """How standard output may be decorated."""
        if self._style is None:
            from commonplace.cli.terminal import style_of

            self._style = style_of(self.out, self.env)
        return self._style

    def line(self, text: str = "") -> None:
        """A line of the result, to standard output."""
        self.out.write(text + "\n")

    def emit(self, value: object) -> None:
        """The result as JSON, to standard output. attrs classes become objects in camelCase."""
        from commonplace.cli.jsonify import dumps

        self.out.write(dumps(value, self.out.encoding) + "\n")

    def emit_line(self, value: object) -> None:
        """One result of several as JSON, on a line of its own that is written at once."""
        from commonplace.cli.jsonify import dumps

        self.out.write(dumps(value, self.out.encoding, indent=None) + "\n")
        self.out.flush()

    def note(self, text: str) -> None:
        """A word to the person that is not the result, to standard error."""
        self.err.write(f"note: {text}\n")

    def progress(self) -> ProgressLine:
        """Shows how far long work is, on a terminal, once it takes over a second."""
        from commonplace.cli.progress import ProgressLine

        return ProgressLine(self.err, self.env)

    def section_classes(self) -> Callable[[str], type | None]:
        """The class that each section of the configuration is read into, as plugins offer it."""
        from commonplace.assembly import section_class
        from commonplace.cli.extra import plugin_host
        from commonplace.errors import PluginConflictError

        host = plugin_host(self.env)

        def class_of(section: str) -> type | None:
            try:
                return section_class(host, section)
            except PluginConflictError:
                return None  # told where a memory is opened

        return class_of

    def open_memory(
        self,
        *,
        workspace: str | None = None,
        config: str | None = None,
        state_dir: str | None = None,
        on_sync: SyncListener | None = None,
    ) -> Memory:
        """The memory that the arguments point at; what is given here goes before them.

        ``on_sync`` is told of every sync.

        Raises :class:`~commonplace.errors.CommonplaceError` if there is none to be had.
        """
        from commonplace.memory import Memory

        env = self.env
        if state_dir is not None:
            env = {**env, "COMMONPLACE_STATE_DIR": state_dir}
        return Memory.open(
            workspace=workspace or self.workspace,
            agent=self.agent,
            config=config or self.config,
            env=env,
            one_shot=True,
            on_sync=on_sync,
        )
