/** The roles in which a program takes part in a game: seat, spectator and host. */

import type { GameMove } from "./game-messages.js";
import type { ApplyOptions, ApplyResult, GameSession, StateOptions } from "./game-session.js";
import type { GameState } from "./gen/sodafountain/v1/game_pb.js";
import type { GetHistoryResponse, LegalMovesResponse, ScoreResponse } from "./gen/sodafountain/v1/game_service_pb.js";
import type { CallOptions } from "./rpc-client.js";
import type { WatchOptions } from "./watch.js";
import { Watch } from "./watch.js";

/** The seat for which a host reads the game. */
export interface SeatSelection {
  /** The number of the seat. Default: the view of a spectator. */
  readonly seat?: number | undefined;
}

/** What every role can do. */
export abstract class Viewer {
  /** The id of the game. */
  readonly gameId: string;
  readonly #session: GameSession;

  /** Use the methods of `Client` instead. */
  protected constructor(session: GameSession) {
    this.gameId = session.gameId;
    this.#session = session;
  }

  /**
   * The commitment to the seed, 32 bytes; undefined before the first state. Not a secret.
   *
   * The first state that this object receives determines it. A call or watch that receives another one later throws an error
   * with reason `COMMITMENT_CHANGED`. Save it with the token, and pass it to `Client.seat` and the like.
   */
  get commitment(): Uint8Array | undefined {
    return this.#session.commitment.kept;
  }

  /**
   * Return the current score from public information; after the end of the game, the final score.
   *
   * @param options - deadline and signal.
   * @throws {@link SodaFountainError} with reason `GAME_NOT_FOUND`: the game does not exist.
   */
  score(options: CallOptions = {}): Promise<ScoreResponse> {
    return this.#session.score(options);
  }

  /**
   * Return the history of the game so far: every change, as far as the viewer may know it. All pages are fetched and
   * combined.
   *
   * The history of an active game, and of a sealed one for ever, contains the viewer's own moves and the events that the
   * viewer may know. The history of a finished game that is not sealed contains the seed, every move and event. The client
   * then checks that the seed is the one that was committed to, and belongs to this game.
   *
   * @param options - deadline of each page, and signal.
   * @throws {@link SodaFountainError} with reason `COMMITMENT_CHANGED`: the history does not match the commitment to the
   * seed; `GAME_NOT_FOUND`: the game does not exist.
   */
  history(options: CallOptions = {}): Promise<GetHistoryResponse> {
    return this.#session.history(undefined, options);
  }

  /** Return a description without the token. */
  toString(): string {
    return `${this.constructor.name} of game ${this.gameId}`;
  }
}

/** A viewer without a seat, who sees public information. */
export class Spectator extends Viewer {
  readonly #session: GameSession;

  /** Use `Client.spectator` instead. */
  constructor(session: GameSession) {
    super(session);
    this.#session = session;
  }

  /**
   * Return the state of the game, as a spectator sees it.
   *
   * @param options - deadline and signal.
   * @throws {@link SodaFountainError} with reason `GAME_NOT_FOUND`: the game does not exist.
   */
  state(options: CallOptions = {}): Promise<GameState> {
    return this.#session.state(undefined, options);
  }

  /**
   * Watch the game to its end, as a spectator sees it. See {@link Seat.watch}.
   *
   * @param options - options of the watch.
   */
  watch(options: Omit<WatchOptions, "legalMoves"> = {}): Watch {
    return new Watch(this.#session, undefined, options);
  }
}

/**
 * A seat of a game.
 *
 * A seat remembers the open decision in the latest response or update that it received, and `apply` answers that decision.
 * The service rejects a move for a decision that is no longer open with `STALE_ETAG`. Code that shares a seat should pass
 * the etag.
 */
export class Seat extends Viewer {
  readonly #session: GameSession;

  /** Use `Client.seat` or `Client.newGame` instead. */
  constructor(session: GameSession) {
    super(session);
    this.#session = session;
  }

  /** The number of the seat, from 0. Undefined until a response has reported it; known from the start after `newGame`. */
  get number(): number | undefined {
    return this.#session.ownSeat;
  }

  /**
   * Return the state of the game, as the seat sees it.
   *
   * @param options - whether to list legal moves; deadline and signal.
   * @throws {@link SodaFountainError} with reason `TOKEN_INVALID`: the token is invalid; `WRONG_SEAT`: the token belongs to
   * another game; `GAME_NOT_FOUND`: the game does not exist.
   */
  state(options: StateOptions = {}): Promise<GameState> {
    return this.#session.state(undefined, options);
  }

