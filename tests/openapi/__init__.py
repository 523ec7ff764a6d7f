"""The description of REST, and the service held to it."""
