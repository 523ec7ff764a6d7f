"""Errors: each has a status, a reason, a sentence and the invalid fields. A rejected call changes nothing."""
