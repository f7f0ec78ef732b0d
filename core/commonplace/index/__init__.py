"""An engine made of a chunker, an analyser and any store."""
