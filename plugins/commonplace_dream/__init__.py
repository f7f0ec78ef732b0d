"""Reviewed consolidation: what daily logs hold that belongs in MEMORY.md, as a proposal."""
