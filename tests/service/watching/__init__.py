"""WatchGame: every version once and in order, whatever happens."""
