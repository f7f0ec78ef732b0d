"""One query: parse, ask, rank, present."""
