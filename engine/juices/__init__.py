"""Juices, for 1 to 14 seats."""
