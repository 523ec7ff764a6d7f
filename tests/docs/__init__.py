"""Tests that what the pages show works."""
