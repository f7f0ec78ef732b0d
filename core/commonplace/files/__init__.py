"""The files of a workspace: found, confined and read."""
