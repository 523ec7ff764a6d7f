"""The sync client."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

import grpc
from google.protobuf.message import Message

from sodafountain._calls import BaseGame, ClientCalls, GameCalls, GameHandle, SeatHandle, bearer
from sodafountain._channel import DEFAULT_TARGET, DEFAULT_TIMEOUT, channel_credentials, channel_options
from sodafountain._sync_runner import Runner
from sodafountain._sync_watch import Watch
from sodafountain._watch_plan import DEFAULT_IDLE_TIMEOUT, WatchPlan
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_pb2 import VISIBILITY_UNSPECIFIED, GameKindInfo, GameState, Visibility


def connect(
    target: str = DEFAULT_TARGET,
    *,
    tls: bool | grpc.ChannelCredentials = False,
    allow_insecure: bool = False,
    api_key: str | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> "Client":
    """Create a client of the service at an address. The first call opens the connection.

    Args:
        target: the address: `host:port`, or a gRPC target such as `dns:///host:port` or `unix:path`.
        tls: True to use TLS with the public certificate authorities, or channel credentials.
        allow_insecure: whether to connect to another host without TLS: everyone on the network can read the tokens.
        api_key: the key to create games with, if the service requires one.
        timeout: the default timeout of a call in seconds, retries included.

    Raises:
        ApiKeyInvalid: the key is empty, or contains characters other than visible ASCII.
        TypeError: `target` is not a str, or `timeout` is not a number.
        ValueError: `target` is not an address, or is on another host without TLS and without `allow_insecure`;
            `timeout` is not positive.
    """
    credentials = channel_credentials(tls)
    calls = ClientCalls(
        target, tls=credentials is not None, allow_insecure=allow_insecure, api_key=api_key, timeout=timeout
    )
    channel = (
        grpc.insecure_channel(target, channel_options())
        if credentials is None
        else grpc.secure_channel(target, credentials, channel_options())
    )
    return Client(channel, calls)


class Client:
    """A connection to a Soda Fountain service. Close it, or use it in a `with` statement. Threads may share it.

    Create one with `connect`. Every call has a timeout, and is retried while the service is unavailable. Any call may
    raise `Unreachable`, `DeadlineExceeded` or another `SodaFountainError`; the Raises sections list the most likely
    ones. A `timeout` that is not a positive number of seconds raises TypeError or ValueError.
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
        visibility: Visibility.ValueType = VISIBILITY_UNSPECIFIED,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> "Game":
        """Create a game.

        Args:
            options: the kind of game and its options: `Options`, or a kind's own options message.
            seats: the number of seats.
            seed: the seed of all random draws, 32 bytes, for tests. The service may not allow it.
            sealed: whether the history hides secrets even after the end of the game.
            visibility: `VISIBILITY_PRIVATE` if only holders of tokens may look at the game; otherwise all callers may
                that know its id.
            request_id: the request id of an earlier attempt, a UUID (version 4); a new one if None.
            timeout: the timeout in seconds; the client's if None.

        Raises:
            MalformedRequest: the options or the number of seats are invalid.
            ApiKeyInvalid: the service requires an API key to create games.
            TypeError: `options` is not an options message.
        """
        response = self._runner.run(
            self._calls.new_game(
                options,
                seats,
                seed=seed,
                sealed=sealed,
                visibility=visibility,
                request_id=request_id,
                timeout=timeout,
            )
        )
        return Game(self._runner, self._calls, response)

    def game_kinds(self, *, timeout: float | None = None) -> list[GameKindInfo]:
        """Return the kinds of game that the service offers, with their numbers of seats, options and presets.

        Pass a preset, `presets[i]`, to `new_game` unchanged. `preset_infos[i]` has its title and numbers of seats.

        Args:
            timeout: the timeout of each page in seconds; the client's if None.
        """
        return self._runner.run(self._calls.game_kinds(timeout=timeout))

    def seat(self, game_id: str, token: str, *, commitment: bytes | None = None) -> "Seat":
        """Return a handle of a seat, without a call.

        Args:
            game_id: the id of the game.
            token: the token of the seat.
            commitment: the commitment to the seed that an earlier handle of the game kept; if None, the first state
                determines it.

        Raises:
            TokenInvalid: the token is empty, or contains characters other than visible ASCII.
            TypeError: `commitment` is not bytes.
            ValueError: `commitment` does not have 32 bytes.
        """
        return Seat(self._runner, self._calls.game(game_id, bearer(token), commitment))

    def spectator(self, game_id: str, token: str | None = None, *, commitment: bytes | None = None) -> "Spectator":
        """Return a handle of a game for a spectator, without a call.

        Args:
            game_id: the id of the game.
            token: the spectator token; only a private game requires it.
            commitment: as in `seat`.

        Raises:
            TokenInvalid, TypeError, ValueError: as in `seat`.
        """
        metadata = () if token is None else bearer(token)
        return Spectator(self._runner, self._calls.game(game_id, metadata, commitment))

    def host(self, game_id: str, token: str, *, commitment: bytes | None = None) -> "Host":
        """Return a handle of a game for its host, without a call.

        Args:
            game_id: the id of the game.
            token: the host token.
            commitment: as in `seat`.

        Raises:
            TokenInvalid, TypeError, ValueError: as in `seat`.
        """
        return Host(self._runner, self._calls.game(game_id, bearer(token), commitment))

    def close(self) -> None:
        """Close the connection. Calls and watches that are in progress, and later ones, raise `ClientClosed`."""
        self._calls.closed = True
        self._channel.close()
        self._runner.wake_watches()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._calls.target}>"


