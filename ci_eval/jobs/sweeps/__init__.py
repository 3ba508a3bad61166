"""What varies over several runs."""
