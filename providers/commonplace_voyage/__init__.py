"""Embeddings from Voyage AI."""
