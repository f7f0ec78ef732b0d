"""Embeddings from OpenAI, or from any server that speaks its form."""
