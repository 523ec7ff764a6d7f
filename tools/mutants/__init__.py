"""Mutants: the code of each rule broken in turn, one table per kind of game."""
