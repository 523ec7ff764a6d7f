/// <reference lib="esnext.disposable" preserve="true" />

/** Following a game: each stream resumes after the last message that was heard, which is the last that was told. */

import { clone, create } from "@bufbuild/protobuf";

import { validateTimeout } from "./validation.js";
import { closed, copyMessage } from "./rpc-client.js";
import { sleep } from "./clock.js";
import type { Cancellation } from "./cancellation.js";
import type { Reason } from "./errors.js";
import { SodaFountainError } from "./errors.js";
import type { GameSession } from "./game-session.js";
import type { Event, GameState } from "./gen/sodafountain/v1/game_pb.js";
import { GameStateSchema, GameStatus } from "./gen/sodafountain/v1/game_pb.js";
import type { WatchGameRequest, WatchGameResponse } from "./gen/sodafountain/v1/game_service_pb.js";
import { WatchEndReason, WatchGameRequestSchema } from "./gen/sodafountain/v1/game_service_pb.js";
import type { StreamResult } from "./watch-stream.js";
import { WatchStream } from "./watch-stream.js";

const DEFAULT_IDLE_TIMEOUT_MS = 60_000;

/**
 * A stream on which nothing was heard for so many milliseconds is given up: three times the period in which the service
 * gives a sign of life, if its operator leaves that as it is. Where it is longer, quiet streams are begun anew in vain; that
 * costs no more than a call.
 */
const STREAM_TIMEOUT_MS = 45_000;
const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5000;

/** Refusals that pass. Of those without a reason of the service, from gRPC or something on the way, more may pass. */
const RETRYABLE_REASONS = new Set(["STORE_UNAVAILABLE", "UNCONFIRMED", "DRAINING", "LIMIT"]);
const RETRYABLE_CODES = new Set([
  "UNAVAILABLE",
  "CANCELLED",
  "ABORTED",
  "DEADLINE_EXCEEDED",
  "RESOURCE_EXHAUSTED",
  // What broken streams look like when a proxy broke them.
  "INTERNAL",
  "UNKNOWN",
]);

/** What `watch` tells: every event since the update before, and the newest state. */
export interface Update {
  /** The game now, as the viewer may see it. */
  readonly state: GameState;
  /**
   * What happened since the update before, in order, as the viewer may know it; several moves' events when they came fast or
   * the watch was interrupted. Empty where {@link Update.isSnapshot}.
   */
  readonly events: readonly Event[];
  /**
   * Whether this starts afresh: so does the first update of a watch that does not resume. Later on it means that what was
   * told before is no part of the game any more (the service's store lost it): draw the state anew.
   */
  readonly isSnapshot: boolean;
  /** Begins another `watch` after this update (`resumeToken`). Opaque, and no secret. */
  readonly resumeToken: string;
}

/** What watching a game takes. */
export interface WatchOptions {
  /** Whether to list the seat's legal moves in the states; not if left out. */
  readonly legalMoves?: boolean | undefined;
  /** The token of an update, to go on after it; if left out, a snapshot comes first. */
  readonly resumeToken?: string | undefined;
  /**
   * For how many milliseconds to wait without a sign of life from the service, and to try again, before the last failure is
   * thrown; `Infinity` is without end. A minute if left out. It must be longer than the service's pause between two signs of
   * life (15 seconds unless its operator chose otherwise), else a game in which nobody moves ends the watch.
   */
  readonly idleTimeoutMs?: number | undefined;
  /** Ends the watch; its iteration then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Why a stream is over that the game did not end. */
interface StreamFailure {
  /** Whether trying again may help. */
  readonly isRetryable: boolean;
  /** After how many milliseconds the service suggests to try again. */
  readonly retryDelayMs?: number | undefined;
  /** What the caller is told where it does not help. */
  error(): SodaFountainError;
}

/**
 * A game that is being followed: iterate over it, once, for its updates (`for await (const update of watch)`). It is closed
 * at the end of the loop, however the loop is left. Who calls `next` by hand closes it by hand.
 */
export class Watch implements AsyncIterableIterator<Update, undefined> {
  /** The game's id. */
  readonly gameId: string;
  readonly #calls: GameSession;
  readonly #seat: number | undefined;
  readonly #request: WatchGameRequest;
  readonly #options: WatchOptions;
  readonly #idleTimeoutMs: number;
  readonly #updates: AsyncGenerator<Update, undefined, undefined>;
  #until = Infinity;
  #longestPauseMs = MIN_BACKOFF_MS;
  #finished = false;
  /** Why the last stream that said so was over, if nothing was heard since. */
  #last: StreamFailure | undefined;
  #closed = false;
  #ending: Cancellation | undefined;

