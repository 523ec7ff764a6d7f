"""Shared helpers: real servers, real processes, and clients of them."""
