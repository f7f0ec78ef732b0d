"""Speaks to QMD's program, and knows nothing of workspaces or of what a collection means."""

from commonplace_qmd.engine.client import Qmd
from commonplace_qmd.engine.values import (
    Line,
    LineKind,
    Mode,
    ModelKind,
    QmdError,
    QmdHome,
    QmdStatus,
    QmdTimeoutError,
    Reason,
    Row,
    UnknownCollectionError,
    UpdateCounts,
)

__all__ = [
    "Line",
    "LineKind",
    "Mode",
    "ModelKind",
    "Qmd",
    "QmdError",
    "QmdHome",
    "QmdStatus",
    "QmdTimeoutError",
    "Reason",
    "Row",
    "UnknownCollectionError",
    "UpdateCounts",
]
