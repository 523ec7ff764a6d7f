/** Everybody's hold on a game: a seat's, a spectator's, a host's. */

import type { CallOptions } from "./rpc-client.js";
import type { GameMove } from "./game-messages.js";
import type { ApplyOptions, GameSession, ApplyResult, StateOptions } from "./game-session.js";
import type { GameState } from "./gen/sodafountain/v1/game_pb.js";
import type { GetHistoryResponse, LegalMovesResponse, ScoreResponse } from "./gen/sodafountain/v1/game_service_pb.js";
import type { WatchOptions } from "./watch.js";
import { Watch } from "./watch.js";

/** Which seat a host looks for. */
export interface SeatSelection {
  /** The seat's number; a spectator's view if left out. */
  readonly seat?: number | undefined;
}

/** What everybody may ask about a game. */
export abstract class Viewer {
  /** The game's id. */
  readonly gameId: string;
  readonly #calls: GameSession;

  /** Made by a client, or with a new game. */
  protected constructor(calls: GameSession) {
    this.gameId = calls.gameId;
    this.#calls = calls;
  }

  /**
   * Tells the standings by public facts; at the end the result.
   *
   * @param options - deadline and signal.
   * @throws {@link SodaFountainError} with reason `GAME_NOT_FOUND`: there is no such game (any more).
   */
  score(options: CallOptions = {}): Promise<ScoreResponse> {
    return this.#calls.score(options);
  }

  /**
   * Reveals a finished game: options, seed, every move and event. All pages are fetched and put together.
   *
   * @param options - deadline of each page, and signal.
   * @throws {@link SodaFountainError} with reason `NOT_FINISHED`: the game goes on; `GAME_NOT_FOUND`.
   */
  history(options: CallOptions = {}): Promise<GetHistoryResponse> {
    return this.#calls.history(options);
  }

  /** Names whose hold on which game it is; never shows a token. */
  toString(): string {
    return `${this.constructor.name} of game ${this.gameId}`;
  }
}

/** Somebody who looks at a game and sees what is public. */
export class Spectator extends Viewer {
  readonly #calls: GameSession;

  /** Made by a client, or with a new game. */
  constructor(calls: GameSession) {
    super(calls);
    this.#calls = calls;
  }

  /**
   * Shows the game as a spectator may see it.
   *
   * @param options - deadline and signal.
   * @throws {@link SodaFountainError} with reason `GAME_NOT_FOUND`: there is no such game (any more).
   */
  state(options: CallOptions = {}): Promise<GameState> {
    return this.#calls.state(undefined, options);
  }

  /**
   * Follows the game to its end as a spectator may see it; otherwise as {@link Seat.watch}.
   *
   * @param options - how to follow it.
   */
  watch(options: Omit<WatchOptions, "legalMoves"> = {}): Watch {
    return new Watch(this.#calls, undefined, options);
  }
}

/**
 * A seat of a game, held with its token.
 *
 * It remembers which decision it saw open last, in any answer to it, and `apply` answers that one: a move that was chosen for
 * a decision that is no longer open is refused with `STALE_ETAG`.
 */
export class Seat extends Viewer {
  readonly #calls: GameSession;

  /** Made by a client, or with a new game. */
  constructor(calls: GameSession) {
    super(calls);
    this.#calls = calls;
  }

  /** The seat's number from 0; undefined until an answer of the service has told it (`newGame` tells it at once). */
  get number(): number | undefined {
    return this.#calls.ownSeat;
  }

  /**
   * Shows the game as the seat may see it.
   *
   * @param options - whether to list legal moves; deadline and signal.
   * @throws {@link SodaFountainError} with reason `TOKEN_INVALID`: the token is not good; `WRONG_SEAT`: it is not for this
   * game; `GAME_NOT_FOUND`: there is no such game (any more).
   */
  state(options: StateOptions = {}): Promise<GameState> {
    return this.#calls.state(undefined, options);
  }

