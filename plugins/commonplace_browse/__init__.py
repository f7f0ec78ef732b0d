"""A page to browse one's memory: search, timeline, what agents see, changes, health."""
