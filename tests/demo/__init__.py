"""Tests of the demo and of the clients together with the real service."""
