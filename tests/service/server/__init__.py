"""The processes of the server."""
