"""The gRPC transport."""
