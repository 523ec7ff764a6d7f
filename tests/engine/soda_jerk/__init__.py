"""Tests of Soda Jerk."""
