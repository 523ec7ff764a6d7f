"""CPU time per call and its ratio to the no-op, for every RPC at three stages of each game."""

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
from tools.bench.server import CHANNEL_OPTIONS, NOOP, ServerProcess

CONNECTIONS: Final = 4
"""The number of concurrent callers, each with its own connection."""
_MOVES_PER_GAME: Final = 4
"""The number of moves per game in a block."""
_SECONDS: Final = 30.0

Call = Callable[[], Any]
Metadata = tuple[tuple[str, str], ...]


class Cost(NamedTuple):
    """The CPU time of a call in microseconds, and its ratio to the no-op."""

    rpc: str
    game: str
    stage: str
    cache: str
    micros: float
    ratio: float


class _Caller:
    """A caller with its own connection."""

    def __init__(self, target: str) -> None:
        self.channel = grpc.insecure_channel(target, options=CHANNEL_OPTIONS)
        self.stub = GameServiceStub(self.channel)
        self.noop: grpc.UnaryUnaryMultiCallable[bytes, bytes] = self.channel.unary_unary(NOOP)


Block = Callable[[_Caller], list[Call]]
"""A function that prepares a block of calls for a caller."""


class _Game(NamedTuple):
    """A game in progress, and its remaining moves."""

    game_id: str
    tokens: tuple[Metadata, ...]
    remaining: tuple[tuple[int, Move], ...]

    def call_arguments(self) -> dict[str, Any]:
        """Return the arguments for a call of the next seat."""
        seat = self.remaining[0][0] if self.remaining else 0
        return {"metadata": self.tokens[seat], "timeout": _SECONDS}

    def move(self, caller: _Caller, step: int) -> Call:
        """Prepare the move that is `step` moves ahead."""
        seat, move = self.remaining[step]
        request = pb.ApplyMoveRequest(game_id=self.game_id, move=move, request_id=str(uuid.uuid4()))
        return lambda: caller.stub.ApplyMove(request, metadata=self.tokens[seat], timeout=_SECONDS)


