"""WatchGame: every version is received once and in order, whatever fails."""
