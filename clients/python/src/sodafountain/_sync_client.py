"""The client for ordinary code, which waits for each answer."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

import grpc
from google.protobuf.message import Message

from sodafountain._calls import ClientCalls, GameCalls, GameHandle, NewGame, SeatHandle, bearer
from sodafountain._channel import DEFAULT_TARGET, DEFAULT_TIMEOUT, channel_credentials, channel_options
from sodafountain._sync_runner import Runner
from sodafountain._sync_watch import Watch
from sodafountain._watch_plan import DEFAULT_PATIENCE, WatchPlan
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_pb2 import GameKindInfo, GameState


def connect(
    target: str = DEFAULT_TARGET,
    *,
    tls: bool | grpc.ChannelCredentials = False,
    api_key: str | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> "Client":
    """Makes a client of the service at an address. The connection is made with the first call.

    Args:
        target: the address, `host:port` or another gRPC target such as `dns:///host:port` or `unix:path`.
        tls: whether to use TLS with the public certificate authorities, or your own channel credentials.
        api_key: the key that creating games needs where the operator closed it.
        timeout: the deadline of a call that names none, in seconds, its retries included.

    Raises:
        ApiKeyInvalid: no key looks like that: it is empty, or has white space in it, at its ends for instance.
        TypeError: the target is no str, or the timeout no number.
        ValueError: the target is no address, or the timeout not positive.
    """
    credentials = channel_credentials(tls)
    calls = ClientCalls(target, tls=credentials is not None, api_key=api_key, timeout=timeout)
    channel = (
        grpc.insecure_channel(target, channel_options())
        if credentials is None
        else grpc.secure_channel(target, credentials, channel_options())
    )
    return Client(channel, calls)


class Client:
    """A connection to a Soda Fountain service. Threads may share it; close it, or use it in a `with` statement.

    Made by `connect`. Every call has a deadline, and is retried while the service is away for a moment. Any call may
    raise `Unreachable`, `DeadlineExceeded` and every other `SodaFountainError`; a Raises section names the likely ones.
    A timeout must be a positive number of seconds: TypeError and ValueError tell of others.
    """

    def __init__(self, channel: grpc.Channel, calls: ClientCalls) -> None:
        self._channel = channel
        self._calls = calls
        self._runner = Runner(channel, calls)

    def new_game(
        self,
        options: Message,
        seats: int,
        *,
        seed: bytes | None = None,
        sealed: bool = False,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> "Game":
        """Makes a game and deals it.

        Args:
            options: which game and how: `Options`, or a kind's own options message.
            seats: how many seats.
            seed: the seed of every random draw, 32 bytes; only where the operator allows it, for tests.
            sealed: whether the history keeps its secrets after the end too.
            request_id: a UUID (version 4) under which the same was asked for before; a new one when None.
            timeout: the deadline in seconds; the client's when None.

        Raises:
            MalformedRequest: the options or the number of seats make no game.
            ApiKeyInvalid: creating games needs an API key here.
            TypeError: `options` is no options message.
        """
        answer = self._runner.run(
            self._calls.new_game(options, seats, seed=seed, sealed=sealed, request_id=request_id, timeout=timeout)
        )
        return Game(self._runner, self._calls, answer)

    def game_kinds(self, *, timeout: float | None = None) -> list[GameKindInfo]:
        """Lists the kinds of game on offer, with their numbers of seats, options and presets.

        A preset (`presets[i]`) goes to `new_game` as it is; `preset_infos[i]` has its title and the seats it is for.

        Args:
            timeout: the deadline of each page in seconds; the client's when None.
        """
        return self._runner.run(self._calls.game_kinds(timeout=timeout))

    def seat(self, game_id: str, token: str) -> "Seat":
        """Takes a seat of a game with its token; nothing is asked of the service yet.

        Raises:
            TokenInvalid: no token looks like that: it is empty, or has white space in it, at its ends for instance.
        """
        return Seat(self._runner, GameCalls(self._calls, game_id, bearer(token)))

    def spectator(self, game_id: str) -> "Spectator":
        """Looks at a game from outside; nothing is asked of the service yet."""
        return Spectator(self._runner, GameCalls(self._calls, game_id, metadata=()))

    def host(self, game_id: str, token: str) -> "Host":
        """Holds a game with its host token; nothing is asked of the service yet.

        Raises:
            TokenInvalid: no token looks like that.
        """
        return Host(self._runner, GameCalls(self._calls, game_id, bearer(token)))

    def close(self) -> None:
        """Closes the connection; calls and watches that are under way, and later ones, raise `ClientClosed`."""
        self._calls.closed = True
        self._channel.close()
        self._runner.end_watches()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._calls.target}>"


class Viewer(GameHandle):
    """What everybody may ask about a game."""

    def __init__(self, runner: Runner, calls: GameCalls) -> None:
        super().__init__(calls)
        self._runner = runner

    def score(self, *, timeout: float | None = None) -> pb.ScoreResponse:
        """Tells the standings by public facts; at the end the result.

        Args:
            timeout: the deadline in seconds; the client's when None.

        Raises:
            GameNotFound: there is no such game (any more).
        """
        return self._runner.run(self._calls.score(timeout=timeout))

    def history(self, *, timeout: float | None = None) -> pb.GetHistoryResponse:
        """Reveals a finished game: options, seed, every move and event. All pages are fetched and put together.

        Args:
            timeout: the deadline of each page in seconds; the client's when None.

        Raises:
            NotFinished: the game goes on.
            GameNotFound: there is no such game (any more).
        """
        return self._runner.run(self._calls.history(timeout=timeout))


class Spectator(Viewer):
    """Somebody who looks at a game and sees what is public."""

    def state(self, *, timeout: float | None = None) -> GameState:
        """Shows the game as a spectator may see it.

        Args:
            timeout: the deadline in seconds; the client's when None.

        Raises:
            GameNotFound: there is no such game (any more).
        """
        return self._runner.run(self._calls.state(timeout=timeout))

    def watch(self, *, resume_token: str | None = None, patience: float | None = DEFAULT_PATIENCE) -> Watch:
        """Follows the game to its end as a spectator may see it; otherwise as `Seat.watch`."""
        return self._runner.watch(WatchPlan(self._calls, resume_token=resume_token, patience=patience))


class Seat(Viewer, SeatHandle):
    """A seat of a game, held with its token.

    It remembers which decision it saw open last, in any answer to it, and `apply` answers that one: a move that was
    chosen for a decision that is no longer open is refused with `StaleEtag`. Threads that play the same seat should
    name the etag.
    """

    def state(self, *, legal_moves: bool = False, timeout: float | None = None) -> GameState:
        """Shows the game as the seat may see it.

        Args:
            legal_moves: whether to list the seat's legal moves in it.
            timeout: the deadline in seconds; the client's when None.

        Raises:
            TokenInvalid: the token is not good.
            WrongSeat: the token is not for this game.
            GameNotFound: there is no such game (any more).
        """
        return self._runner.run(self._calls.state(legal_moves=legal_moves, timeout=timeout))

    def watch(
        self,
        *,
        legal_moves: bool = False,
        resume_token: str | None = None,
        patience: float | None = DEFAULT_PATIENCE,
    ) -> Watch:
        """Follows the game to its end: `for update in seat.watch(): …`.

        First comes a snapshot, then every change once and in order, with its events and the newest state; after the
        last change the iteration ends. While the service is away, or another takes its place, the watch tries again and
        goes on where it was. Nothing is asked of the service before the first update is asked for, and it is the
        iteration that raises the errors below. `break`, `Watch.close` and closing the client end the watch at once.

        Args:
            legal_moves: whether to list the seat's legal moves in the states.
            resume_token: the token of an update, to go on after it; when None, a snapshot comes first.
            patience: for how many seconds to wait without a sign of life from the service, and to try again, before the
                last failure is raised; without end when None.

        Raises:
            GameNotFound: there is no such game (any more); `GameDeleted` or `GameExpired` if it has gone meanwhile.
            TokenInvalid: the token is not good.
            WrongSeat: the token is not for this game.
            MalformedRequest: the resume token is none.
            Unreachable: the service could not be reached, or was silent, for too long; so too `StoreUnavailable`,
                `Draining` and `LimitExceeded`, where it said why.
            ClientClosed: the client was closed.
        """
        return self._runner.watch(
            WatchPlan(self._calls, legal_moves=legal_moves, resume_token=resume_token, patience=patience)
        )

    def legal_moves(self, *, timeout: float | None = None) -> pb.LegalMovesResponse:
        """Lists every move that the rules allow the seat now, each exactly once: none while it is not awaited.

        Args:
            timeout: the deadline in seconds; the client's when None.

        Raises:
            TokenInvalid: the token is not good.
            WrongSeat: the token is not for this game.
            GameNotFound: there is no such game (any more).
        """
        return self._runner.run(self._calls.legal_moves(timeout=timeout))

    def apply(
        self,
        move: Message,
        *,
        etag: str | None = None,
        legal_moves: bool = False,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> pb.ApplyMoveResponse:
        """Makes a move.

        Args:
            move: one of the legal moves, a `Move`, or a kind's own move message.
            etag: the tag of the decision that the move answers; when None, the one that the seat saw open last; when
                empty, the one that is open when the move arrives.
            legal_moves: whether to list the seat's next legal moves in the answer's state.
            request_id: a UUID (version 4) under which the same was asked for before; a new one when None.
            timeout: the deadline in seconds; the client's when None.

        Raises:
            IllegalMove: the rules forbid it now.
            NotYourTurn: nothing is awaited from this seat.
            GameFinished: the game is over.
            StaleEtag: another decision is open by now.
            Contention: moves of others won every race; try again.
            Unconfirmed: whether it was made is not known; ask again with the error's `request_id`.
            TypeError: `move` is no move message.
        """
        return self._runner.run(
            self._calls.apply(None, move, etag=etag, legal_moves=legal_moves, request_id=request_id, timeout=timeout)
        )


class Host(Viewer):
    """The host of a game: acts and looks for every seat. For trusted back ends that know their users themselves."""

    def state(self, seat: int | None = None, *, legal_moves: bool = False, timeout: float | None = None) -> GameState:
        """Shows the game as a seat may see it, or as a spectator when `seat` is None; otherwise as `Seat.state`."""
        return self._runner.run(self._calls.state(seat, legal_moves=legal_moves, timeout=timeout))

    def watch(
        self,
        seat: int | None = None,
        *,
        legal_moves: bool = False,
        resume_token: str | None = None,
        patience: float | None = DEFAULT_PATIENCE,
    ) -> Watch:
        """Follows the game as a seat may see it, or as a spectator when `seat` is None; otherwise as `Seat.watch`."""
        return self._runner.watch(
            WatchPlan(self._calls, seat, legal_moves=legal_moves, resume_token=resume_token, patience=patience)
        )

    def legal_moves(self, seat: int, *, timeout: float | None = None) -> pb.LegalMovesResponse:
        """Lists the legal moves of a seat; otherwise as `Seat.legal_moves`."""
        return self._runner.run(self._calls.legal_moves(seat, timeout=timeout))

    def apply(
        self,
        seat: int,
        move: Message,
        *,
        etag: str | None = None,
        legal_moves: bool = False,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> pb.ApplyMoveResponse:
        """Makes a move for a seat; otherwise as `Seat.apply`. Each seat's open decision is remembered by itself."""
        return self._runner.run(
            self._calls.apply(seat, move, etag=etag, legal_moves=legal_moves, request_id=request_id, timeout=timeout)
        )

    def delete(self, *, timeout: float | None = None) -> None:
        """Deletes the game for good.

        Args:
            timeout: the deadline in seconds; the client's when None.

        Raises:
            GameNotFound: there is no such game (any more): so too when the answer to a first try was lost on the way.
        """
        self._runner.run(self._calls.delete(timeout=timeout))


class Game(NewGame):
    """A game that this client made."""

    def __init__(self, runner: Runner, client: ClientCalls, answer: pb.NewGameResponse) -> None:
        super().__init__(answer)
        self._host = Host(runner, GameCalls(client, self.id, bearer(self.host_token)))
        self._seats = tuple(
            Seat(runner, GameCalls(client, self.id, bearer(token), number))
            for number, token in enumerate(self.seat_tokens)
        )

    @property
    def host(self) -> Host:
        """The host's hold on the game."""
        return self._host

    @property
    def seats(self) -> Sequence[Seat]:
        """The seats, by number."""
        return self._seats
