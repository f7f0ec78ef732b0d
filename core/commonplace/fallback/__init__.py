"""A chain of engines of which the first that can answers: memory goes on when a part fails."""

from __future__ import annotations