class Viewer(GameHandle):
    """Base of the handles: the calls that need no token."""

    def __init__(self, runner: Runner, calls: GameCalls) -> None:
        super().__init__(calls)
        self._runner = runner

    def score(self, *, timeout: float | None = None) -> pb.ScoreResponse:
        """Return the current score from public information; after the end of the game, the final score.

        Args:
            timeout: the timeout in seconds; the client's if None.

        Raises:
            GameNotFound: the game does not exist.
        """
        return self._runner.run(self._calls.score(timeout=timeout))

    def history(self, *, timeout: float | None = None) -> pb.GetHistoryResponse:
        """Return the history of the game so far, from all pages: every change, as far as the viewer may know it.

        The history of an active game, and of a sealed one for ever, contains the viewer's own moves and the events that
        the viewer may know. The history of a finished game that is not sealed contains the seed, every move and event.
        The client then checks that the seed is the one that was committed to, and belongs to this game.

        Args:
            timeout: the timeout of each page in seconds; the client's if None.

        Raises:
            CommitmentChanged: the history does not match the commitment to the seed.
            GameNotFound: the game does not exist.
        """
        return self._runner.run(self._calls.history(timeout=timeout))


class Spectator(Viewer):
    """A viewer without a seat, who sees public information."""

    def state(self, *, timeout: float | None = None) -> GameState:
        """Return the state of the game, as a spectator sees it.

        Args:
            timeout: the timeout in seconds; the client's if None.

        Raises:
            GameNotFound: the game does not exist.
        """
        return self._runner.run(self._calls.state(timeout=timeout))

    def watch(self, *, resume_token: str | None = None, idle_timeout: float | None = DEFAULT_IDLE_TIMEOUT) -> Watch:
        """Watch the game to its end, as a spectator sees it. See `Seat.watch`."""
        return self._runner.watch(WatchPlan(self._calls, resume_token=resume_token, idle_timeout=idle_timeout))


