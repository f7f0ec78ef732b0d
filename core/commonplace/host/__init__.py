"""The plugin host: what exists, what is loaded, what failed."""
