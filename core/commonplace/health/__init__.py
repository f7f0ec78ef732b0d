"""The health of a memory: its status, and checks of the files beside its index."""
