"""CPU per call, as a ratio to the no-op, for every RPC at three stages of each game."""

import itertools
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any, Final, NamedTuple

import grpc

from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_pb2 import Move
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tools.bench.games import STAGES, Variant, script
from tools.bench.server import CONNECTION, NOOP, Served

CONNECTIONS: Final = 4
"""How many callers call at once, each over a connection of its own."""
_MOVES_EACH: Final = 4
"""How many moves of a game are timed in a block."""
_SECONDS: Final = 30.0

Call = Callable[[], Any]
Metadata = tuple[tuple[str, str], ...]


class Cost(NamedTuple):
    """What a call costs the server: microseconds of CPU, and the ratio to the no-op around it."""

    rpc: str
    game: str
    stage: str
    cache: str
    micros: float
    ratio: float


class _Caller:
    """One of several callers, with a connection of its own."""

    def __init__(self, target: str) -> None:
        self.channel = grpc.insecure_channel(target, options=CONNECTION)
        self.stub = GameServiceStub(self.channel)
        self.noop: grpc.UnaryUnaryMultiCallable[bytes, bytes] = self.channel.unary_unary(NOOP)


Block = Callable[[_Caller], list[Call]]
"""Prepares a block of calls for a caller."""


class _Game(NamedTuple):
    """A game that went so far, and what comes next in it."""

    game_id: str
    tokens: tuple[Metadata, ...]
    rest: tuple[tuple[int, Move], ...]

    def look(self) -> dict[str, Any]:
        """How its next seat makes a call."""
        seat = self.rest[0][0] if self.rest else 0
        return {"metadata": self.tokens[seat], "timeout": _SECONDS}

    def move(self, caller: _Caller, step: int) -> Call:
        """Prepares the move that comes `step` moves from now."""
        seat, move = self.rest[step]
        request = pb.ApplyMoveRequest(game_id=self.game_id, move=move, request_id=str(uuid.uuid4()))
        return lambda: caller.stub.ApplyMove(request, metadata=self.tokens[seat], timeout=_SECONDS)


