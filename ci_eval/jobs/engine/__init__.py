"""What engines are told, for jobs."""
