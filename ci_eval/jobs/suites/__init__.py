"""Several projects in one configuration."""
