"""CPU per call, as a ratio to the no-op, for every RPC at three stages of each game."""

import itertools
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any, Final, NamedTuple

import grpc

from service.kinds import Kind
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tools.bench.games import STAGES, Script, Variant, script
from tools.bench.server import NOOP, Served

CONNECTIONS: Final = 4
"""How many callers call at once, each over a connection of its own."""
_SECONDS: Final = 30.0

Call = Callable[[], Any]


class Cost(NamedTuple):
    """What a call costs the server: microseconds of CPU, and the ratio to the no-op around it."""

    rpc: str
    game: str
    stage: str
    cache: str
    micros: float
    ratio: float


class _Caller:
    """One of several callers: its connection, and a game of its own for each purpose."""

    def __init__(self, target: str) -> None:
        self.channel = grpc.insecure_channel(target, options=(("grpc.use_local_subchannel_pool", 1),))
        self.stub = GameServiceStub(self.channel)
        self.noop = self.channel.unary_unary(NOOP)


class _Game(NamedTuple):
    """A game that went so far, and what comes next in it."""

    game_id: str
    host: tuple[tuple[str, str], ...]
    tokens: tuple[tuple[tuple[str, str], ...], ...]
    rest: Sequence[tuple[int, Any]]


def costs(server: Served, variant: Variant, cache: str, *, rounds: int, block: int) -> Iterator[Cost]:
    """Measures every RPC.

    Args:
        server: the server.
        variant: which game.
        cache: `hit` or `miss`, for the report; whether games are remembered is the server's setting.
        rounds: how many blocks of calls, each with a no-op block before and after; the median counts.
        block: how many calls a caller makes in a block.
    """
    callers = [_Caller(server.target) for _ in range(CONNECTIONS)]
    try:
        length = len(script(variant, 0).moves)
        if cache == "hit":
            yield _measured(server, callers, "NewGame", variant, "", cache, rounds, _news(variant, block))
        for stage, share in STAGES.items():
            games = _Games(variant, int(length * share))
            yield from _stage(server, callers, variant, stage, cache, rounds, block, games)
        if cache == "hit":
            finished = _Games(variant, None)
            yield _measured(
                server, callers, "GetHistory", variant, "finished", cache, rounds,
                finished.looks(block, lambda c, g: c.stub.GetHistory(pb.GetHistoryRequest(game_id=g.game_id, page_size=1000), timeout=_SECONDS)),
            )  # fmt: skip
            yield _measured(server, callers, "ListGameKinds", variant, "", cache, rounds, _lists(block))
    finally:
        for caller in callers:
            caller.channel.close()


def _stage(
    server: Served,
    callers: list[_Caller],
    variant: Variant,
    stage: str,
    cache: str,
    rounds: int,
    block: int,
    games: "_Games",
) -> Iterator[Cost]:
    def look(rpc: str, call: Callable[[_Caller, _Game], Any]) -> Cost:
        return _measured(server, callers, rpc, variant, stage, cache, rounds, games.looks(block, call))

    def awaited(game: _Game) -> dict[str, Any]:
        return {"metadata": game.tokens[game.rest[0][0]], "timeout": _SECONDS}

    yield look("LegalMoves", lambda c, g: c.stub.LegalMoves(pb.LegalMovesRequest(game_id=g.game_id), **awaited(g)))
    yield look("GetGame", lambda c, g: c.stub.GetGame(pb.GetGameRequest(game_id=g.game_id), **awaited(g)))
    yield look(
        "GetGame+moves",
        lambda c, g: c.stub.GetGame(pb.GetGameRequest(game_id=g.game_id, include_legal_moves=True), **awaited(g)),
    )
    yield look("Score", lambda c, g: c.stub.Score(pb.ScoreRequest(game_id=g.game_id), **awaited(g)))
    yield _measured(server, callers, "ApplyMove", variant, stage, cache, rounds, games.moves(block))


Block = Callable[[_Caller, int], list[Call]]
"""Prepares a block of calls for a caller (its number tells it from the others)."""


