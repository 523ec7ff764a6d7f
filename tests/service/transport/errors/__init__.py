"""Errors: each has its status, its reason, a sentence and the invalid fields, and changes nothing."""
