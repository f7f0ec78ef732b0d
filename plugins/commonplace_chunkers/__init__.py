"""The built-in chunkers: by Markdown structure, and by lines."""
