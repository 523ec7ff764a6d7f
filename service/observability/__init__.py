"""Observability: logs, metrics and traces. They never contain secrets, or information that is hidden from a player."""
