"""A stored game as a value: everything that the store holds about it, decoded, except its log.

`StoredGame.apply` computes the result of a move. The store decides whether the move is committed: it compares and sets
the head.

**Etags.** The etag of a seat with an open decision is the head of the commit that opened the decision, so that moves of
other seats do not change it. Any other etag is the head. See `service.games.heads`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import msgspec

from engine import errors as engine_errors
from service.games.errors import (
    GameError,
    GameFinished,
    IllegalMove,
    InvalidField,
    NotYourTurn,
    StaleEtag,
)
from service.games.heads import version_of
from service.games.kinds import Kind

_REQUEST_BYTES: Final = 8


class Meta(msgspec.Struct, frozen=True, cache_hash=True):
    """The facts of a game that never change.

    Attributes:
        kind: the name of its kind.
        options: the engine's options, as requested.
        seat_count: the number of seats.
        sealed: whether the history keeps hidden information hidden.
        private: whether only holders of a token may look.
        seed: the seed, 32 bytes. Secret until the end.
        rules_version: the version of the rules by which it is played.
        key_id: the key that signed its tokens.
        fixed_seed: whether the request chose the seed.
        request: a hash of the request id and its owner; empty without a request id.
        owner: the name of the API key that created it; empty without one.
    """

    kind: str
    options: Any
    seat_count: int
    sealed: bool
    private: bool
    seed: bytes
    rules_version: int
    key_id: str
    fixed_seed: bool
    request: bytes
    owner: str

    def has_request_of(self, other: "Meta") -> bool:
        """Return whether the same request could have created both games: not with a random seed and a chosen one."""
        return (self.request, self.kind, self.options, self.seat_count, self.sealed, self.private, self.fixed_seed) == (
            other.request,
            other.kind,
            other.options,
            other.seat_count,
            other.sealed,
            other.private,
            other.fixed_seed,
        ) and (self.seed == other.seed or not self.fixed_seed)

    def __repr__(self) -> str:
        return f"Meta(kind={self.kind!r}, seat_count={self.seat_count})"


class NewGame(NamedTuple):
    """A game to create.

    Attributes:
        kind: its kind.
        options: the engine's options.
        seat_count: the number of seats.
        sealed: whether the history keeps hidden information hidden.
        private: whether only holders of a token may look.
        seed: the seed, 32 bytes.
        fixed_seed: whether the caller chose the seed.
        key_id: the key that signs its tokens.
        owner: the name of the API key; empty without one.
        request_id: the request id of NewGame; empty without one.
    """

    kind: Kind
    options: Any
    seat_count: int
    sealed: bool
    private: bool
    seed: bytes
    fixed_seed: bool
    key_id: str
    owner: str
    request_id: str

    def meta(self) -> Meta:
        """Return the facts of the game."""
        return Meta(
            kind=self.kind.name,
            options=self.options,
            seat_count=self.seat_count,
            sealed=self.sealed,
            private=self.private,
            seed=self.seed,
            rules_version=self.kind.game.about.rules_version,
            key_id=self.key_id,
            fixed_seed=self.fixed_seed,
            request=digest(self.owner, self.request_id)[:_REQUEST_BYTES] if self.request_id else b"",
            owner=self.owner,
        )


class RequestedMove(NamedTuple):
    """A move as requested.

    Attributes:
        kind: the name of the kind of game that the move belongs to.
        move: the engine's move.
    """

    kind: str
    move: Any


class Outcome(NamedTuple):
    """The result of a move that is not committed yet: the state after it, and all its events."""

    state: Any
    events: tuple[Any, ...]


def digest(*parts: str | bytes) -> bytes:
    """Return a hash of the parts, each prefixed with its length: 16 bytes."""
    state = blake2b(digest_size=16)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(4, "big"))
        state.update(data)
    return state.digest()


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game and everything that the store holds about it.

    Attributes:
        game_id: its id.
        kind: its kind.
        meta: the facts that never change.
        head: the version and nonce of its newest commit.
        state: the engine's state.
        decisions: for each awaited seat, the head of the commit that opened its decision.
        created_at: when it was created, in Unix milliseconds by the store's clock, like the other times.
        updated_at: when its newest commit was made.
        expires_at: when it expires unless it changes.
    """

    game_id: str
    kind: Kind
    meta: Meta
    head: str
    state: Any
    decisions: Mapping[int, str]
    created_at: int
    updated_at: int
    expires_at: int

    @property
    def version(self) -> int:
        """The number of commits; the creation is the first."""
        return version_of(self.head)

    @property
    def finished(self) -> bool:
        """Whether the game is over: no seat is awaited."""
        return not self.decisions

    @property
    def awaiting(self) -> tuple[int, ...]:
        """The awaited seats, ascending."""
        return tuple(self.decisions)

    def etag(self, viewer: int | None) -> str:
        """Return the etag of a viewer: of its open decision, or of the version if it has none."""
        return self.head if viewer is None else self.decisions.get(viewer, self.head)

    def check_seat(self, seat: int) -> None:
        """Check that a seat exists.

        Raises:
            InvalidField: the seat does not exist.
        """
        if not 0 <= seat < self.meta.seat_count:
            count = self.meta.seat_count
            raise self._rejection(InvalidField("seat", f"must be below {count}; this game has {count} seats"))

    def check_request(self, seat: int, requested: RequestedMove) -> None:
        """Check that a seat exists, and that a move belongs to this kind of game.

        Raises:
            InvalidField: one of them does not.
        """
        self.check_seat(seat)
        if requested.kind != self.kind.name:
            raise self._rejection(InvalidField("move.game", f"must be {self.kind.name}: that is the game being played"))

    def apply(self, seat: int, requested: RequestedMove, etag: str) -> Outcome:
        """Compute the result of a move. An empty etag stands for the open decision.

        Raises:
            InvalidField: the seat does not exist, or the move belongs to another kind of game.
            StaleEtag, GameFinished, NotYourTurn, IllegalMove: the move is rejected.
        """
        self.check_request(seat, requested)
        if etag and etag != self.etag(seat):
            message = "The etag is not that of the open decision: fetch the state and choose again."
            raise self._rejection(StaleEtag(message, version=self.version))
        try:
            return Outcome(*self.kind.game.apply(self.state, seat, requested.move))
        except engine_errors.GameOver:
            raise self._rejection(GameFinished("The game is over.", version=self.version)) from None
        except engine_errors.NotYourTurn as error:
            raise self._rejection(NotYourTurn(str(error), version=self.version)) from None
        except engine_errors.IllegalMove as error:
            raise self._rejection(IllegalMove(str(error), version=self.version)) from None

    def after(self, seat: int, state: Any, head: str) -> "StoredGame":
        """Return the game after a move of a seat. The store sets its times."""
        # A seat that is still awaited keeps its decision. The seat that moved gets a new one if it is awaited again.
        kept = {other: opened for other, opened in self.decisions.items() if other != seat}
        decisions = {other: kept.get(other, head) for other in self.kind.game.to_act(state)}
        return StoredGame(
            self.game_id,
            self.kind,
            self.meta,
            head,
            state,
            decisions,
            self.created_at,
            self.updated_at,
            self.expires_at,
        )

    def at(self, updated_at: int, expires_at: int) -> "StoredGame":
        """Return the same game with the times of its newest commit."""
        return StoredGame(
            self.game_id,
            self.kind,
            self.meta,
            self.head,
            self.state,
            self.decisions,
            self.created_at or updated_at,
            updated_at,
            expires_at,
        )

    def _rejection(self, error: GameError) -> GameError:
        """Return an error with the kind of this game."""
        error.game_kind = self.kind.name
        return error
