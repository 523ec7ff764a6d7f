"""Load tests: what they play, take down, hold against limits and report."""
