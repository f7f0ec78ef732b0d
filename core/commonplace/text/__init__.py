"""From raw text to the terms of a keyword index, with offsets kept."""
