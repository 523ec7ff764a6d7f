"""Tests of what the service is deployed with."""
