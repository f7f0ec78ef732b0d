"""The default backend: chunks and keyword index in one SQLite file."""
