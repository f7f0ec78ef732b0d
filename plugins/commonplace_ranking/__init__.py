"""The built-in rankers."""
