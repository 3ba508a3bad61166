"""The jobs that exchange workspaces with the JetBrains evaluation plugin."""
