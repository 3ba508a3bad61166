"""The readers of language models' responses. They remove thoughts, marks, fences and headings around the answer."""
