"""Tests of Juices."""