class Seat(Viewer, SeatHandle):
    """A seat of a game, with its token.

    A seat remembers the open decision in the latest response or update that it received, and `apply` answers that
    decision. The service rejects a move for a decision that is no longer open with `StaleEtag`. Threads that share a
    seat should pass the etag.
    """

    def state(self, *, legal_moves: bool = False, timeout: float | None = None) -> GameState:
        """Return the state of the game, as the seat sees it.

        Args:
            legal_moves: whether the state includes the legal moves of the seat.
            timeout: the timeout in seconds; the client's if None.

        Raises:
            TokenInvalid: the token is invalid.
            WrongSeat: the token is for another game.
            GameNotFound: the game does not exist.
        """
        return self._runner.run(self._calls.state(legal_moves=legal_moves, timeout=timeout))

    def watch(
        self,
        *,
        legal_moves: bool = False,
        resume_token: str | None = None,
        idle_timeout: float | None = DEFAULT_IDLE_TIMEOUT,
    ) -> Watch:
        """Watch the game to its end: `for update in seat.watch(): …`.

        The first update is a snapshot. Every later change is reported once and in order, with its events and the newest
        state. The iteration ends after the last change of the game. If the connection breaks or the service restarts,
        the watch reconnects and resumes after the last update. It makes no call before the first update is requested.
        The iteration raises the errors below. `break`, `Watch.close` and closing the client end the watch immediately.

        Args:
            legal_moves: whether the states include the legal moves of the seat.
            resume_token: the token of the update to resume after; if None, the watch starts with a snapshot.
            idle_timeout: how long to wait and reconnect without a message from the service, in seconds, before the last
                error is raised; no limit if None.

        Raises:
            GameNotFound: the game does not exist; `GameDeleted` or `GameExpired` if it disappeared during the watch.
            TokenInvalid: the token is invalid.
            WrongSeat: the token is for another game.
            MalformedRequest: `resume_token` is invalid.
            Unreachable: no message arrived within `idle_timeout`; `StoreUnavailable`, `Draining`, `Upgrading` or
                `LimitExceeded` if the service gave that reason.
            CommitmentChanged: a state has another commitment to the seed than the first one.
            ClientClosed: the client was closed.
        """
        return self._runner.watch(
            WatchPlan(self._calls, legal_moves=legal_moves, resume_token=resume_token, idle_timeout=idle_timeout)
        )

    def legal_moves(self, *, timeout: float | None = None) -> pb.LegalMovesResponse:
        """Return every move that the rules allow the seat now, each once; none if the seat is not awaited.

        Args:
            timeout: the timeout in seconds; the client's if None.

        Raises:
            TokenInvalid: the token is invalid.
            WrongSeat: the token is for another game.
            GameNotFound: the game does not exist.
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
        """Apply a move.

        Args:
            move: one of the legal moves, a `Move`, or a kind's own move message.
            etag: the etag of the decision that the move answers. If None, the last open decision that the seat has
                seen; if empty, the decision that is open when the move arrives.
            legal_moves: whether the state in the response includes the next legal moves of the seat.
            request_id: the request id of an earlier attempt, a UUID (version 4); a new one if None.
            timeout: the timeout in seconds; the client's if None.

        Raises:
            IllegalMove: the rules do not allow the move now.
            NotYourTurn: the seat is not awaited.
            GameFinished: the game is over.
            StaleEtag: another decision is open.
            Contention: moves of other seats won every race; retry.
            Unconfirmed: it is unknown whether the move was stored; retry with the `request_id` of the error.
            TypeError: `move` is not a move message.
        """
        return self._runner.run(
            self._calls.apply(None, move, etag=etag, legal_moves=legal_moves, request_id=request_id, timeout=timeout)
        )


class Host(Viewer):
    """The host of a game, who reads and moves for every seat. For backends that authenticate their users themselves."""

    def state(self, seat: int | None = None, *, legal_moves: bool = False, timeout: float | None = None) -> GameState:
        """Return the state of the game, as a seat sees it, or a spectator if `seat` is None. See `Seat.state`."""
        return self._runner.run(self._calls.state(seat, legal_moves=legal_moves, timeout=timeout))

    def watch(
        self,
        seat: int | None = None,
        *,
        legal_moves: bool = False,
        resume_token: str | None = None,
        idle_timeout: float | None = DEFAULT_IDLE_TIMEOUT,
    ) -> Watch:
        """Watch the game to its end, as a seat sees it, or a spectator if `seat` is None. See `Seat.watch`."""
        return self._runner.watch(
            WatchPlan(self._calls, seat, legal_moves=legal_moves, resume_token=resume_token, idle_timeout=idle_timeout)
        )

    def legal_moves(self, seat: int, *, timeout: float | None = None) -> pb.LegalMovesResponse:
        """Return the legal moves of a seat. See `Seat.legal_moves`."""
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
        """Apply a move of a seat. See `Seat.apply`. The host remembers the open decision of each seat separately."""
        return self._runner.run(
            self._calls.apply(seat, move, etag=etag, legal_moves=legal_moves, request_id=request_id, timeout=timeout)
        )

    def history(self, seat: int | None = None, *, timeout: float | None = None) -> pb.GetHistoryResponse:
        """Return the history of the game so far, as a seat may know it, or a spectator if `seat` is None.

        See `Seat.history`.
        """
        return self._runner.run(self._calls.history(seat, timeout=timeout))

    def delete(self, *, timeout: float | None = None) -> None:
        """Delete the game permanently. For one day, deleting it again succeeds.

        Args:
            timeout: the timeout in seconds; the client's if None.

        Raises:
            GameNotFound: the game does not exist.
        """
        self._runner.run(self._calls.delete(timeout=timeout))


class Game(BaseGame):
    """A game that this client created."""

    def __init__(self, runner: Runner, client: ClientCalls, response: pb.NewGameResponse) -> None:
        super().__init__(client, response)
        self._host = Host(runner, self._calls_of(self.host_token))
        self._seats = tuple(
            Seat(runner, self._calls_of(token, number)) for number, token in enumerate(self.seat_tokens)
        )

    @property
    def host(self) -> Host:
        """The handle of the host."""
        return self._host

    @property
    def seats(self) -> Sequence[Seat]:
        """The handles of the seats, by number."""
        return self._seats
