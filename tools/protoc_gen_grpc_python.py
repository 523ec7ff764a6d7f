"""A protoc plugin that passes its request to the Python gRPC generator inside grpcio-tools.

buf runs plugins as programs, which read a `CodeGeneratorRequest` from standard input and write a
`CodeGeneratorResponse` to standard output. The generator is compiled into `grpc_tools.protoc` and is not a program.
"""

import sys
import tempfile
from pathlib import Path

from google.protobuf.compiler.plugin_pb2 import CodeGeneratorRequest, CodeGeneratorResponse
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc


def generate(request: CodeGeneratorRequest) -> CodeGeneratorResponse:
    """Return the `_pb2_grpc.py` of every requested file that defines a service."""
    response = CodeGeneratorResponse(supported_features=CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL)
    services = {file.name for file in request.proto_file if file.service}
    requested = [name for name in request.file_to_generate if name in services]
    if not requested:
        return response
    with tempfile.TemporaryDirectory() as folder:
        descriptors = Path(folder, "descriptors.binpb")
        descriptors.write_bytes(FileDescriptorSet(file=request.proto_file).SerializeToString())
        out = Path(folder, "out")
        out.mkdir()
        arguments = ["protoc", f"--descriptor_set_in={descriptors}", f"--grpc_python_out={out}", *requested]
        if protoc.main(arguments) != 0:
            response.error = "grpc_tools.protoc failed; its messages are above"
        for file in sorted(out.rglob("*.py")):
            response.file.add(name=file.relative_to(out).as_posix(), content=file.read_text())
    return response


if __name__ == "__main__":
    sys.stdout.buffer.write(generate(CodeGeneratorRequest.FromString(sys.stdin.buffer.read())).SerializeToString())
