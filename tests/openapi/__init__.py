"""The OpenAPI document, and the service tested against it."""
