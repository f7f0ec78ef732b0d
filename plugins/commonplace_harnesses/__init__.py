"""Connects agents' programs to memory: the commands ``install``, ``uninstall`` and ``hook``."""
