"""Handles keep the commitment to the seed, and reject states and histories that do not match it."""

import hashlib
from collections.abc import Callable
from typing import Any

import grpc
import pytest

import sodafountain
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_pb2 import GAME_STATUS_ACTIVE, GAME_STATUS_FINISHED, GameState, Options
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions
from tests.clients.blocking_aio import Client
from tests.clients.scripted_service import COMMITMENT, GAME_ID, ScriptedService, flip, state
from tests.clients.watch_messages import snapshot, update

OTHER = bytes(32)
SEED = bytes(range(32))
OPTIONS = Options(soda_jerk=SodaJerkOptions(advanced=True, copies_per_value=[3, 3, 3]))
TEXT = (
    f"sodafountain.v1\ngame {GAME_ID}\nseats 3\n"
    'options {"sodaJerk":{"advanced":true,"copiesPerValue":[3,3,3]}}\n'
    f"seed {SEED.hex()}\n"
)
CHANGED = f"^The seed commitment of game {GAME_ID} has changed\\.$"
NO_MATCH = f"^The history of game {GAME_ID} does not match its seed commitment\\.$"


def with_commitment(commitment: bytes) -> GameState:
    """Return a state with a commitment."""
    changed = state("e", viewer=0, awaiting=(0,))
    changed.seed_commitment = commitment
    return changed


def finished(text: str = TEXT, **fields: Any) -> pb.GetHistoryResponse:
    """Return the history of a finished game, with the commitment to its text."""
    facts: dict[str, Any] = {
        "game_id": GAME_ID,
        "options": OPTIONS,
        "seat_count": 3,
        "status": GAME_STATUS_FINISHED,
        "seed_commitment": hashlib.sha256(text.encode()).digest(),
        "seed": SEED,
        "commitment_text": text,
    }
    return pb.GetHistoryResponse(**facts | fields)


def test_a_handle_keeps_the_commitment_of_its_first_state(client: Client, service: ScriptedService) -> None:
    seat = client.seat(GAME_ID, "t")
    assert seat.commitment is None
    service.responses.append(pb.GetGameResponse(state=with_commitment(COMMITMENT)))
    seat.state()
    assert seat.commitment == COMMITMENT


def test_a_state_without_a_commitment_is_not_kept(client: Client, service: ScriptedService) -> None:
    seat = client.seat(GAME_ID, "t")
    service.responses.append(pb.GetGameResponse(state=with_commitment(b"")))
    seat.state()
    assert seat.commitment is None


@pytest.mark.parametrize("found", [OTHER, b""], ids=["another", "none"])
def test_a_later_state_with_another_commitment_raises(client: Client, service: ScriptedService, found: bytes) -> None:
    spectator = client.spectator(GAME_ID)
    spectator.state()
    service.responses.append(pb.GetGameResponse(state=with_commitment(found)))
    with pytest.raises(sodafountain.CommitmentChanged, match=CHANGED) as caught:
        spectator.state()
    assert (caught.value.code, caught.value.reason) == (grpc.StatusCode.DATA_LOSS, None)
    assert caught.value.request_id is None
    assert spectator.commitment == COMMITMENT
    spectator.state()


def test_an_answer_to_a_move_with_another_commitment_raises(client: Client, service: ScriptedService) -> None:
    seat = client.seat(GAME_ID, "t", commitment=COMMITMENT)
    service.responses.append(pb.ApplyMoveResponse(state=with_commitment(OTHER)))
    with pytest.raises(sodafountain.CommitmentChanged, match=CHANGED) as caught:
        seat.apply(flip(1), request_id="r")
    assert caught.value.request_id == "r"


def test_a_rejected_state_opens_no_decision(client: Client, service: ScriptedService) -> None:
    seat = client.seat(GAME_ID, "t", commitment=COMMITMENT)
    service.responses.append(pb.GetGameResponse(state=with_commitment(OTHER)))
    with pytest.raises(sodafountain.CommitmentChanged):
        seat.state()
    seat.apply(flip(1))
    assert [request.etag for request in service.requests() if isinstance(request, pb.ApplyMoveRequest)] == [""]


