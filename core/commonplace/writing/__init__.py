"""Changing notes: one atomic, journaled change of one file at a time."""
