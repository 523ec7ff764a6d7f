"""What hostile callers may send, hold back and keep open: they get errors, and nobody else suffers."""
