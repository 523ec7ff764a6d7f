"""Translation between values and messages."""
