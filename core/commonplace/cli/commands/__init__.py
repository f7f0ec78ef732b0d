"""The commands that come with commonplace, one module each."""
