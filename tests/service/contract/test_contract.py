"""The service has its own stubs. One process can import them together with the stubs of the Python client library."""

import subprocess
import sys
from importlib import import_module

import pytest


@pytest.mark.parametrize("name", ["errors", "game", "game_service", "juices", "soda_jerk", "soda_smugglers"])
def test_the_messages_of_the_service_and_of_the_client_are_the_same_classes(name: str) -> None:
    service, client = (import_module(f"{package}.{name}_pb2") for package in ("service.contract", "sodafountain.v1"))

    for message in client.DESCRIPTOR.message_types_by_name:
        assert getattr(service, message) is getattr(client, message)


def test_the_stubs_of_the_service_do_not_import_the_client() -> None:
    program = (
        "import sys; from service.contract import errors_pb2, game_service_pb2_grpc; "
        "print([name for name in sys.modules if name.split('.')[0] == 'sodafountain'])"
    )

    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert result.stdout.strip() == "[]"
