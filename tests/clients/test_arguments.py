"""What cannot be right is refused where it is given, before anything is sent."""

import math
import re
from typing import Any

import grpc
import pytest

import sodafountain
from tests.clients.blocking_aio import Client, Connect
from tests.clients.client_operations import Operation, every_operation
from tests.clients.scripted_service import GAME_ID, ScriptedService

# By what is wrong with them, and which character of how many.
UNFIT = {
    "a line break at the end": ("secret\n", "number 7 of its 7 is U+000A"),
    "a Windows line break": ("secret\r\n", "number 7 of its 8 is U+000D"),
    "a space at the start": (" secret", "number 1 of its 7 is U+0020"),
    "a space at the end": ("secret ", "number 7 of its 7 is U+0020"),
    "a space within": ("sec ret", "number 4 of its 7 is U+0020"),
    "a tab": ("sec\tret", "number 4 of its 7 is U+0009"),
    "a NUL": ("sec\0ret", "number 4 of its 7 is U+0000"),
    "a DEL": ("secret\x7f", "number 7 of its 7 is U+007F"),
    "an accent": ("sécret", "number 2 of its 6 is U+00E9"),
    "a surrogate": ("secret\udc80", "number 7 of its 7 is U+DC80"),
    "only white space": ("\n", "number 1 of its 1 is U+000A"),
}
unfit = pytest.mark.parametrize(("secret", "where"), UNFIT.values(), ids=UNFIT)
WRONG_TYPES = [None, b"secret", 7]


def must_be_visible(name: str, where: str) -> str:
    """The sentence about a secret that cannot travel, as a pattern."""
    return re.escape(
        f"The {name} must consist of visible ASCII characters, and {where}: nothing is stripped, "
        "not even white space at its ends."
    )


@unfit
@pytest.mark.parametrize("taken", ["seat", "host"])
def test_a_token_that_cannot_travel_is_refused_at_once(
    client: Client, service: ScriptedService, taken: str, secret: str, where: str
) -> None:
    with pytest.raises(sodafountain.TokenInvalid, match=must_be_visible("token", where)) as caught:
        getattr(client, taken)(GAME_ID, secret)
    assert (caught.value.reason, caught.value.code) == (
        sodafountain.Reason.TOKEN_INVALID,
        grpc.StatusCode.UNAUTHENTICATED,
    )
    assert "secret" not in repr(caught.value)


@pytest.mark.parametrize("taken", ["seat", "host"])
def test_an_empty_token_is_no_token(client: Client, taken: str) -> None:
    with pytest.raises(sodafountain.TokenInvalid, match=r"^The token is empty\.$"):
        getattr(client, taken)(GAME_ID, "")


@pytest.mark.parametrize("taken", ["seat", "host"])
@pytest.mark.parametrize("wrong", WRONG_TYPES)
def test_what_is_no_text_is_no_token(client: Client, taken: str, wrong: object) -> None:
    with pytest.raises(sodafountain.TokenInvalid, match=rf"^The token must be a str, not {type(wrong).__name__}\.$"):
        getattr(client, taken)(GAME_ID, wrong)


@unfit
def test_an_api_key_that_cannot_travel_is_refused_at_once(connect: Connect, secret: str, where: str) -> None:
    with pytest.raises(sodafountain.ApiKeyInvalid, match=must_be_visible("API key", where)) as caught:
        connect("localhost:1", api_key=secret)
    assert (caught.value.reason, caught.value.code) == (
        sodafountain.Reason.API_KEY_INVALID,
        grpc.StatusCode.UNAUTHENTICATED,
    )
    assert "secret" not in repr(caught.value)


def test_an_empty_api_key_is_no_api_key(connect: Connect) -> None:
    with pytest.raises(sodafountain.ApiKeyInvalid, match=r"^The API key is empty\.$"):
        connect("localhost:1", api_key="")


@pytest.mark.parametrize("wrong", [key for key in WRONG_TYPES if key is not None])
def test_what_is_no_text_is_no_api_key(connect: Connect, wrong: object) -> None:
    with pytest.raises(sodafountain.ApiKeyInvalid, match=rf"^The API key must be a str, not {type(wrong).__name__}\.$"):
        connect("localhost:1", api_key=wrong)


def test_every_visible_character_travels(client: Client, service: ScriptedService) -> None:
    visible = "".join(chr(code) for code in range(0x21, 0x7F))
    client.seat(GAME_ID, visible).state()
    assert service.asked[0].metadata["authorization"] == f"Bearer {visible}"


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
def test_an_address_of_every_kind_is_taken(connect: Connect, target: str) -> None:
    assert repr(connect(target)) == f"<Client of {target}>"


