"""The values of an engine: what is sent to it, what it offers and takes, and how alike it answers."""
