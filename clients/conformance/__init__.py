"""Conformance scenarios that every client library must pass, observed from the server's side; see README.md."""
