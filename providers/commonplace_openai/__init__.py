"""Embeddings from OpenAI, or from any server with the same API."""
