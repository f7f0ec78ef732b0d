"""The engine: runs QMD's program, and knows no workspace, agent or note."""

from commonplace_qmd.engine.client import Qmd
from commonplace_qmd.engine.values import (
    Line,
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