def _measured(
    server: Served, callers: list[_Caller], rpc: str, variant: Variant, stage: str, cache: str, rounds: int, block: Block
) -> Cost:
    micros, ratios = [], []
    for _ in range(rounds):
        prepared = [block(caller, number) for number, caller in enumerate(callers)]
        noops = [[lambda noop=caller.noop: noop(b"", timeout=_SECONDS)] * len(calls) for caller, calls in zip(callers, prepared, strict=True)]
        before, spent, after = (_block(server, calls) for calls in (noops, prepared, noops))
        micros.append(spent * 1e6)
        ratios.append(spent / ((before + after) / 2))
    return Cost(rpc, variant.name, stage, cache, median(micros), median(ratios))


def _block(server: Served, calls: list[list[Call]]) -> float:
    """Makes the calls, each list in a thread of its own; returns the server's CPU per call, in seconds."""

    def run(mine: list[Call]) -> None:
        for call in mine:
            call()

    threads = [threading.Thread(target=run, args=(mine,)) for mine in calls]
    before = server.cpu()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (server.cpu() - before) / sum(map(len, calls))


def _news(variant: Variant, block: int) -> Block:
    options = variant.kind.options(variant.options)

    def prepare(caller: _Caller, _number: int) -> list[Call]:
        requests = [
            pb.NewGameRequest(options=options, seat_count=variant.seats, request_id=str(uuid.uuid4()))
            for _ in range(block)
        ]
        return [lambda request=request: caller.stub.NewGame(request, timeout=_SECONDS) for request in requests]

    return prepare


def _lists(block: int) -> Block:
    def prepare(caller: _Caller, _number: int) -> list[Call]:
        return [lambda: caller.stub.ListGameKinds(pb.ListGameKindsRequest(), timeout=_SECONDS)] * block

    return prepare


class _Games:
    """Games of a variant that have gone so far (`length` moves; None: to the end)."""

    def __init__(self, variant: Variant, length: int | None) -> None:
        self._variant = variant
        self._length = length
        self._numbers = itertools.count()
        self._kept: dict[int, list[_Game]] = {}

    def looks(self, block: int, call: Callable[[_Caller, _Game], Any]) -> Block:
        """Calls that leave games as they are: a few games for each caller, in turn."""

        def prepare(caller: _Caller, number: int) -> list[Call]:
            if number not in self._kept:
                self._kept[number] = [self._made(caller) for _ in range(2)]
            games = itertools.islice(itertools.cycle(self._kept[number]), block)
            return [lambda game=game: call(caller, game) for game in games]

        return prepare

    def moves(self, block: int) -> Block:
        """Moves, a few in each of several fresh games, taking the games in turn."""
        each = 4

        def prepare(caller: _Caller, _number: int) -> list[Call]:
            games = [self._made(caller) for _ in range(-(-block // each))]
            calls: list[Call] = []
            for step in range(each):
                for game in games:
                    if step < len(game.rest):
                        calls.append(_apply(caller, game, step))
            return calls[:block]

        return prepare

    def _made(self, caller: _Caller) -> _Game:
        written = script(self._variant, next(self._numbers))
        made = caller.stub.NewGame(
            pb.NewGameRequest(options=written.options, seat_count=written.seats, seed=written.seed), timeout=_SECONDS
        )
        length = len(written.moves) if self._length is None else min(self._length, len(written.moves) - 1)
        game = _Game(
            made.state.game_id,
            (("authorization", f"Bearer {made.host_token}"),),
            tuple((("authorization", f"Bearer {token}"),) for token in made.seat_tokens),
            written.moves,
        )
        for step in range(length):
            _apply(caller, game, step)()
        return game._replace(rest=written.moves[length:])


def _apply(caller: _Caller, game: _Game, step: int) -> Call:
    seat, move = game.rest[step]
    request = pb.ApplyMoveRequest(game_id=game.game_id, move=move, request_id=str(uuid.uuid4()))
    return lambda: caller.stub.ApplyMove(request, metadata=game.tokens[seat], timeout=_SECONDS)


__all__ = ["Cost", "Kind", "Script", "costs"]
