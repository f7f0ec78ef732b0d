"""Built-in sources: the transcripts of agents' sessions."""
