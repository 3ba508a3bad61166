"""Workspaces of the JetBrains evaluation plugin: read into ours, and written from ours."""
