"""Tests of the container image, run with a read-only root file system and without capabilities."""