  /**
   * Follows the game to its end: `for await (const update of seat.watch())`.
   *
   * First comes a snapshot, then every change once and in order, with its events and the newest state; after the last change
   * the iteration ends. While the service is away, or another takes its place, the watch tries again and goes on where it
   * was. Nothing is asked of the service before the first update is asked for, and it is the iteration that throws the errors
   * below. Leaving the loop, `close` and closing the client end the watch at once.
   *
   * @param options - how to follow it.
   * @throws TypeError and RangeError: the patience is no positive number; TypeError: the request cannot be written.
   * @throws {@link SodaFountainError}, in the iteration, with reason `GAME_NOT_FOUND`: there is no such game; `GAME_DELETED`
   * or `GAME_EXPIRED`: it has gone meanwhile; `TOKEN_INVALID`; `WRONG_SEAT`; `MALFORMED`: the resume token is none;
   * `UNREACHABLE`: the service could not be reached, or was silent, for too long; so too `STORE_UNAVAILABLE`, `DRAINING` and
   * `LIMIT`, where it said why; `CLIENT_CLOSED`.
   */
  watch(options: WatchOptions = {}): Watch {
    return new Watch(this.#calls, undefined, options);
  }

  /**
   * Lists every move that the rules allow the seat now, each exactly once: none while it is not awaited.
   *
   * @param options - deadline and signal.
   * @throws {@link SodaFountainError} as {@link Seat.state}.
   */
  legalMoves(options: CallOptions = {}): Promise<LegalMovesResponse> {
    return this.#calls.legalMoves(undefined, options);
  }

  /**
   * Makes a move.
   *
   * @param move - one of the legal moves, a `Move`, or a kind's own move message.
   * @param options - which decision it answers, under which request id; deadline and signal.
   * @throws {@link SodaFountainError} with reason `ILLEGAL_MOVE`: the rules forbid it now; `NOT_YOUR_TURN`: nothing is awaited
   * from this seat; `GAME_FINISHED`: the game is over; `STALE_ETAG`: another decision is open by now; `CONTENTION`: moves of
   * others won every race; `UNCONFIRMED`: whether it was made is not known, so ask again with the error's `requestId`.
   * @throws TypeError: it is no move.
   */
  apply(move: GameMove, options: ApplyOptions = {}): Promise<ApplyResult> {
    return this.#calls.apply(undefined, move, options);
  }

  /** Names the seat and its game; never shows the token. */
  override toString(): string {
    return `Seat ${this.number ?? "?"} of game ${this.gameId}`;
  }
}

/** The host of a game: acts and looks for every seat. For trusted back ends that know their users themselves. */
export class Host extends Viewer {
  readonly #calls: GameSession;

  /** Made by a client, or with a new game. */
  constructor(calls: GameSession) {
    super(calls);
    this.#calls = calls;
  }

  /**
   * Shows the game as a seat may see it, or as a spectator; otherwise as {@link Seat.state}.
   *
   * @param options - for which seat, whether to list its legal moves; deadline and signal.
   */
  state({ seat, ...options }: SeatSelection & StateOptions = {}): Promise<GameState> {
    return this.#calls.state(seat, options);
  }

  /**
   * Follows the game as a seat may see it, or as a spectator; otherwise as {@link Seat.watch}.
   *
   * @param options - for which seat, and how.
   */
  watch({ seat, ...options }: SeatSelection & WatchOptions = {}): Watch {
    return new Watch(this.#calls, seat, options);
  }

  /**
   * Lists the legal moves of a seat; otherwise as {@link Seat.legalMoves}.
   *
   * @param seat - the seat's number from 0.
   * @param options - deadline and signal.
   */
  legalMoves(seat: number, options: CallOptions = {}): Promise<LegalMovesResponse> {
    return this.#calls.legalMoves(seat, options);
  }

  /**
   * Makes a move for a seat; otherwise as {@link Seat.apply}. Each seat's open decision is remembered by itself.
   *
   * @param seat - the seat's number from 0.
   * @param move - one of its legal moves, a `Move`, or a kind's own move message.
   * @param options - which decision it answers, under which request id; deadline and signal.
   */
  apply(seat: number, move: GameMove, options: ApplyOptions = {}): Promise<ApplyResult> {
    return this.#calls.apply(seat, move, options);
  }

  /**
   * Deletes the game for good.
   *
   * @param options - deadline and signal.
   * @throws {@link SodaFountainError} with reason `GAME_NOT_FOUND`: there is no such game (any more): so too when the answer to
   * a first try was lost on the way.
   */
  delete(options: CallOptions = {}): Promise<void> {
    return this.#calls.delete(options);
  }
}
