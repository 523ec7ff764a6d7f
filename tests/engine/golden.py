"""Golden games: whole games as text for people to check against the rules, and snapshots that every release must read.

Each kind of game has a module `tests.engine.<kind>.playthrough` that defines its golden games. After an intended
change, regenerate all files and read the difference:

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
    """A golden game: how it is set up, and the seed of the generator that picks the moves."""

    options: Any
    seat_count: int
    move_seed: int


class Playthrough:
    """The golden games of a kind.

    The kind's module defines:

    - `GAMES`: every golden game by its file's name.
    - `SNAPSHOT`: the game with the golden snapshot. It should use every part of a state.
    - `lines(state, event)`: the lines for an event, given the state after the move.
    - `act(state, random)`, optional: picks a seat and its move, for games in which random moves show little.
    - `picture(state, seat, events)`, optional: draws the state after a seat's move.
    - `fullness(state)`, optional: the state with the highest value becomes the golden snapshot. Without it, the last
      state before the end does.
    """

    def __init__(self, kind: str) -> None:
        module = import_module(f"tests.engine.{kind}.playthrough")
        self.game = GAMES[kind]
        self.games: dict[str, Golden] = module.GAMES
        self._snapshot: str = module.SNAPSHOT
        self._event_lines: Callable[[Any, Any], Iterator[str]] = module.lines
        self._act: Callable[[Any, Random], tuple[int, Any]] = getattr(module, "act", self._random_move)
        self._picture: Callable[[Any, int, Any], Iterable[str]] = getattr(module, "picture", lambda *_: ())
        self._fullness: Callable[[Any], Any] | None = getattr(module, "fullness", None)
        self.folder = Path(str(module.__file__)).parent / "golden"

    def text(self, name: str) -> str:
        """Play a golden game and return its text."""
        return "\n".join(self._text(self.games[name])) + "\n"

    def snapshot_state(self) -> Any:
        """Return the state of the golden snapshot."""
        states = [state for state, _, _ in self._play(self.games[self._snapshot])]
        return states[-1] if self._fullness is None else max(states, key=self._fullness)

    def schemas(self) -> list[Path]:
        """Return the golden snapshots of all schemas."""
        return sorted(self.folder.glob("schema-*.msgpack"))

    def regenerate(self) -> None:
        """Write all golden files."""
        self.folder.mkdir(exist_ok=True)
        for name in self.games:
            (self.folder / f"{name}.txt").write_text(self.text(name), encoding="utf-8")
        snapshot = self.folder / f"schema-{self.game.about.schema}.msgpack"
        snapshot.write_bytes(Codec(self.game).encode_snapshot(self.snapshot_state(), self.game.about.schema))
        state = Codec(self.game).decode_snapshot(snapshot.read_bytes())
        snapshot.with_suffix(".txt").write_text(self.game.format_state(state), encoding="utf-8")

    def _play(self, golden: Golden) -> Iterator[tuple[Any, int, Any]]:
        """Play a golden game and yield each state before its end, with the seat that moves and its move."""
        game, random = self.game, Random(golden.move_seed)
        state, _ = game.new_game(golden.options, golden.seat_count, Rng(SEED))
        while game.to_act(state):
            seat, move = self._act(state, random)
            yield state, seat, move
            state, _ = game.apply(state, seat, move)

    def _random_move(self, state: Any, random: Random) -> tuple[int, Any]:
        awaited = self.game.to_act(state)
        seat = awaited[0] if len(awaited) == 1 else random.choice(awaited)
        return seat, pick(self.game.legal_moves(state, seat), random, EVENNESS)

    def _text(self, golden: Golden) -> Iterator[str]:
        game = self.game
        yield f"# A golden game of {game.about.title}. Regenerate with: python -m tests.engine.golden"
        yield f"# {golden.options}, {golden.seat_count} seats"
        after, events = game.new_game(golden.options, golden.seat_count, Rng(SEED))
        yield from self._lines(after, events)
        for state, seat, move in self._play(golden):
            yield f"seat {seat}, {len(game.legal_moves(state, seat))} legal moves: {game.label(move)}"
            after, events = game.apply(state, seat, move)
            yield from self._lines(after, events)
            yield from self._picture(after, seat, events)
        score = game.score(after)
        yield ""
        yield f"== {score.note} =="
        for standing in score.scores:
            breakers = f", tie breakers {standing.tie_breakers}" if standing.tie_breakers else ""
            player = "automaton" if standing.seat is None else f"seat {standing.seat}"
            yield f"{player}: {format_points(standing.total)} points, rank {standing.rank}{breakers}"
            for line in standing.lines:
                yield f"{f'  round {line.round}' * bool(line.round)}  {line.label}: {format_points(line.points)}"

    def _lines(self, state: Any, events: tuple[Any, ...]) -> Iterator[str]:
        for event in events:
            yield from self._event_lines(state, event)


if __name__ == "__main__":
    for each in GAMES:
        Playthrough(each).regenerate()
