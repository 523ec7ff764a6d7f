"""The documentation is complete, and its commands and programs work."""
