"""Tests of the client libraries, against a service that does what a test tells it to."""
