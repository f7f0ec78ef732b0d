"""Parts that fail, wait or are shared: deadlines, breakers, retries, locks, atomic files."""
