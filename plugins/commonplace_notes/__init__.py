"""The built-in source: the notes of a workspace."""