  /**
   * Watch the game to its end: `for await (const update of seat.watch())`.
   *
   * The first update is a snapshot. Then follows every change, once and in order, with its events and the newest state. The
   * iteration ends after the last change. If the service is unavailable, the watch reconnects and resumes after the last
   * update. The request is sent when the first update is awaited, and errors of the service are thrown by the iteration.
   * Leaving the loop, `close` and closing the client end the watch immediately.
   *
   * @param options - options of the watch.
   * @throws TypeError or RangeError: the idle timeout is not a positive number; TypeError: an option is invalid.
   * @throws {@link SodaFountainError}, in the iteration, with reason `GAME_NOT_FOUND`: the game does not exist;
   * `GAME_DELETED` or `GAME_EXPIRED`: it was deleted or expired during the watch; `TOKEN_INVALID`; `WRONG_SEAT`;
   * `MALFORMED`: the resume token is invalid; `UNREACHABLE`: no message arrived within the idle timeout, or
   * `STORE_UNAVAILABLE`, `DRAINING`, `UPGRADING` or `LIMIT` if the service reported that; `COMMITMENT_CHANGED`: a state has
   * another commitment to the seed than the first one; `CLIENT_CLOSED`.
   */
  watch(options: WatchOptions = {}): Watch {
    return new Watch(this.#session, undefined, options);
  }

  /**
   * Return every move that the rules allow the seat now, each once; none if the seat is not awaited.
   *
   * @param options - deadline and signal.
   * @throws {@link SodaFountainError} as {@link Seat.state}.
   */
  legalMoves(options: CallOptions = {}): Promise<LegalMovesResponse> {
    return this.#session.legalMoves(undefined, options);
  }

  /**
   * Apply a move.
   *
   * @param move - one of the legal moves, a `Move`, or the move message of a game.
   * @param options - etag, request id, whether to list the next legal moves; deadline and signal.
   * @throws {@link SodaFountainError} with reason `ILLEGAL_MOVE`: the rules do not allow the move now; `NOT_YOUR_TURN`: the
   * seat is not awaited; `GAME_FINISHED`: the game is over; `STALE_ETAG`: another decision is open; `CONTENTION`: moves
   * of other seats won every race; `UNCONFIRMED`: it is unknown whether the move was stored, so retry with the `requestId`
   * of the error.
   * @throws TypeError: `move` is not a move.
   */
  apply(move: GameMove, options: ApplyOptions = {}): Promise<ApplyResult> {
    return this.#session.apply(undefined, move, options);
  }

  /** Return a description without the token. */
  override toString(): string {
    return `Seat ${this.number ?? "?"} of game ${this.gameId}`;
  }
}

/** The host of a game, who reads and moves for every seat. For backends that authenticate their users themselves. */
export class Host extends Viewer {
  readonly #session: GameSession;

  /** Use `Client.host` or `Client.newGame` instead. */
  constructor(session: GameSession) {
    super(session);
    this.#session = session;
  }

  /**
   * Return the state of the game, as a seat or a spectator sees it. See {@link Seat.state}.
   *
   * @param options - the seat, whether to list its legal moves; deadline and signal.
   */
  state({ seat, ...options }: SeatSelection & StateOptions = {}): Promise<GameState> {
    return this.#session.state(seat, options);
  }

  /**
   * Watch the game to its end, as a seat or a spectator sees it. See {@link Seat.watch}.
   *
   * @param options - the seat, and options of the watch.
   */
  watch({ seat, ...options }: SeatSelection & WatchOptions = {}): Watch {
    return new Watch(this.#session, seat, options);
  }

  /**
   * Return the history of the game so far, as a seat or a spectator may know it. See {@link Viewer.history}.
   *
   * @param options - the seat; deadline of each page, and signal.
   */
  override history({ seat, ...options }: SeatSelection & CallOptions = {}): Promise<GetHistoryResponse> {
    return this.#session.history(seat, options);
  }

  /**
   * Return all legal moves of a seat. See {@link Seat.legalMoves}.
   *
   * @param seat - the number of the seat, from 0.
   * @param options - deadline and signal.
   */
  legalMoves(seat: number, options: CallOptions = {}): Promise<LegalMovesResponse> {
    return this.#session.legalMoves(seat, options);
  }

  /**
   * Apply a move of a seat. See {@link Seat.apply}. A host remembers the open decision of each seat.
   *
   * @param seat - the number of the seat, from 0.
   * @param move - one of its legal moves, a `Move`, or the move message of a game.
   * @param options - etag, request id, whether to list the next legal moves; deadline and signal.
   */
  apply(seat: number, move: GameMove, options: ApplyOptions = {}): Promise<ApplyResult> {
    return this.#session.apply(seat, move, options);
  }

  /**
   * Delete the game permanently. For one day, deleting it again succeeds.
   *
   * @param options - deadline and signal.
   * @throws {@link SodaFountainError} with reason `GAME_NOT_FOUND`: the game does not exist.
   */
  delete(options: CallOptions = {}): Promise<void> {
    return this.#session.delete(options);
  }
}
