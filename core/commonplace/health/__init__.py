"""Looking after the files that a memory keeps beside its index."""
