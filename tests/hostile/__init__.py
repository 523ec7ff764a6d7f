"""Hostile clients: they get errors, and others are not affected."""