RIGHT = "give host:port, 'localhost:50051' for instance, or a gRPC target such as 'dns:///host:port' or 'unix:path'"
NO_PAIR = "is not host:port (an IPv6 address stands in brackets)"


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("", "is empty"),
        ("http://localhost:50051", "is a URL, or has a scheme that gRPC does not know"),
        ("https://games.example", "is a URL, or has a scheme that gRPC does not know"),
        ("grpc://localhost:50051", "is a URL, or has a scheme that gRPC does not know"),
        ("redis:///localhost:1", "is a URL, or has a scheme that gRPC does not know"),
        ("localhost", NO_PAIR),
        ("localhost:", NO_PAIR),
        (":50051", NO_PAIR),
        ("50051", NO_PAIR),
        ("localhost:http", NO_PAIR),
        ("localhost:-1", NO_PAIR),
        ("localhost:1.5", NO_PAIR),
        ("localhost:\N{ARABIC-INDIC DIGIT ONE}", NO_PAIR),
        ("localhost:50051/", NO_PAIR),
        ("::1:50051", NO_PAIR),
        ("[::1]", NO_PAIR),
        ("[localhost]:50051", NO_PAIR),
        ("dns:///games.example", NO_PAIR),
        ("dns:", NO_PAIR),
        ("localhost:0", "has no port from 1 to 65535"),
        ("localhost:65536", "has no port from 1 to 65535"),
        ("dns:///games.example:99999", "has no port from 1 to 65535"),
        ("localhost:999999", NO_PAIR),
        (" localhost:50051", "has white space or control characters in it"),
        ("localhost:50051\n", "has white space or control characters in it"),
        ("local host:50051", "has white space or control characters in it"),
        ("localhost\0:50051", "has white space or control characters in it"),
        ("unix:", "says nothing after 'unix:'"),
        ("unix://", "says nothing after 'unix:'"),
    ],
)
def test_what_is_no_address_is_refused_with_what_would_be_right(connect: Connect, target: str, problem: str) -> None:
    said = f"target {problem}" if not target else f"target {target!r} {problem}"
    with pytest.raises(ValueError, match=f"^{re.escape(f'{said}: {RIGHT}')}$"):
        connect(target)


@pytest.mark.parametrize("target", [None, 50051, b"localhost:50051", ("localhost", 50051)])
def test_an_address_is_text(connect: Connect, target: object) -> None:
    with pytest.raises(
        TypeError, match=rf"^target must be a str, 'localhost:50051' for instance, not {type(target).__name__}$"
    ):
        connect(target)


TIMEOUTS: list[tuple[Any, type[Exception], str]] = [
    (0, ValueError, "timeout must be more than 0 and at most 1000000000 seconds, not 0"),
    (-1, ValueError, "timeout must be more than 0 and at most 1000000000 seconds, not -1"),
    (-0.5, ValueError, "timeout must be more than 0 and at most 1000000000 seconds, not -0.5"),
    (math.nan, ValueError, "timeout must be more than 0 and at most 1000000000 seconds, not nan"),
    (math.inf, ValueError, "timeout must be more than 0 and at most 1000000000 seconds, not inf"),
    (10**10, ValueError, "timeout must be more than 0 and at most 1000000000 seconds, not 10000000000"),
    ("5", TypeError, "timeout must be a number of seconds, 2.5 for instance, not str"),
    (True, TypeError, "timeout must be a number of seconds, 2.5 for instance, not bool"),
    ([5], TypeError, "timeout must be a number of seconds, 2.5 for instance, not list"),
]
no_timeout = pytest.mark.parametrize(("timeout", "kind", "problem"), TIMEOUTS, ids=[repr(each[0]) for each in TIMEOUTS])


@no_timeout
def test_a_client_s_timeout_is_a_positive_number(
    connect: Connect, timeout: object, kind: type[Exception], problem: str
) -> None:
    with pytest.raises(kind, match=f"^{re.escape(problem)}$"):
        connect("localhost:1", timeout=timeout)


def test_a_client_has_a_timeout(connect: Connect) -> None:
    with pytest.raises(TypeError, match="not NoneType"):
        connect("localhost:1", timeout=None)


@no_timeout
def test_a_call_s_timeout_is_a_positive_number(
    client: Client, service: ScriptedService, timeout: object, kind: type[Exception], problem: str
) -> None:
    with pytest.raises(kind, match=f"^{re.escape(problem)}$"):
        client.seat(GAME_ID, "t").state(timeout=timeout)
    assert service.asked == []


@every_operation
def test_every_call_checks_its_timeout(
    client: Client, service: ScriptedService, operation: Operation, token: str | None
) -> None:
    with pytest.raises(ValueError, match="more than 0"):
        operation(client, {"timeout": -1})
    assert service.asked == []


def test_the_longest_timeout_can_be_kept(client: Client, service: ScriptedService) -> None:
    client.game_kinds(timeout=1_000_000_000)
    assert [asked.rpc for asked in service.asked] == ["ListGameKinds"]


@pytest.mark.parametrize(
    "target", ["http://user:hunter2@h:1", "user:hunter2@h:1", "dns:///user:hunter2@h:1", "dns://hunter2@h/x:1"]
)
def test_a_user_in_a_target_is_refused_and_not_repeated(connect: Connect, target: str) -> None:
    with pytest.raises(ValueError, match="names a user before") as caught:
        connect(target)

    assert "hunter2" not in str(caught.value)
    assert "user:" not in str(caught.value)
