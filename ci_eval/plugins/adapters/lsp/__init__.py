"""The Language Server Protocol for completion: one client for every server."""
