"""The values of an engine: what is sent to it, and what it offers and takes."""
