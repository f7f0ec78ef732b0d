"""Which agent is meant, and where its notes are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commonplace.config import paths
from commonplace.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.config.document import Findings
    from commonplace.config.reading import Found

__all__ = ["Agents", "find_agent", "find_workspace"]


class Agents:
    """What all documents say of agents; nearest document first."""

    def __init__(self, findings: list[Findings]) -> None:
        self._findings = findings
        self.ids = tuple(dict.fromkeys(id_ for f in findings for id_ in f.agents))

    @property
    def default(self) -> str:
        """The agent that is meant where none is named: as the original, else ``main``."""
        for document in self._findings:
            if document.agents:
                flagged = [agent.id for agent in document.agents.values() if agent.default]
                return flagged[0] if flagged else next(iter(document.agents))
        return "main"

    def workspace(self, id_: str) -> Found | None:
        """The workspace an agent has of its own."""
        for document in self._findings:
            agent = document.agents.get(id_)
            if agent is not None and agent.workspace is not None:
                return agent.workspace
        return None

    @property
    def common_workspace(self) -> Found | None:
        """``agents.defaults.workspace``."""
        return next((f.workspace for f in self._findings if f.workspace is not None), None)


def find_agent(agent: str | None, env: Mapping[str, str], agents: Agents) -> tuple[str, str]:
    """The agent's id, and who named it.

    Raises :class:`~commonplace.errors.ConfigError` if it cannot be an id, or if agents are listed
    and it is none of them. There is always an agent ``main``.
    """
    named = agent or paths.given(env, "COMMONPLACE_AGENT")
    if not named:
        return agents.default, "configuration" if agents.ids else "default"
    id_ = paths.checked_agent(named)
    if agents.ids and id_ not in agents.ids and id_ != "main":
        from difflib import get_close_matches

        close = get_close_matches(id_, agents.ids, n=1)
        meant = f"did you mean {close[0]!r}? " if close else ""
        raise ConfigError(
            f"no agent {id_!r} is configured",
            hint=f"{meant}the agents are {', '.join(agents.ids)}",
        )
    return id_, "argument" if agent else "environment variable COMMONPLACE_AGENT"


def find_workspace(
    workspace: str | None,
    id_: str,
    env: Mapping[str, str],
    agents: Agents,
    folders: tuple[str, ...],
) -> tuple[str, str]:
    """The absolute workspace of agent ``id_``, and who named it.

    Raises :class:`~commonplace.errors.ConfigError` if nothing does.
    """
    if workspace:
        return paths.absolute(workspace, env), "argument"
    if named := paths.given(env, "COMMONPLACE_WORKSPACE"):
        return paths.absolute(named, env), "environment variable COMMONPLACE_WORKSPACE"
    if (own := agents.workspace(id_)) is not None:
        return own.value, own.layer.file
    common = agents.common_workspace
    if id_ in agents.ids and id_ != agents.default:
        # The original gives every further agent a folder of its own, by one of two rules.
        bases = [os.path.join(common.value, id_)] if common else []
        for path in (*bases, *(os.path.join(f, f"workspace-{id_}") for f in folders)):
            if os.path.isdir(path):
                return path, "the original's folder of this agent"
    if common is not None:
        return common.value, common.layer.file
    return paths.default_workspace(env, folders, os.getcwd()), "default"