class _Games:
    """Games of a variant in which `length` moves have been made; None for finished games."""

    def __init__(self, variant: Variant, length: int | None) -> None:
        self._variant = variant
        self._length = length
        self._numbers = itertools.count()
        self._kept: dict[_Caller, list[_Game]] = {}

    def reads(self, block: int, call: Callable[[_Caller, _Game], Any]) -> Block:
        """Return a block of read-only calls that alternates between two games per caller."""

        def prepare(caller: _Caller) -> list[Call]:
            if caller not in self._kept:
                self._kept[caller] = [self._new_game(caller) for _ in range(2)]
            games = itertools.islice(itertools.cycle(self._kept[caller]), block)
            return [lambda game=game: call(caller, game) for game in games]  # type: ignore[misc]  # a default captures it

        return prepare

    def moves(self, block: int) -> Block:
        """Return a block of moves that alternates between several new games."""

        def prepare(caller: _Caller) -> list[Call]:
            games = [self._new_game(caller) for _ in range(-(-block // _MOVES_PER_GAME))]
            steps = itertools.product(range(_MOVES_PER_GAME), games)
            return [game.move(caller, step) for step, game in steps if step < len(game.remaining)][:block]

        return prepare

    def _new_game(self, caller: _Caller) -> _Game:
        planned = script(self._variant, next(self._numbers))
        request = pb.NewGameRequest(options=planned.options, seat_count=planned.seats, seed=planned.seed)
        created = caller.stub.NewGame(request, timeout=_SECONDS)
        length = len(planned.moves) if self._length is None else min(self._length, len(planned.moves) - 1)
        tokens = tuple((("authorization", f"Bearer {token}"),) for token in created.seat_tokens)
        game = _Game(created.state.game_id, tokens, planned.moves)
        for step in range(length):
            game.move(caller, step)()
        return game._replace(remaining=planned.moves[length:])


@dataclass(frozen=True)
class _Bench:
    """A server, its callers, and the number of rounds."""

    server: ServerProcess
    callers: tuple[_Caller, ...]
    variant: Variant
    cache: str
    rounds: int

    def cost(self, rpc: str, stage: str, block: Block) -> Cost:
        """Measure an RPC: each block between two blocks of no-ops. Return the medians."""
        micros, ratios = [], []
        for _ in range(self.rounds):
            prepared = [block(caller) for caller in self.callers]
            noops = [[_noop(caller)] * len(mine) for caller, mine in zip(self.callers, prepared, strict=True)]
            before, spent, after = (self._cpu_per_call(all_calls) for all_calls in (noops, prepared, noops))
            micros.append(spent * 1e6)
            ratios.append(spent / ((before + after) / 2))
        return Cost(rpc, self.variant.name, stage, self.cache, median(micros), median(ratios))

    def _cpu_per_call(self, all_calls: list[list[Call]]) -> float:
        """Make the calls, with one thread per caller; return the server's CPU time per call in seconds."""

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


def measure_calls(server: ServerProcess, variant: Variant, cache: str, *, rounds: int, block: int) -> Iterator[Cost]:
    """Measure every RPC.

    Args:
        server: the server.
        variant: the game.
        cache: `hit` or `miss`, for the report only; the server's settings determine whether games are cached.
        rounds: the number of blocks.
        block: the number of calls per caller in a block.
    """
    callers = tuple(_Caller(server.target) for _ in range(CONNECTIONS))
    bench = _Bench(server, callers, variant, cache, rounds)
    try:
        length = len(script(variant, 0).moves)
        for stage, share in STAGES.items():
            yield from _at_stage(bench, stage, _Games(variant, int(length * share)), block)
        if cache == "hit":
            yield from _independent_of_stage(bench, block)
    finally:
        for caller in callers:
            caller.channel.close()


def _at_stage(bench: _Bench, stage: str, games: _Games, block: int) -> Iterator[Cost]:
    reads: dict[str, Callable[[_Caller, _Game], Any]] = {
        "LegalMoves": lambda c, g: c.stub.LegalMoves(pb.LegalMovesRequest(game_id=g.game_id), **g.call_arguments()),
        "GetGame": lambda c, g: c.stub.GetGame(pb.GetGameRequest(game_id=g.game_id), **g.call_arguments()),
        "GetGame+moves": lambda c, g: c.stub.GetGame(
            pb.GetGameRequest(game_id=g.game_id, include_legal_moves=True), **g.call_arguments()
        ),
        "Score": lambda c, g: c.stub.Score(pb.ScoreRequest(game_id=g.game_id), **g.call_arguments()),
    }
    for rpc, call in reads.items():
        yield bench.cost(rpc, stage, games.reads(block, call))
    yield bench.cost("ApplyMove", stage, games.moves(block))


def _independent_of_stage(bench: _Bench, block: int) -> Iterator[Cost]:
    options, seats = bench.variant.translation.options_message(bench.variant.options), bench.variant.seats
    kinds, history = pb.ListGameKindsRequest(), pb.GetHistoryRequest(page_size=1000)

    def new(caller: _Caller) -> Call:
        request = pb.NewGameRequest(options=options, seat_count=seats, request_id=str(uuid.uuid4()))
        return lambda: caller.stub.NewGame(request, timeout=_SECONDS)

    def read_history(caller: _Caller, game: _Game) -> Any:
        history.game_id = game.game_id
        return caller.stub.GetHistory(history, **game.call_arguments())

    def delete(caller: _Caller) -> Call:
        created = new(caller)()
        request, host = pb.DeleteGameRequest(game_id=created.state.game_id), f"Bearer {created.host_token}"
        return lambda: caller.stub.DeleteGame(request, metadata=(("authorization", host),), timeout=_SECONDS)

    yield bench.cost("DeleteGame", "", lambda caller: [delete(caller) for _ in range(block)])
    yield bench.cost("NewGame", "", lambda caller: [new(caller) for _ in range(block)])
    yield bench.cost("GetHistory", "finished", _Games(bench.variant, None).reads(block // 4, read_history))
    yield bench.cost("ListGameKinds", "", lambda c: [lambda: c.stub.ListGameKinds(kinds, timeout=_SECONDS)] * block)
