"""From ranked candidates to what a person or an agent reads."""
