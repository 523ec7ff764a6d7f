"""Games at several stages, valid requests about them, and the information that each caller may see.

Everything is drawn from the seed: the same number makes the same request for a game at the same stage. Only ids and
tokens differ from run to run.
"""

import itertools
import random
import uuid
from typing import Any, Final, NamedTuple

import grpc
from google.protobuf.message import Message

from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support import forging
from tests.support.game_clients import SECONDS, Game, new_game, play
from tests.support.transcripts import parts

API_KEY: Final = "a-key-of-the-fuzzer-alone"
SCRIPTED: Final = 20
"""One request of this many is the next valid move of an active game."""
_KEY_METADATA: Final = (("x-api-key", API_KEY),)
_METHODS: Final = (
    *("NewGame", "LegalMoves", "LegalMoves", "ApplyMove", "ApplyMove", "ApplyMove", "ApplyMove", "Score"),
    *("GetGame", "GetGame", "GetHistory", "ListGameKinds", "DeleteGame", "Check", "WatchGame", "WatchGame"),
)

Metadata = tuple[tuple[str, str | bytes], ...]
Viewer = int | None


class Planned(NamedTuple):
    """A valid request and its caller.

    Attributes:
        method: the RPC; `Scripted` is an ApplyMove that is sent unchanged.
        request: the request.
        metadata: the metadata.
        viewers: the viewers that the caller may act for; empty for an invalid caller.
    """

    method: str
    request: Message
    metadata: Metadata
    viewers: frozenset[Viewer]


class Step(NamedTuple):
    """A move of a finished game."""

    seat: int
    move: game_pb2.Move


class Script(NamedTuple):
    """A finished game, and the settings that repeat it."""

    options: game_pb2.Options
    seats: int
    seed: bytes
    steps: list[Step]


class StaticGame(NamedTuple):
    """A game that no request can change, and what each viewer may see of it, by method."""

    game: Game
    allowed: dict[str, dict[Viewer, frozenset[bytes]]]

    def is_unchanged(self) -> bool:
        """Make all calls again and compare."""
        try:
            return _allowed(self.game) == self.allowed
        except grpc.RpcError:
            return False


class Fixtures(NamedTuple):
    """Data that all rounds share: for each kind of game a script, and a finished and a half-played static game."""

    scripts: list[Script]
    static: list[StaticGame]


