"""The import and export of workspaces of the JetBrains evaluation plugin."""