class _Games:
    """Games of a variant that have gone `length` moves; None: to the end."""

    def __init__(self, variant: Variant, length: int | None) -> None:
        self._variant = variant
        self._length = length
        self._numbers = itertools.count()
        self._kept: dict[_Caller, list[_Game]] = {}

    def looked_at(self, block: int, call: Callable[[_Caller, _Game], Any]) -> Block:
        """Calls that leave games as they are, about two games for each caller, in turn."""

        def prepare(caller: _Caller) -> list[Call]:
            if caller not in self._kept:
                self._kept[caller] = [self._made(caller) for _ in range(2)]
            games = itertools.islice(itertools.cycle(self._kept[caller]), block)
            return [lambda game=game: call(caller, game) for game in games]  # type: ignore[misc]  # a default captures it

        return prepare

    def moved_on(self, block: int) -> Block:
        """A few moves in each of several fresh games, the games in turn."""

        def prepare(caller: _Caller) -> list[Call]:
            games = [self._made(caller) for _ in range(-(-block // _MOVES_EACH))]
            steps = itertools.product(range(_MOVES_EACH), games)
            return [game.move(caller, step) for step, game in steps if step < len(game.rest)][:block]

        return prepare

    def _made(self, caller: _Caller) -> _Game:
        written = script(self._variant, next(self._numbers))
        request = pb.NewGameRequest(options=written.options, seat_count=written.seats, seed=written.seed)
        made = caller.stub.NewGame(request, timeout=_SECONDS)
        length = len(written.moves) if self._length is None else min(self._length, len(written.moves) - 1)
        tokens = tuple((("authorization", f"Bearer {token}"),) for token in made.seat_tokens)
        game = _Game(made.state.game_id, tokens, written.moves)
        for step in range(length):
            game.move(caller, step)()
        return game._replace(rest=written.moves[length:])


@dataclass(frozen=True)
class _Bench:
    """A server, its callers, and how thoroughly to measure."""

    server: Served
    callers: tuple[_Caller, ...]
    variant: Variant
    cache: str
    rounds: int

    def cost(self, rpc: str, stage: str, block: Block) -> Cost:
        """Measures an RPC: each block between two blocks of no-ops; the median counts."""
        micros, ratios = [], []
        for _ in range(self.rounds):
            prepared = [block(caller) for caller in self.callers]
            noops = [[_noop(caller)] * len(mine) for caller, mine in zip(self.callers, prepared, strict=True)]
            before, spent, after = (self._spent(all_calls) for all_calls in (noops, prepared, noops))
            micros.append(spent * 1e6)
            ratios.append(spent / ((before + after) / 2))
        return Cost(rpc, self.variant.name, stage, self.cache, median(micros), median(ratios))

    def _spent(self, all_calls: list[list[Call]]) -> float:
        """Makes the calls, each caller's in a thread of its own; returns the server's CPU per call, in seconds."""

        def make(mine: list[Call]) -> None:
            for call in mine:
                call()

        threads = [threading.Thread(target=make, args=(mine,)) for mine in all_calls]
        before = self.server.cpu()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return (self.server.cpu() - before) / sum(map(len, all_calls))


def _noop(caller: _Caller) -> Call:
    return lambda: caller.noop(b"", timeout=_SECONDS)


def costs(server: Served, variant: Variant, cache: str, *, rounds: int, block: int) -> Iterator[Cost]:
    """Measures every RPC.

    Args:
        server: the server.
        variant: which game.
        cache: `hit` or `miss`, for the report; whether games are remembered is the server's setting.
        rounds: how many blocks of calls.
        block: how many calls each caller makes in a block.
    """
    callers = tuple(_Caller(server.target) for _ in range(CONNECTIONS))
    bench = _Bench(server, callers, variant, cache, rounds)
    try:
        length = len(script(variant, 0).moves)
        for stage, share in STAGES.items():
            yield from _at_stage(bench, stage, _Games(variant, int(length * share)), block)
        if cache == "hit":
            yield from _stageless(bench, block)
    finally:
        for caller in callers:
            caller.channel.close()


def _at_stage(bench: _Bench, stage: str, games: _Games, block: int) -> Iterator[Cost]:
    looks: dict[str, Callable[[_Caller, _Game], Any]] = {
        "LegalMoves": lambda c, g: c.stub.LegalMoves(pb.LegalMovesRequest(game_id=g.game_id), **g.look()),
        "GetGame": lambda c, g: c.stub.GetGame(pb.GetGameRequest(game_id=g.game_id), **g.look()),
        "GetGame+moves": lambda c, g: c.stub.GetGame(
            pb.GetGameRequest(game_id=g.game_id, include_legal_moves=True), **g.look()
        ),
        "Score": lambda c, g: c.stub.Score(pb.ScoreRequest(game_id=g.game_id), **g.look()),
    }
    for rpc, call in looks.items():
        yield bench.cost(rpc, stage, games.looked_at(block, call))
    yield bench.cost("ApplyMove", stage, games.moved_on(block))


def _stageless(bench: _Bench, block: int) -> Iterator[Cost]:
    options, seats = bench.variant.translation.options_message(bench.variant.options), bench.variant.seats
    kinds, history = pb.ListGameKindsRequest(), pb.GetHistoryRequest(page_size=1000)

    def new(caller: _Caller) -> Call:
        request = pb.NewGameRequest(options=options, seat_count=seats, request_id=str(uuid.uuid4()))
        return lambda: caller.stub.NewGame(request, timeout=_SECONDS)

    def whole(caller: _Caller, game: _Game) -> Any:
        history.game_id = game.game_id
        return caller.stub.GetHistory(history, **game.look())

    def delete(caller: _Caller) -> Call:
        made = new(caller)()
        request, host = pb.DeleteGameRequest(game_id=made.state.game_id), f"Bearer {made.host_token}"
        return lambda: caller.stub.DeleteGame(request, metadata=(("authorization", host),), timeout=_SECONDS)

    yield bench.cost("DeleteGame", "", lambda caller: [delete(caller) for _ in range(block)])
    yield bench.cost("NewGame", "", lambda caller: [new(caller) for _ in range(block)])
    yield bench.cost("GetHistory", "finished", _Games(bench.variant, None).looked_at(block // 4, whole))
    yield bench.cost("ListGameKinds", "", lambda c: [lambda: c.stub.ListGameKinds(kinds, timeout=_SECONDS)] * block)