def create_fixtures(stub: GameServiceStub, seed: int) -> Fixtures:
    """Play a game of each kind to its end, and another to its middle."""
    rng = random.Random(seed)
    fixtures = Fixtures([], [])
    for kind in stub.ListGameKinds(pb.ListGameKindsRequest(), timeout=SECONDS).game_kinds:
        options, info = rng.choice(list(zip(kind.presets, kind.preset_infos, strict=True)))
        seats = min(info.min_seats + 1, info.max_seats)
        game_seed = rng.randbytes(32)
        over = _new(stub, seats, options, game_seed)
        play(over, rng)
        entries = over.host.history(page_size=1000).entries
        script = [Step(entry.seat, entry.move) for entry in entries if entry.HasField("move")]
        half = _new(stub, seats, options, rng.randbytes(32))
        play(half, rng, moves=len(script) // 2)
        fixtures.scripts.append(Script(options, seats, game_seed, script))
        fixtures.static.extend(StaticGame(game, _allowed(game)) for game in (over, half))
    return fixtures


def _new(stub: GameServiceStub, seats: int, options: game_pb2.Options, seed: bytes) -> Game:
    return new_game(stub, seats, options, _KEY_METADATA, seed=seed)


def _allowed(game: Game) -> dict[str, dict[Viewer, frozenset[bytes]]]:
    """Make every call for every viewer."""
    callers: dict[Viewer, Any] = {None: game.spectator, **dict(enumerate(game.seats))}

    def received(method: str, viewer: Viewer, *requests: Message) -> frozenset[bytes]:
        call = getattr(game.spectator.stub, method)
        return frozenset(
            _comparable(call(request, metadata=callers[viewer].metadata, timeout=SECONDS)) for request in requests
        )

    looks = [pb.GetGameRequest(game_id=game.game_id, include_legal_moves=flag) for flag in (False, True)]
    legal, score = pb.LegalMovesRequest(game_id=game.game_id), pb.ScoreRequest(game_id=game.game_id)
    return {
        "GetGame": {viewer: received("GetGame", viewer, *looks) for viewer in callers},
        "LegalMoves": {viewer: received("LegalMoves", viewer, legal) for viewer in callers if viewer is not None},
        "Score": {viewer: received("Score", viewer, score) for viewer in callers},
        "WatchGame": {viewer: _watched(game, callers[viewer]) for viewer in callers},
    }


def _watched(game: Game, caller: Any) -> frozenset[bytes]:
    """Return the first message of a new watch, of one that resumes at the first version, and at the newest."""
    heads = ("", game.created.state.etag, game.spectator.state().etag)
    messages = set()
    for head, flag in itertools.product(heads, (False, True)):
        token = f"w{head}" if head else ""
        request = pb.WatchGameRequest(game_id=game.game_id, include_legal_moves=flag, resume_token=token)
        watch = game.spectator.stub.WatchGame(request, metadata=caller.metadata, timeout=SECONDS)
        messages.add(_comparable(next(watch)))
        watch.cancel()
    return frozenset(messages)


def _comparable(message: Message) -> bytes:
    """Return a message without the expiry of its game, which changes while a seat watches it."""
    copy = type(message)()
    copy.CopyFrom(message)
    for part in parts(copy):
        if "expire_time" in part.DESCRIPTOR.fields_by_name:
            part.ClearField("expire_time")
    return copy.SerializeToString(deterministic=True)


class FuzzModel:
    """The games of a round: two of each kind are active, one from the start and one from the middle.

    Attributes:
        live: the active games.
        versions: their versions at the start of the round, by id.
    """

    def __init__(self, stub: GameServiceStub, fixtures: Fixtures) -> None:
        self._scripts = fixtures.scripts
        self._static = {static.game.game_id: static for static in fixtures.static}
        self.live: list[Game] = []
        self._to_come: list[list[Step]] = []
        for script in fixtures.scripts:
            for start in (0, len(script.steps) // 2):
                game = _new(stub, script.seats, script.options, script.seed)
                for step in script.steps[:start]:
                    game.seats[step.seat].apply(step.move)
                self.live.append(game)
                self._to_come.append(script.steps[start:])
        self.versions = {game.game_id: game.spectator.state().version for game in self.live}
        self._games = [*self.live, *(static.game for static in fixtures.static)]

    def request(self, number: int, rng: random.Random) -> Planned:
        """Return the valid request for a number of the round."""
        if number % SCRIPTED == 0 and (scripted := self._scripted(number // SCRIPTED)) is not None:
            return scripted
        method = rng.choice(_METHODS)
        if method == "NewGame":
            return self._new_game(rng)
        if method in {"ListGameKinds", "Check"}:
            return Planned(method, pb.ListGameKindsRequest(), _noise(rng), frozenset())
        game = rng.choice(self._games)
        metadata, viewers = self._caller(game, rng)
        if method in {"ApplyMove", "DeleteGame"} and viewers and game.game_id in self._static:
            metadata, viewers = (), frozenset({None})  # static games must not change, not even by a valid request
        if method == "DeleteGame" and len(viewers) > 1 and rng.random() < 0.95:
            metadata, viewers = _bearer(game.created.seat_tokens[0]), frozenset({0})  # most games must last longer
        request: Any = getattr(pb, f"{method}Request")(game_id=game.game_id)
        fields = request.DESCRIPTOR.fields_by_name
        if "seat" in fields and rng.random() < 0.3:
            request.seat = rng.choice(sorted(viewer for viewer in viewers if viewer is not None) or [0])
        if "include_legal_moves" in fields:
            request.include_legal_moves = rng.random() < 0.5
        if method == "ApplyMove":
            request.move.CopyFrom(rng.choice(rng.choice(self._scripts).steps).move)
            if rng.random() < 0.7:
                request.request_id = _request_id(rng)
            if rng.random() < 0.2:
                request.etag = rng.choice(("7-0123456789abcdef", game.created.state.etag))
        if method == "WatchGame" and rng.random() < 0.5:
            request.resume_token = self._resume_token(game, rng)
        return Planned(method, request, metadata, viewers)

    def _scripted(self, number: int) -> Planned | None:
        turn, which = divmod(number, len(self.live))
        if turn >= len(self._to_come[which]):
            return None
        game, step = self.live[which], self._to_come[which][turn]
        request = pb.ApplyMoveRequest(game_id=game.game_id, move=step.move, include_legal_moves=True)
        return Planned("Scripted", request, _bearer(game.created.seat_tokens[step.seat]), frozenset({step.seat}))

    def _resume_token(self, game: Game, rng: random.Random) -> str:
        """Return a random token: of the game's first version, of another game, of an unknown head, or malformed."""
        other = rng.choice(self._games)
        nonce = f"{rng.getrandbits(64):016x}"
        return rng.choice(
            (
                f"w{game.created.state.etag}",
                f"w{other.created.state.etag}",
                f"w{rng.choice((1, 2, 7, 999_999_999))}-{nonce}",
                game.created.state.etag,
                f"w0-{nonce}",
                f"w-1-{nonce}",
                "w" * rng.choice((1, 64)),
                f"w1-{'z' * 33}",
                "w1-\u00e9",
                f" w1-{nonce}",
                f"w1-{nonce}\n",
            )
        )

    def _new_game(self, rng: random.Random) -> Planned:
        script = rng.choice(self._scripts)
        request = pb.NewGameRequest(options=script.options, seat_count=script.seats, sealed=rng.random() < 0.2)
        if rng.random() < 0.5:
            request.request_id = _request_id(rng)
        if rng.random() < 0.2:
            request.seed = rng.randbytes(32)
        key = rng.choice((API_KEY, API_KEY, API_KEY, API_KEY[:-1], ""))
        return Planned("NewGame", request, (("x-api-key", key),), frozenset())

    def _caller(self, game: Game, rng: random.Random) -> tuple[Metadata, frozenset[Viewer]]:
        """Return a random caller of a game: a seat, its host, a spectator, another game's host, or a forger."""
        kind = rng.random()
        seat = rng.randrange(len(game.seats))
        token = game.created.seat_tokens[seat]
        if kind < 0.4:
            return (*_bearer(token), *_noise(rng)), frozenset({seat})
        if kind < 0.55:
            return _bearer(game.created.host_token), frozenset({*range(len(game.seats)), None})
        if kind < 0.7:
            return _noise(rng), frozenset({None})
        stranger = rng.choice([other for other in self.live if other is not game]).created.host_token
        at = rng.randrange(len(token) - 8)
        forged = forging.token({"game": game.game_id, "role": "host"}, key=bytes(32))
        return rng.choice(
            (
                _bearer(stranger),
                _bearer(forged),
                _bearer(forging.with_a_flipped_bit(token)),
                _bearer(forging.with_claims(token, {"game": game.game_id, "role": "host"})),
                _bearer(f"{token[:at]}!{token[at + 1 :]}"),
                _bearer(token[:at]),
                _bearer(token * 4),
                _bearer(""),
                (("authorization", token),),
                (("authorization", f"Basic {token}"),),
                (*_bearer(token), *_bearer(stranger)),
                (*_bearer(token), ("authorization", "")),
            )
        ), frozenset()

    def leaks(self, planned: Planned, request: Message, answer: bytes) -> bool:
        """Return whether a response contains what its caller may not see."""
        game_id = getattr(request, "game_id", "")
        if game_id != getattr(planned.request, "game_id", ""):
            return False  # spliced with another request, whose game the caller may know
        if not planned.viewers:
            return bool(game_id)
        static = self._static.get(game_id)
        if static is None or planned.method not in static.allowed:
            return False
        response = getattr(pb, f"{planned.method}Response").FromString(answer)
        by_viewer = static.allowed[planned.method]
        comparable = _comparable(response)
        return not any(comparable in by_viewer.get(viewer, ()) for viewer in planned.viewers)

    def version(self, game: Game) -> int | None:
        """Return the version of a game; None if it does not exist."""
        try:
            return game.spectator.state().version
        except grpc.RpcError:
            return None


def _request_id(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def _bearer(token: str) -> Metadata:
    return (("authorization", f"Bearer {token}"),)


def _noise(rng: random.Random) -> Metadata:
    """Return metadata without a meaning for the service."""
    if rng.random() < 0.9:
        return ()
    return rng.choice(
        (
            tuple((f"key-{number}", "v") for number in range(60)),
            (("x-api-key", "k" * rng.choice((0, 1, 500))),),
            (("trace-bin", rng.randbytes(60)), ("trace-bin", b"")),
            (("grpc-trace-bin", rng.randbytes(3)), ("traceparent", "00-" + "f" * 32)),
            (("authorization-bin", rng.randbytes(20)),),
            (("x-request-id", "'; DROP TABLE games; --"),),
        )
    )
