"""The engine: runs QMD's program, and knows no workspace, agent or note."""
