"""Games: loaded, changed, stored. Knows no transport."""
