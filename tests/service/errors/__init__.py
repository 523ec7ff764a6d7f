"""Refusals: every one has its status, its reason, a sentence and the wrong fields, and changes nothing."""