@pytest.mark.parametrize("handle", ["seat", "host", "spectator"])
def test_a_saved_commitment_is_compared_with_the_first_state(
    client: Client, service: ScriptedService, handle: str
) -> None:
    restored = getattr(client, handle)(GAME_ID, "t", commitment=OTHER)
    assert restored.commitment == OTHER
    with pytest.raises(sodafountain.CommitmentChanged, match=CHANGED):
        restored.state()
    getattr(client, handle)(GAME_ID, "t", commitment=COMMITMENT).state()


@pytest.mark.parametrize(
    ("wrong", "error", "problem"),
    [
        ("ab" * 32, TypeError, r"^commitment must be bytes, such as `seat\.commitment`, not str$"),
        (b"", ValueError, "^commitment must have 32 bytes, not 0$"),
        (bytes(31), ValueError, "^commitment must have 32 bytes, not 31$"),
    ],
)
def test_an_invalid_commitment_raises(client: Client, wrong: object, error: type[Exception], problem: str) -> None:
    for create in (client.seat, client.host, client.spectator):
        with pytest.raises(error, match=problem):
            create(GAME_ID, "t", commitment=wrong)


def test_the_handles_of_a_new_game_share_its_commitment(client: Client, service: ScriptedService) -> None:
    game = client.new_game(SodaJerkOptions(), 3)
    assert {each.commitment for each in (game, game.host, *game.seats)} == {COMMITMENT}
    for each in (game.host, game.seats[1]):
        service.responses.append(pb.GetGameResponse(state=with_commitment(OTHER)))
        with pytest.raises(sodafountain.CommitmentChanged, match=CHANGED):
            each.state()


def test_a_watch_keeps_the_commitment_of_its_snapshot(client: Client, service: ScriptedService) -> None:
    first = snapshot(1)
    first.snapshot.seed_commitment = COMMITMENT
    changed = update(2, 2)
    changed.update.state.seed_commitment = OTHER
    service.streams.append([first, changed])
    spectator = client.spectator(GAME_ID)
    watch = iter(spectator.watch())
    assert next(watch).state.version == 1
    assert spectator.commitment == COMMITMENT
    with pytest.raises(sodafountain.CommitmentChanged, match=CHANGED):
        next(watch)
    assert len(service.received) == 1


@pytest.mark.parametrize("sealed", [False, True])
def test_a_history_that_reveals_nothing_needs_only_the_commitment(
    client: Client, service: ScriptedService, sealed: bool
) -> None:
    status = GAME_STATUS_FINISHED if sealed else GAME_STATUS_ACTIVE
    history = finished(commitment_text="", seed=b"", status=status, sealed=sealed, seed_commitment=COMMITMENT)
    service.responses.extend([history, history])
    assert client.seat(GAME_ID, "t", commitment=COMMITMENT).history() == history
    with pytest.raises(sodafountain.CommitmentChanged, match=CHANGED):
        client.seat(GAME_ID, "t", commitment=OTHER).history()


def test_a_history_is_compared_with_the_commitment_of_the_first_state(client: Client, service: ScriptedService) -> None:
    spectator = client.spectator(GAME_ID)
    spectator.state()
    service.responses.append(finished())
    with pytest.raises(sodafountain.CommitmentChanged, match=CHANGED):
        spectator.history()


def test_a_history_at_the_first_look_is_not_kept(client: Client, service: ScriptedService) -> None:
    spectator = client.spectator(GAME_ID)
    service.responses.append(finished())
    spectator.history()
    assert spectator.commitment is None


def replaced(old: str, new: str) -> Callable[[], pb.GetHistoryResponse]:
    """Return a function that creates a history with another text, and with the commitment to that text."""
    assert old in TEXT
    return lambda: finished(TEXT.replace(old, new))


