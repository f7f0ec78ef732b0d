"""Project URLs, and the README with absolute links, for the package's metadata."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Links(MetadataHookInterface):
    """Takes the address of the repository from ``repository`` in pyproject.toml."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in ``urls`` and ``readme``."""
        repository = self.config["repository"].rstrip("/")
        files = f"{repository}/blob/main/"
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["urls"] = {
            "Repository": repository,
            "Documentation": f"{files}docs/cli.md",
            "Changelog": f"{files}CHANGELOG.md",
            "Issues": f"{repository}/issues",
        }
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": re.sub(r"\]\((?![a-z]+:|#)", f"]({files}", readme),
        }
