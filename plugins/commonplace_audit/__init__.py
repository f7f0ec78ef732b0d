"""An audit of the notes: what is there twice, contradicts, went stale, is too large or broken."""
