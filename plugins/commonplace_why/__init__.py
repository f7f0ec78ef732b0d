"""Why a memory was recalled: the log of recalls, and the same questions asked again."""
