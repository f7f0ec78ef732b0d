"""Embeddings from Google's Gemini API."""
