"""The API `sodafountain.v1`: generated messages (`*_pb2`) and stubs (`*_pb2_grpc`)."""
