"""Embeddings from an Ollama server."""
