"""What a part must implement: one protocol for each kind, and what its factory is given."""
