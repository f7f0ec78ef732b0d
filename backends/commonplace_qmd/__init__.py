"""The QMD backend: its configuration; the engine itself is not part of this version."""
