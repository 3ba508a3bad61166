"""What jobs have to do with language models."""
