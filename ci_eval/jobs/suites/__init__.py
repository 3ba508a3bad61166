"""The jobs for several projects in one configuration."""
