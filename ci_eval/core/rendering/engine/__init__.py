"""The words for the configuration that engines are sent."""
