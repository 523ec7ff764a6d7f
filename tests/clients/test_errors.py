"""The error of a failed call: for every reason of the service, and for every failure without a reason."""

import pickle
import socket
from collections.abc import Iterator

import grpc
import pytest
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

import sodafountain
from sodafountain._rpc_errors import BY_REASON
from sodafountain.v1.errors_pb2 import ErrorReason
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions
from tests.clients.blocking_aio import Client, Connect
from tests.clients.scripted_service import GAME_ID, ErrorReply, ScriptedService, error_reply, flip

every_reason = pytest.mark.parametrize("reason", sodafountain.Reason, ids=str)


def fail(client: Client) -> sodafountain.SodaFountainError:
    """Apply a move that fails and return the error."""
    with pytest.raises(sodafountain.SodaFountainError) as caught:
        client.seat(GAME_ID, "secret-token").apply(flip(1), request_id="request-id", timeout=10)
    return caught.value


def test_the_reasons_are_those_of_the_api_without_their_prefix() -> None:
    defined = {name.removeprefix("ERROR_REASON_"): value for name, value in ErrorReason.items() if value}
    assert {reason.name: reason.value for reason in sodafountain.Reason} == defined


def test_a_reason_formats_as_its_name_and_equals_the_enum_value(client: Client, service: ScriptedService) -> None:
    service.responses.append(error_reply(grpc.StatusCode.ABORTED, "STALE_ETAG"))
    reason = fail(client).reason
    assert reason == ErrorReason.ERROR_REASON_STALE_ETAG
    assert reason != ErrorReason.ERROR_REASON_LIMIT
    assert {reason: "found"}.get(sodafountain.Reason(ErrorReason.ERROR_REASON_STALE_ETAG)) == "found"
    assert reason is sodafountain.Reason.STALE_ETAG
    assert f"{reason!s} {reason} {reason!r}" == "STALE_ETAG STALE_ETAG <Reason.STALE_ETAG: 5>"


@every_reason
def test_every_reason_has_its_own_public_class(reason: sodafountain.Reason) -> None:
    kind = BY_REASON[reason]
    assert [each for each, other in BY_REASON.items() if other is kind] == [reason]
    assert getattr(sodafountain, kind.__name__) is kind
    assert kind.__name__ in sodafountain.__all__


@every_reason
def test_an_error_with_a_reason_has_its_class_and_all_attributes(
    client: Client, service: ScriptedService, reason: sodafountain.Reason
) -> None:
    code = grpc.StatusCode.FAILED_PRECONDITION
    service.responses.append(error_reply(code, reason.name, "It is the turn of seat 1.", version="7"))
    error = fail(client)
    assert type(error) is BY_REASON[reason]
    assert (error.code, error.reason, error.metadata) == (code, reason, {"version": "7"})
    assert str(error) == error.message == "It is the turn of seat 1."
    assert (error.field_violations, error.retry_delay) == ((), None)


