"""The tools by which an agent reads its memory, and the text that it is shown."""
