"""Noticing that files have changed: the operating system says so, or they are looked at again."""
