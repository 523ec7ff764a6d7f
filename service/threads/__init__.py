"""Threads: executors."""