  /**
   * Made by `watch` of a seat, a spectator or a host.
   *
   * @param calls - in whose name.
   * @param seat - the seat to look for; undefined where the token says it, and for a spectator's view.
   * @param options - how.
   * @throws TypeError and RangeError where the patience is no positive number, TypeError where the request cannot be written.
   */
  constructor(calls: GameSession, seat: number | undefined, options: WatchOptions) {
    const { idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS, resumeToken = "", legalMoves = false } = options;
    this.gameId = calls.gameId;
    this.#calls = calls;
    this.#seat = seat;
    this.#options = options;
    this.#idleTimeoutMs = idleTimeoutMs === Infinity ? idleTimeoutMs : validateTimeout(idleTimeoutMs, "patienceMs");
    const request = { gameId: this.gameId, seat, resumeToken, includeLegalMoves: legalMoves };
    this.#request = copyMessage(WatchGameRequestSchema, create(WatchGameRequestSchema, request));
    this.#updates = this.#follow();
  }

  /** Whether it was closed. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Waits for the next update. */
  next(): Promise<IteratorResult<Update, undefined>> {
    return this.#updates.next();
  }

  /** Ends the watch; what leaves a loop early calls it. */
  return(): Promise<IteratorResult<Update, undefined>> {
    this.close();
    return this.#updates.return(undefined);
  }

  /** Ends the watch, also one whose next update is waited for: it has no more updates. */
  close(): void {
    this.#closed = true;
    this.#ending?.come("cancelled");
  }

  /** Returns itself. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Ends the watch at the end of the block of an `await using` declaration. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** Opens one stream after the other. */
  async *#follow(): AsyncGenerator<Update, undefined, undefined> {
    const { caller } = this.#calls;
    if (this.#isOver()) {
      return undefined;
    }
    const ending = (this.#ending = caller.begin(this.#options.signal));
    this.#resetIdleDeadline();
    try {
      for (;;) {
        const problem = yield* this.#hear(
          new WatchStream(this.#calls, clone(WatchGameRequestSchema, this.#request), ending.signal),
        );
        if (problem === undefined || this.#finished) {
          return undefined; // of a game that is finished, the rest would have been that it is over
        }
        this.#last = problem;
        await sleep(caller.clock, this.#pauseAfter(problem), ending.signal);
        if (this.#isOver()) {
          return undefined;
        }
      }
    } finally {
      caller.over(ending);
    }
  }

  /** Hears a stream, and tells its updates; returns why it is over, undefined where the watch is. */
  async *#hear(stream: WatchStream): AsyncGenerator<Update, StreamFailure | undefined, undefined> {
    const { clock } = this.#calls.caller;
    try {
      for (;;) {
        const heard = await stream.read(Math.min(STREAM_TIMEOUT_MS, this.#until - clock.now()));
        if (this.#isOver()) {
          return undefined;
        }
        if (heard.what !== "message") {
          return this.#problem(heard);
        }
        const { item, resumeToken } = heard.message;
        if (item.case === "end") {
          return item.value.reason === WatchEndReason.FINISHED ? undefined : this.#ended(item.value.reason);
        }
        this.#request.resumeToken = resumeToken;
        this.#last = undefined;
        this.#longestPauseMs = MIN_BACKOFF_MS;
        this.#resetIdleDeadline();
        const update = updateOf(heard.message);
        if (update !== undefined) {
          this.#calls.noteState(this.#seat, update.state, !update.isSnapshot);
          this.#finished = update.state.status === GameStatus.FINISHED;
          yield update;
          this.#resetIdleDeadline();
        }
      }
    } finally {
      stream.close();
    }
  }

  /** Begins to count how long the caller has waited without a message. */
  #resetIdleDeadline(): void {
    this.#until = this.#calls.caller.clock.now() + this.#idleTimeoutMs;
  }

  /** Tells whether the watch was closed; throws where its client was, or its signal was aborted. */
  #isOver(): boolean {
    if (this.#closed) {
      return true;
    }
    this.#options.signal?.throwIfAborted();
    if (this.#calls.caller.closed) {
      throw closed("This client was closed, and its watch with it.");
    }
    return false;
  }

