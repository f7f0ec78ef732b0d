"""When an index is synced: on request, on file changes or on a schedule, one sync at a time."""

from __future__ import annotations
