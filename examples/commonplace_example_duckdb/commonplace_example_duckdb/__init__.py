"""A store on DuckDB for commonplace, from a distribution of its own."""
