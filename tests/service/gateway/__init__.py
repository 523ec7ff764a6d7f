"""Tests of the gateway: a real Envoy in front of real services."""
