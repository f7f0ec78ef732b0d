"""Embeddings from a GGUF model on this machine, run in a process of its own."""
