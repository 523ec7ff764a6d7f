"""A protoc plugin that hands its request to the Python gRPC generator inside grpcio-tools.

That generator is compiled into `grpc_tools.protoc` and is no program of its own, while buf runs programs: they read a
`CodeGeneratorRequest` from standard input and answer a `CodeGeneratorResponse` on standard output.
"""

import sys
import tempfile
from pathlib import Path

from google.protobuf.compiler.plugin_pb2 import CodeGeneratorRequest, CodeGeneratorResponse
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc


def generate(request: CodeGeneratorRequest) -> CodeGeneratorResponse:
    """Generates the `_pb2_grpc.py` of every requested file that defines a service."""
    response = CodeGeneratorResponse(supported_features=CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL)
    services = {file.name for file in request.proto_file if file.service}
    wanted = [name for name in request.file_to_generate if name in services]
    if not wanted:
        return response
    with tempfile.TemporaryDirectory() as folder:
        descriptors = Path(folder, "descriptors.binpb")
        descriptors.write_bytes(FileDescriptorSet(file=request.proto_file).SerializeToString())
        out = Path(folder, "out")
        out.mkdir()
        arguments = ["protoc", f"--descriptor_set_in={descriptors}", f"--grpc_python_out={out}", *wanted]
        if protoc.main(arguments) != 0:
            response.error = "grpc_tools.protoc failed; its messages are above"
        for file in sorted(out.rglob("*.py")):
            response.file.add(name=file.relative_to(out).as_posix(), content=file.read_text())
    return response


if __name__ == "__main__":
    sys.stdout.buffer.write(generate(CodeGeneratorRequest.FromString(sys.stdin.buffer.read())).SerializeToString())
