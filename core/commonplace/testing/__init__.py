"""Conformance tests for the authors of plugins."""
