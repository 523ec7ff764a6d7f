"""Verification of finished games."""
