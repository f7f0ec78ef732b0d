"""One query: parse, ask, rank, choose, present."""
