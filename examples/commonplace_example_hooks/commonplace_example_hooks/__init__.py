"""Three plugins that wrap searches, queries and writes."""
