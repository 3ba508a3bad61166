"""The readers of language models' responses. They remove thoughts, template tokens, fences and headings around the
answer."""
