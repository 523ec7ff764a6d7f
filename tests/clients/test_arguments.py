"""Invalid arguments raise before any call: secrets, targets and timeouts."""

import math
import re
from typing import Any

import grpc
import pytest

import sodafountain
from tests.clients.blocking_aio import Client, Connect
from tests.clients.client_operations import Operation, every_operation
from tests.clients.scripted_service import GAME_ID, ScriptedService

# Each secret, and the text in the error that describes its first invalid character.
INVALID_SECRETS = {
    "a line break at the end": ("secret\n", "character 7 of 7 is U+000A"),
    "a Windows line break": ("secret\r\n", "character 7 of 8 is U+000D"),
    "a space at the start": (" secret", "character 1 of 7 is U+0020"),
    "a space at the end": ("secret ", "character 7 of 7 is U+0020"),
    "a space within": ("sec ret", "character 4 of 7 is U+0020"),
    "a tab": ("sec\tret", "character 4 of 7 is U+0009"),
    "a NUL": ("sec\0ret", "character 4 of 7 is U+0000"),
    "a DEL": ("secret\x7f", "character 7 of 7 is U+007F"),
    "an accent": ("sécret", "character 2 of 6 is U+00E9"),
    "a surrogate": ("secret\udc80", "character 7 of 7 is U+DC80"),
    "only whitespace": ("\n", "character 1 of 1 is U+000A"),
}
invalid_secrets = pytest.mark.parametrize(("secret", "position"), INVALID_SECRETS.values(), ids=INVALID_SECRETS)
WRONG_TYPES = [None, b"secret", 7]


def must_be_visible(name: str, position: str) -> str:
    """Return a pattern of the error for a secret with an invalid character."""
    return re.escape(f"The {name} must consist of visible ASCII characters; {position}. Whitespace is not stripped.")


@invalid_secrets
@pytest.mark.parametrize("handle", ["seat", "host"])
def test_a_token_with_an_invalid_character_raises_before_any_call(
    client: Client, handle: str, secret: str, position: str
) -> None:
    with pytest.raises(sodafountain.TokenInvalid, match=must_be_visible("token", position)) as caught:
        getattr(client, handle)(GAME_ID, secret)
    assert (caught.value.reason, caught.value.code) == (
        sodafountain.Reason.TOKEN_INVALID,
        grpc.StatusCode.UNAUTHENTICATED,
    )
    assert "secret" not in repr(caught.value)


@pytest.mark.parametrize("handle", ["seat", "host"])
def test_an_empty_token_raises(client: Client, handle: str) -> None:
    with pytest.raises(sodafountain.TokenInvalid, match=r"^The token is empty\.$"):
        getattr(client, handle)(GAME_ID, "")


@pytest.mark.parametrize("handle", ["seat", "host"])
@pytest.mark.parametrize("wrong", WRONG_TYPES)
def test_a_token_that_is_not_a_str_raises(client: Client, handle: str, wrong: object) -> None:
    with pytest.raises(sodafountain.TokenInvalid, match=rf"^The token must be a str, not {type(wrong).__name__}\.$"):
        getattr(client, handle)(GAME_ID, wrong)


@invalid_secrets
def test_an_api_key_with_an_invalid_character_raises(connect: Connect, secret: str, position: str) -> None:
    with pytest.raises(sodafountain.ApiKeyInvalid, match=must_be_visible("API key", position)) as caught:
        connect("localhost:1", api_key=secret)
    assert (caught.value.reason, caught.value.code) == (
        sodafountain.Reason.API_KEY_INVALID,
        grpc.StatusCode.UNAUTHENTICATED,
    )
    assert "secret" not in repr(caught.value)


def test_an_empty_api_key_raises(connect: Connect) -> None:
    with pytest.raises(sodafountain.ApiKeyInvalid, match=r"^The API key is empty\.$"):
        connect("localhost:1", api_key="")


@pytest.mark.parametrize("wrong", [key for key in WRONG_TYPES if key is not None])
def test_an_api_key_that_is_not_a_str_raises(connect: Connect, wrong: object) -> None:
    with pytest.raises(sodafountain.ApiKeyInvalid, match=rf"^The API key must be a str, not {type(wrong).__name__}\.$"):
        connect("localhost:1", api_key=wrong)


