"""Observability: logs, metrics and traces. No secret, and nothing hidden from a player, ever enters them."""
