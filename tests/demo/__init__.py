"""Tests of the demo, and of the Python client with a real service."""