def test_field_violations_are_listed(client: Client, service: ScriptedService) -> None:
    violations = BadRequest(
        field_violations=[
            BadRequest.FieldViolation(field="seat", description="must be at most 13"),
            BadRequest.FieldViolation(field="etag", description="must be at most 64 characters"),
        ]
    )
    service.responses.append(error_reply(grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED", "Invalid fields.", violations))
    assert fail(client).field_violations == (
        ("seat", "must be at most 13"),
        ("etag", "must be at most 64 characters"),
    )


def test_the_retry_delay_is_in_seconds(client: Client, service: ScriptedService) -> None:
    retry = RetryInfo(retry_delay=Duration(seconds=1, nanos=500_000_000))
    service.responses.append(error_reply(grpc.StatusCode.ABORTED, "CONTENTION", "Try again.", retry))
    assert fail(client).retry_delay == 1.5


def test_an_unknown_reason_keeps_code_message_and_metadata(client: Client, service: ScriptedService) -> None:
    service.responses.append(
        error_reply(grpc.StatusCode.FAILED_PRECONDITION, "TOO_SWEET", "It is too sweet.", version="7")
    )
    error = fail(client)
    assert type(error) is sodafountain.SodaFountainError
    assert (error.code, error.reason) == (grpc.StatusCode.FAILED_PRECONDITION, None)
    assert (str(error), error.metadata) == ("It is too sweet.", {"version": "7"})


def packed(*details: ErrorInfo, undecodable: bool = False) -> bytes:
    """Encode a Status with these details."""
    status = Status(code=9, message="From the details.")
    for detail in details:
        status.details.add().Pack(detail)
    if undecodable:
        url = f"type.googleapis.com/{ErrorInfo.DESCRIPTOR.full_name}"
        status.details.append(Any(type_url=url, value=b"\xff\xff"))
    return bytes(status.SerializeToString())


@pytest.mark.parametrize(
    "details",
    [
        None,
        b"",
        b"\xff\xff garbage",
        packed(),
        packed(undecodable=True),
        packed(ErrorInfo(reason="ILLEGAL_MOVE", domain="elsewhere.example")),
    ],
    ids=["none", "empty", "garbage", "no info", "undecodable info", "another domain"],
)
def test_an_error_without_decodable_details_reports_code_and_message(
    client: Client, service: ScriptedService, details: bytes | None
) -> None:
    service.responses.append(ErrorReply(grpc.StatusCode.FAILED_PRECONDITION, "Not now.", details))
    error = fail(client)
    assert type(error) is sodafountain.SodaFountainError
    assert (error.code, error.reason) == (grpc.StatusCode.FAILED_PRECONDITION, None)
    assert str(error) == f"ApplyMove failed at {service.target} with FAILED_PRECONDITION (Not now)."


@pytest.mark.parametrize(
    ("code", "error_class"),
    [
        (grpc.StatusCode.DEADLINE_EXCEEDED, sodafountain.DeadlineExceeded),
        (grpc.StatusCode.UNIMPLEMENTED, sodafountain.Unimplemented),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, sodafountain.LimitExceeded),
        (grpc.StatusCode.UNKNOWN, sodafountain.SodaFountainError),
    ],
)
def test_an_error_of_a_proxy_has_the_class_of_its_code(
    client: Client, service: ScriptedService, code: grpc.StatusCode, error_class: type[sodafountain.SodaFountainError]
) -> None:
    service.responses.append(ErrorReply(code, "upstream: went flat"))
    error = fail(client)
    assert (type(error), error.code, error.reason) == (error_class, code, None)
    assert service.target in str(error)


@pytest.mark.usefixtures("no_retries")
def test_a_server_that_keeps_shutting_down_is_unreachable(client: Client, service: ScriptedService) -> None:
    service.responses.append(ErrorReply(grpc.StatusCode.CANCELLED, "CANCELLED"))
    error = fail(client)
    assert type(error) is sodafountain.Unreachable
    assert str(error) == f"The server at {service.target} cancelled ApplyMove (CANCELLED)."


def test_a_decodable_detail_is_used_beside_an_undecodable_one(client: Client, service: ScriptedService) -> None:
    info = ErrorInfo(reason="ILLEGAL_MOVE", domain="sodafountain")
    service.responses.append(
        ErrorReply(grpc.StatusCode.FAILED_PRECONDITION, "Not now.", packed(info, undecodable=True))
    )
    assert type(fail(client)) is sodafountain.IllegalMove


@pytest.mark.usefixtures("no_retries")
def test_the_error_for_a_stopped_server_names_its_address(connect: Connect, stopped_service: ScriptedService) -> None:
    error = fail(connect(stopped_service.target))
    assert (type(error), error.code) == (sodafountain.Unreachable, grpc.StatusCode.UNAVAILABLE)
    assert str(error) == f"Cannot reach a Soda Fountain service at {stopped_service.target} (Connection refused)."


@pytest.mark.usefixtures("no_retries")
def test_the_error_for_an_unknown_host_names_it(connect: Connect) -> None:
    error = fail(connect("fountain.invalid:1", allow_insecure=True))
    assert type(error) is sodafountain.Unreachable
    assert "fountain.invalid:1" in str(error)


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that accepts connections and never sends anything."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_silent_server_raises_at_the_deadline(connect: Connect, silent_port: int) -> None:
    client = connect(f"localhost:{silent_port}", timeout=0.3)
    with pytest.raises(sodafountain.DeadlineExceeded) as caught:
        client.game_kinds()
    assert str(caught.value) == f"localhost:{silent_port} did not answer ListGameKinds within 0.3 s."
    assert caught.value.code is grpc.StatusCode.DEADLINE_EXCEEDED


def test_an_error_has_the_request_id_but_prints_no_secret(client: Client, service: ScriptedService) -> None:
    service.responses.append(error_reply(grpc.StatusCode.ABORTED, "CONTENTION", "Try again."))
    error = fail(client)
    assert error.request_id == "request-id"
    printed = f"{error!r} {error} {error.__cause__!r} {error.__cause__}"
    assert "request-id" not in printed
    assert "secret-token" not in printed


def test_an_error_of_a_call_without_a_request_id_has_no_request_id(client: Client, service: ScriptedService) -> None:
    service.responses.append(error_reply(grpc.StatusCode.NOT_FOUND, "GAME_NOT_FOUND"))
    with pytest.raises(sodafountain.GameNotFound) as caught:
        client.spectator(GAME_ID).score()
    assert caught.value.request_id is None


def test_a_failed_new_game_can_be_repeated_with_the_request_id(client: Client, service: ScriptedService) -> None:
    service.responses.append(error_reply(grpc.StatusCode.DEADLINE_EXCEEDED, "UNCONFIRMED"))
    with pytest.raises(sodafountain.Unconfirmed) as caught:
        client.new_game(SodaJerkOptions(), 3)
    client.new_game(SodaJerkOptions(), 3, request_id=caught.value.request_id)
    first, second = service.requests()
    assert first == second


def test_an_error_can_be_pickled(client: Client, service: ScriptedService) -> None:
    service.responses.append(error_reply(grpc.StatusCode.ABORTED, "STALE_ETAG", "Get the state again.", version="7"))
    error = fail(client)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is sodafountain.StaleEtag
    assert vars(copy) == vars(error)
    assert str(copy) == "Get the state again."
