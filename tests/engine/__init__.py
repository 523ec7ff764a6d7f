"""Tests of the rules: what every game must fulfil, and the rules of each game."""
