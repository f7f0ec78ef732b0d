"""HTTP for embedding providers: where to, one request, what an answer or an error means."""
