"""The Language Server Protocol, as far as completion needs it: one client for every server."""
