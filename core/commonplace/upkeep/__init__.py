"""When the index is brought up to the files: asked or in the background, one sync at a time."""

from __future__ import annotations