@pytest.mark.parametrize(
    "history",
    [
        pytest.param(lambda: finished(commitment_text=TEXT + "more x\n"), id="another text"),
        pytest.param(lambda: finished(commitment_text="", seed_commitment=COMMITMENT), id="no text"),
        pytest.param(lambda: finished(""), id="an empty text"),
        pytest.param(lambda: finished(game_id="b" * 26), id="another id in the history"),
        pytest.param(lambda: finished(seat_count=2), id="another number of seats"),
        pytest.param(lambda: finished(seed=OTHER), id="another seed"),
        pytest.param(lambda: finished(TEXT.replace(SEED.hex(), ""), seed=b""), id="no seed"),
        pytest.param(lambda: finished(options=Options(soda_jerk=SodaJerkOptions())), id="other options"),
        pytest.param(lambda: finished(options=Options()), id="no options"),
        pytest.param(replaced("sodafountain.v1", "sodafountain.v2"), id="another heading"),
        pytest.param(replaced(f"game {GAME_ID}", f"game {'b' * 26}"), id="another id in the text"),
        pytest.param(replaced("options {", "options {{"), id="options that are not JSON"),
        pytest.param(replaced('options {"sodaJerk"', 'options ["sodaJerk"], {"sodaJerk"'), id="options after others"),
        pytest.param(replaced("seats 3\n", ""), id="a missing line"),
        pytest.param(replaced("seats 3\n", "seats 2\nseats 3\n"), id="a repeated line"),
        pytest.param(lambda: finished(TEXT.removesuffix("\n")), id="no line feed at the end"),
        pytest.param(lambda: finished(TEXT.replace("\n", "\r\n")), id="other line ends"),
    ],
)
def test_a_revealed_seed_must_be_that_of_the_commitment_and_the_game(
    client: Client, service: ScriptedService, history: Callable[[], pb.GetHistoryResponse]
) -> None:
    service.responses.append(history())
    with pytest.raises(sodafountain.CommitmentChanged, match=NO_MATCH):
        client.spectator(GAME_ID).history()


@pytest.mark.parametrize("other", ["[]", "null", "1", '"x"', '{"sodaJerk":1}', '{"sodaJerk":{"advanced":"yes"}}'])
def test_committed_options_of_another_type_do_not_match(client: Client, service: ScriptedService, other: str) -> None:
    line = next(line for line in TEXT.splitlines() if line.startswith("options "))
    service.responses.append(finished(TEXT.replace(line, f"options {other}")))
    with pytest.raises(sodafountain.CommitmentChanged, match=NO_MATCH):
        client.spectator(GAME_ID).history()


def test_a_complete_history_of_another_game_does_not_match(client: Client, service: ScriptedService) -> None:
    other = "b" * 26
    service.responses.append(finished(TEXT.replace(GAME_ID, other), game_id=other))
    with pytest.raises(sodafountain.CommitmentChanged, match=NO_MATCH):
        client.spectator(GAME_ID).history()


def later(message: Any, number: int, value: int) -> Any:
    """Return a message with a field or an enum value of a later release."""
    message.MergeFromString(bytes([number << 3, value]))
    return message


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ('{"sodaJerk":{"ice":true}}', Options(soda_jerk=later(SodaJerkOptions(), 15, 1))),
        ('{"sodaJerk":{"removedFlavor":"FLAVOR_MINT"}}', Options(soda_jerk=later(SodaJerkOptions(), 3, 99))),
        ('{"lemonade":{}}', later(Options(), 15, 1)),
    ],
    ids=["a field", "an enum value", "a kind of game"],
)
def test_options_of_a_later_release_are_accepted(
    client: Client, service: ScriptedService, line: str, options: Options
) -> None:
    text = f"sodafountain.v1\ngame {GAME_ID}\nseats 3\noptions {line}\nseed {SEED.hex()}\nentropy 00\n"
    service.responses.append(finished(text, options=options))
    assert client.spectator(GAME_ID).history().commitment_text == text
