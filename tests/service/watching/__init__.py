"""WatchGame: every version is received once and in order, in spite of failures."""
