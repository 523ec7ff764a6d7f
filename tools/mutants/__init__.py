"""Mutation tests of the rules; each kind of game has a table of mutants."""
