"""Golden games: whole games as text for people to check against the rules, and snapshots that every release must read.

Each kind of game has a module `tests.engine.<kind>.playthrough` with what is its own. After a change that is meant,
write them all anew and read the difference:

    python -m tests.engine.golden
"""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from engine.catalogue import GAMES
from engine.codec import Codec
from engine.rng import Rng
from engine.texts import format_points
from tests.engine.plays import pick

SEED: Final = bytes(range(32))
EVENNESS: Final = 0.25


class Golden(NamedTuple):
    """A golden game: how it is set up, and the luck that picks the moves."""

    options: Any
    seat_count: int
    luck: int


class Playthrough:
    """The golden games of a kind.

    Its module defines GAMES (every golden game by its file's name), SNAPSHOT (the one of them whose last state before
    the end is kept as a snapshot: it should use every part of a state), and `tell`, which tells an event and what
    people need to check it, given the state after the move. It may define `act`, which picks a seat and its move where
    chance alone does not show much; `picture`, which draws the state after a move of a seat and its events; and
    `fullness`, by which the state that is kept as a snapshot is picked where the last one is not the fullest.
    """

    def __init__(self, kind: str) -> None:
        module = import_module(f"tests.engine.{kind}.playthrough")
        self.game = GAMES[kind]
        self.games: dict[str, Golden] = module.GAMES
        self._snapshot: str = module.SNAPSHOT
        self._tell: Callable[[Any, Any], Iterator[str]] = module.tell
        self._act: Callable[[Any, Random], tuple[int, Any]] = getattr(module, "act", self._by_chance)
        self._picture: Callable[[Any, int, Any], Iterable[str]] = getattr(module, "picture", lambda *_: ())
        self._fullness: Callable[[Any], Any] | None = getattr(module, "fullness", None)
        self.folder = Path(str(module.__file__)).parent / "golden"

    def text(self, name: str) -> str:
        """Plays a golden game and tells it."""
        return "\n".join(self._text(self.games[name])) + "\n"

    def snapshot(self) -> bytes:
        """Encodes the last state before the end of the game that is kept so, or the fullest."""
        states = [state for state, _, _ in self._play(self.games[self._snapshot])]
        state = states[-1] if self._fullness is None else max(states, key=self._fullness)
        return Codec(self.game).encode_snapshot(state)

    def schemas(self) -> list[Path]:
        """Lists the snapshots of every schema that there has been."""
        return sorted(self.folder.glob("schema-*.msgpack"))

    def regenerate(self) -> None:
        """Writes every golden file anew."""
        self.folder.mkdir(exist_ok=True)
        for name in self.games:
            (self.folder / f"{name}.txt").write_text(self.text(name), encoding="utf-8")
        snapshot = self.folder / f"schema-{self.game.about.schema}.msgpack"
        snapshot.write_bytes(self.snapshot())
        state = Codec(self.game).decode_snapshot(snapshot.read_bytes())
        snapshot.with_suffix(".txt").write_text(shown(state), encoding="utf-8")

    def _play(self, golden: Golden) -> Iterator[tuple[Any, int, Any]]:
        """Plays a golden game: each state before its end, who moves then and how."""
        game, luck = self.game, Random(golden.luck)
        state, _ = game.new_game(golden.options, golden.seat_count, Rng(SEED))
        while game.to_act(state):
            seat, move = self._act(state, luck)
            yield state, seat, move
            state, _ = game.apply(state, seat, move)

    def _by_chance(self, state: Any, luck: Random) -> tuple[int, Any]:
        awaited = self.game.to_act(state)
        seat = awaited[0] if len(awaited) == 1 else luck.choice(awaited)
        return seat, pick(self.game.legal_moves(state, seat), luck, EVENNESS)

    def _text(self, golden: Golden) -> Iterator[str]:
        game = self.game
        yield f"# A golden game of {game.about.title}. Regenerate with: python -m tests.engine.golden"
        yield f"# {golden.options}, {golden.seat_count} seats"
        after, events = game.new_game(golden.options, golden.seat_count, Rng(SEED))
        yield from self._told(after, events)
        for state, seat, move in self._play(golden):
            yield f"seat {seat}, {len(game.legal_moves(state, seat))} legal moves: {game.label(move)}"
            after, events = game.apply(state, seat, move)
            yield from self._told(after, events)
            yield from self._picture(after, seat, events)
        score = game.score(after)
        yield ""
        yield f"== {score.note} =="
        for standing in score.seats:
            breakers = f", tie breakers {standing.tie_breakers}" if standing.tie_breakers else ""
            yield f"seat {standing.seat}: {format_points(standing.total)} points, rank {standing.rank}{breakers}"
            for line in standing.lines:
                yield f"{f'  round {line.round}' * bool(line.round)}  {line.label}: {format_points(line.points)}"

    def _told(self, state: Any, events: tuple[Any, ...]) -> Iterator[str]:
        for event in events:
            yield from self._tell(state, event)


def shown(state: Any) -> str:
    """A state as text, one field a line."""
    return "".join(f"{field} = {getattr(state, field)!r}\n" for field in state.__struct_fields__)


if __name__ == "__main__":
    for each in GAMES:
        Playthrough(each).regenerate()
