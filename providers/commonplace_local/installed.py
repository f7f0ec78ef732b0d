"""Which engine for GGUF models is installed, found without importing one."""

from __future__ import annotations

from importlib.util import find_spec

__all__ = ["ENGINES", "engine"]

ENGINES = ("xllamacpp", "llama_cpp")
"""Importable names, best first: the first comes as a wheel and cannot be broken by threads."""


def engine() -> str | None:
    """The engine to use, or ``None`` if there is none."""
    for name in ENGINES:
        if find_spec(name) is not None:
            return name
    return None
