"""Writes the plugin for Claude Code, of what ``install`` writes, and its marketplace.

``python docs/generate/claude_code_plugin.py`` writes them into the checkout.
"""

from __future__ import annotations

import json
from pathlib import Path

from commonplace import __version__
from commonplace.tools.definitions import instructions
from commonplace_harnesses.harnesses import Setup, grouped_hooks

FOLDER = "integrations/claude-code"
DESCRIPTION = "Memory from your Markdown notes: searched, cited, and shown when a session begins"

SKILL = """\
---
name: recall
description: Recall prior work, decisions, dates, people, preferences and todos from the user's \
notes. Use it before answering about any of them.
---

{section}
Without these tools, `commonplace search "words of the question"` and
`commonplace get PATH --from LINE` in a shell give the same passages.
"""

README = """\
# commonplace for Claude Code

This plugin gives Claude Code the memory in your Markdown notes: the tools `memory_search` and
`memory_get`, a hook that shows the curated memory and the latest logs when a session begins, hooks
that archive its last messages before a compaction and at its end (once `memory.write.enabled` is
set), and a skill that says when to recall.

It needs the command `commonplace` on the path of Claude Code, and a configured workspace:
`commonplace init ~/notes`. It does the same as `commonplace install claude-code`: use one of the
two.

Its files are generated: `python docs/generate/claude_code_plugin.py`.
"""


def files() -> dict[str, str]:
    """The text of each file, by its path in the checkout."""
    setup = Setup(("commonplace",), (), "memory", "project", "/", {})
    facts = {"name": "commonplace", "description": DESCRIPTION}
    owner = {"name": "commonplace contributors"}
    market = {
        "name": "commonplace",
        "description": "The memory of AI agents: plain Markdown notes",
        "owner": owner,
        "plugins": [{**facts, "source": f"./{FOLDER}"}],
    }
    plugin = {**facts, "version": __version__, "author": owner, "license": "MIT"}
    server = {"mcpServers": {setup.name: setup.server}}
    groups = {event: [group] for event, group in grouped_hooks(setup, "claude-code").items()}
    hooks = {"description": DESCRIPTION, "hooks": groups}
    section = instructions(["memory_search", "memory_get"], cited=True)
    return {
        ".claude-plugin/marketplace.json": _json(market),
        f"{FOLDER}/.claude-plugin/plugin.json": _json(plugin),
        f"{FOLDER}/.mcp.json": _json(server),
        f"{FOLDER}/hooks/hooks.json": _json(hooks),
        f"{FOLDER}/skills/recall/SKILL.md": SKILL.format(section=section),
        f"{FOLDER}/README.md": README,
    }


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    for path, text in files().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
