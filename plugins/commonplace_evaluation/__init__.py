"""Measures retrieval on queries with known answers: the command ``commonplace eval``."""