def test_a_token_may_contain_every_visible_character(client: Client, service: ScriptedService) -> None:
    visible = "".join(chr(code) for code in range(0x21, 0x7F))
    client.seat(GAME_ID, visible).state()
    assert service.received[0].metadata["authorization"] == f"Bearer {visible}"


@pytest.mark.parametrize(
    "target",
    [
        "localhost:50051",
        "127.0.0.1:1",
        "games.example:65535",
        "soda_fountain-1:50051",
        "[::1]:50051",
        "[fe80::1%25]:50051",
        "dns:games.example:443",
        "dns:///games.example:443",
        "dns://127.0.0.53/games.example:443",
        "dns:///[::1]:443",
        "ipv4:10.0.0.1:443,10.0.0.2:443",
        "ipv6:[::1]:443",
        "unix:soda.sock",
        "unix:///run/soda.sock",
        "unix-abstract:soda",
        "xds:///soda",
    ],
)
def test_a_target_may_have_every_form(connect: Connect, target: str) -> None:
    assert repr(connect(target, allow_insecure=True)) == f"<Client of {target}>"


HINT = "use host:port, such as 'localhost:50051', or a gRPC target such as 'dns:///host:port' or 'unix:path'"
NOT_HOST_AND_PORT = "is not host:port (put an IPv6 address in brackets)"
SCHEME = "is a URL or has an unknown scheme"
PORT = "must have a port from 1 to 65535"
WHITESPACE = "must not contain whitespace or control characters"


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("", "is empty"),
        ("http://localhost:50051", SCHEME),
        ("https://games.example", SCHEME),
        ("grpc://localhost:50051", SCHEME),
        ("redis:///localhost:1", SCHEME),
        ("localhost", NOT_HOST_AND_PORT),
        ("localhost:", NOT_HOST_AND_PORT),
        (":50051", NOT_HOST_AND_PORT),
        ("50051", NOT_HOST_AND_PORT),
        ("localhost:http", NOT_HOST_AND_PORT),
        ("localhost:-1", NOT_HOST_AND_PORT),
        ("localhost:1.5", NOT_HOST_AND_PORT),
        ("localhost:\N{ARABIC-INDIC DIGIT ONE}", NOT_HOST_AND_PORT),
        ("localhost:50051/", NOT_HOST_AND_PORT),
        ("::1:50051", NOT_HOST_AND_PORT),
        ("[::1]", NOT_HOST_AND_PORT),
        ("[localhost]:50051", NOT_HOST_AND_PORT),
        ("dns:///games.example", NOT_HOST_AND_PORT),
        ("dns:", NOT_HOST_AND_PORT),
        ("localhost:0", PORT),
        ("localhost:65536", PORT),
        ("dns:///games.example:99999", PORT),
        ("localhost:999999", NOT_HOST_AND_PORT),
        (" localhost:50051", WHITESPACE),
        ("localhost:50051\n", WHITESPACE),
        ("local host:50051", WHITESPACE),
        ("localhost\0:50051", WHITESPACE),
        ("unix:", "has no address after 'unix:'"),
        ("unix://", "has no address after 'unix:'"),
    ],
)
def test_an_invalid_target_raises_with_the_valid_forms(connect: Connect, target: str, problem: str) -> None:
    sentence = f"target {problem}" if not target else f"target {target!r} {problem}"
    with pytest.raises(ValueError, match=f"^{re.escape(f'{sentence}: {HINT}')}$"):
        connect(target)


@pytest.mark.parametrize(
    "target",
    [
        "localhost:50051",
        "LocalHost:50051",
        "127.0.0.1:50051",
        "127.255.0.9:50051",
        "[::1]:50051",
        "dns:localhost:50051",
        "dns:///127.0.0.1:50051",
        "dns:///[::1]:50051",
        "ipv4:127.0.0.1:50051,127.0.0.2",
        "ipv6:[::1]:50051,::1",
        "unix:soda.sock",
        "unix:///run/soda.sock",
        "unix-abstract:soda",
    ],
)
def test_a_target_on_this_host_needs_no_tls(connect: Connect, target: str) -> None:
    connect(target)


