"""Vectors in the index file: kept, encoded, and searched."""
