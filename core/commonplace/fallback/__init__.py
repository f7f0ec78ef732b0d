"""A chain of backends, of which the first that can answers, so that a failing one does no harm."""

from __future__ import annotations