  /**
   * Finds for how many milliseconds to wait before the next stream: longer and longer, and not the same for all, lest a
   * crowd come back at once.
   *
   * @throws SodaFountainError where trying again would not help, or the caller's patience is over.
   */
  #pauseAfter(problem: StreamFailure): number {
    const { clock } = this.#calls.caller;
    const wait = Math.max(this.#longestPauseMs * (0.5 + clock.random() / 2), problem.retryDelayMs ?? 0);
    this.#longestPauseMs = Math.min(2 * this.#longestPauseMs, MAX_BACKOFF_MS);
    if (!problem.isRetryable || clock.now() + wait >= this.#until) {
      throw problem.error();
    }
    return wait;
  }

  /** The problem of a stream that is over without having said why. */
  #problem(heard: Exclude<StreamResult, { what: "message" }>): StreamFailure {
    switch (heard.what) {
      case "silence":
        this.#calls.caller.checkConnection();
        if (this.#last !== undefined) {
          // It says more, but when to try again it said of its own stream.
          return { ...this.#last, retryDelayMs: undefined };
        }
        return unreachable(
          `Nothing was heard of game ${this.gameId} for ${this.#idleTimeoutMs / 1000} s: ` +
            "the service or the way to it hangs.",
        );
      case "end":
        return this.#ended(WatchEndReason.UNSPECIFIED);
      case "failure": {
        const { code, reason, retryDelayMs } = heard.failure;
        const isRetryable = reason === undefined ? RETRYABLE_CODES.has(code) : RETRYABLE_REASONS.has(reason);
        return { isRetryable, retryDelayMs, error: () => this.#calls.caller.toError(heard.failure, "WatchGame") };
      }
    }
  }

  /** The problem of a stream that ended before the game did. */
  #ended(reason: WatchEndReason): StreamFailure {
    switch (reason) {
      case WatchEndReason.DELETED:
        return gone("GAME_DELETED", `Game ${this.gameId} was deleted.`);
      case WatchEndReason.EXPIRED:
        return gone("GAME_EXPIRED", `Game ${this.gameId} has expired.`);
      default:
        return unreachable(`The service ended the watch of game ${this.gameId} too early.`);
    }
  }
}

function unreachable(message: string): StreamFailure {
  return {
    isRetryable: true,
    error: () => new SodaFountainError(message, { code: "UNAVAILABLE", reason: "UNREACHABLE" }),
  };
}

function gone(reason: Reason, message: string): StreamFailure {
  return { isRetryable: false, error: () => new SodaFountainError(message, { code: "NOT_FOUND", reason }) };
}

/** What a message tells the caller: nothing if it is a sign of life, or of a kind that is not known yet. */
function updateOf({ item, resumeToken }: WatchGameResponse): Update | undefined {
  switch (item.case) {
    case "snapshot":
      return { state: item.value, events: [], isSnapshot: true, resumeToken };
    case "update": {
      const { state = create(GameStateSchema), events } = item.value;
      return { state, events, isSnapshot: false, resumeToken };
    }
    default:
      return undefined;
  }
}
