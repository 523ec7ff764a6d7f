"""Each client has its own connection, which carries at most 256 concurrent calls."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

import sodafountain

SECONDS = 10.0


def test_two_clients_of_one_address_open_two_connections() -> None:
    """The server stays silent, so that no client reconnects because its first connection failed."""
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(2) as threads:
        listener.settimeout(SECONDS)
        target = f"127.0.0.1:{listener.getsockname()[1]}"
        clients = [sodafountain.connect(target) for _ in range(2)]
        calls = [threads.submit(client.game_kinds) for client in clients]
        connections = [listener.accept()[0] for _ in clients]
        for client in clients:
            client.close()
        for call in calls:
            with pytest.raises(sodafountain.ClientClosed):
                call.result(SECONDS)
        for connection in connections:
            connection.close()
