"""The readers of language models' responses. They remove what is around an answer, such as thoughts and fences."""
