"""What engines are told, for people."""
