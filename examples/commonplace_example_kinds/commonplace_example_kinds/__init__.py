"""Small plugins of the kinds that the other examples have not: an engine, a source, a command."""
