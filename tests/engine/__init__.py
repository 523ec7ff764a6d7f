"""Tests of the rules: the requirements for every game, and the rules of each game."""
