"""Batch jobs: documents embedded by a vendor within hours, for less money."""
