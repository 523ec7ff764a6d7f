"""Tests of the rules: what every game must keep, and each game's own rules."""
