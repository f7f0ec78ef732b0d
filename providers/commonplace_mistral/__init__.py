"""Embeddings from Mistral."""
