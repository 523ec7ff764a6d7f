"""The service's own stubs."""
