"""From texts to checked vectors: packing, retrying, caching, choosing who makes them."""
