"""Values that cross the borders between parts: frozen, typed, and free of behaviour."""