@pytest.mark.parametrize(
    "target",
    [
        "games.example:50051",
        "10.0.0.1:50051",
        "[2001:db8::1]:50051",
        "0.0.0.0:50051",
        "127.0.0.1.games.example:50051",
        "localhost.games.example:50051",
        "dns:games.example:50051",
        "dns:///games.example:50051",
        "dns://127.0.0.1/games.example:50051",
        "ipv4:127.0.0.1:50051,10.0.0.1:50051",
        "ipv6:[::1]:50051,[2001:db8::1]:50051",
        "xds:///localhost:50051",
        "vsock:1:50051",
    ],
)
def test_a_target_on_another_host_needs_tls_or_permission(connect: Connect, target: str) -> None:
    with pytest.raises(ValueError, match=re.escape(target)) as raised:
        connect(target, api_key="secret-key")
    assert str(raised.value) == (
        f"target {target!r} is not on this host, and the connection has no TLS: everyone on the network could read "
        "tokens and API keys. Use tls=True or channel credentials. If you trust the network, use allow_insecure=True"
    )
    connect(target, tls=True)
    connect(target, tls=grpc.ssl_channel_credentials())
    connect(target, allow_insecure=True)


@pytest.mark.parametrize("target", [None, 50051, b"localhost:50051", ("localhost", 50051)])
def test_a_target_that_is_not_a_str_raises(connect: Connect, target: object) -> None:
    with pytest.raises(
        TypeError, match=rf"^target must be a str such as 'localhost:50051', not {type(target).__name__}$"
    ):
        connect(target)


INVALID_TIMEOUTS: list[tuple[Any, type[Exception], str]] = [
    (0, ValueError, "timeout must be greater than 0 and at most 1000000000 seconds, not 0"),
    (-1, ValueError, "timeout must be greater than 0 and at most 1000000000 seconds, not -1"),
    (-0.5, ValueError, "timeout must be greater than 0 and at most 1000000000 seconds, not -0.5"),
    (math.nan, ValueError, "timeout must be greater than 0 and at most 1000000000 seconds, not nan"),
    (math.inf, ValueError, "timeout must be greater than 0 and at most 1000000000 seconds, not inf"),
    (10**10, ValueError, "timeout must be greater than 0 and at most 1000000000 seconds, not 10000000000"),
    ("5", TypeError, "timeout must be a number of seconds such as 2.5, not str"),
    (True, TypeError, "timeout must be a number of seconds such as 2.5, not bool"),
    ([5], TypeError, "timeout must be a number of seconds such as 2.5, not list"),
]
invalid_timeouts = pytest.mark.parametrize(
    ("timeout", "error", "problem"), INVALID_TIMEOUTS, ids=[repr(each[0]) for each in INVALID_TIMEOUTS]
)


@invalid_timeouts
def test_an_invalid_timeout_of_the_client_raises(
    connect: Connect, timeout: object, error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(problem)}$"):
        connect("localhost:1", timeout=timeout)


def test_the_timeout_of_the_client_must_not_be_none(connect: Connect) -> None:
    with pytest.raises(TypeError, match="not NoneType"):
        connect("localhost:1", timeout=None)


@invalid_timeouts
def test_an_invalid_timeout_of_a_call_raises(
    client: Client, service: ScriptedService, timeout: object, error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(problem)}$"):
        client.seat(GAME_ID, "t").state(timeout=timeout)
    assert service.received == []


@every_operation
def test_every_call_validates_its_timeout(
    client: Client, service: ScriptedService, operation: Operation, token: str | None
) -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        operation(client, {"timeout": -1})
    assert service.received == []


def test_the_longest_timeout_works(client: Client, service: ScriptedService) -> None:
    client.game_kinds(timeout=1_000_000_000)
    assert [each.rpc for each in service.received] == ["ListGameKinds"]


@pytest.mark.parametrize(
    "target", ["http://user:hunter2@h:1", "user:hunter2@h:1", "dns:///user:hunter2@h:1", "dns://hunter2@h/x:1"]
)
def test_a_target_with_credentials_raises_an_error_without_them(connect: Connect, target: str) -> None:
    with pytest.raises(ValueError, match="must not contain credentials before") as caught:
        connect(target)
    assert "hunter2" not in str(caught.value)
    assert "user:" not in str(caught.value)
