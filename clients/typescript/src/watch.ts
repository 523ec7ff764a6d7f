/// <reference lib="esnext.disposable" preserve="true" />

/** Watches a game over a sequence of streams. Each stream resumes after the last message of the one before. */

import { clone, create } from "@bufbuild/protobuf";

import type { Cancellation } from "./cancellation.js";
import { sleep } from "./clock.js";
import type { Reason } from "./errors.js";
import { SodaFountainError } from "./errors.js";
import type { GameSession } from "./game-session.js";
import type { Event, GameState } from "./gen/sodafountain/v1/game_pb.js";
import { GameStateSchema, GameStatus } from "./gen/sodafountain/v1/game_pb.js";
import type { WatchGameRequest, WatchGameResponse } from "./gen/sodafountain/v1/game_service_pb.js";
import { WatchEndReason, WatchGameRequestSchema } from "./gen/sodafountain/v1/game_service_pb.js";
import { clientClosed, copyMessage } from "./rpc-client.js";
import { validateTimeout } from "./validation.js";
import type { StreamResult } from "./watch-stream.js";
import { WatchStream } from "./watch-stream.js";

const DEFAULT_IDLE_TIMEOUT_MS = 60_000;

/**
 * A stream without a message for this long is replaced: three times the default heartbeat interval of the service. If the
 * interval is configured longer than this, quiet streams are replaced needlessly, which costs one call each.
 */
const STREAM_TIMEOUT_MS = 45_000;
const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5000;

/** The reasons of the service after which a stream is retried. */
const RETRYABLE_REASONS = new Set(["STORE_UNAVAILABLE", "UNCONFIRMED", "DRAINING", "UPGRADING", "LIMIT"]);
/** The status codes, without a reason of the service, after which a stream is retried. */
const RETRYABLE_CODES = new Set([
  "UNAVAILABLE",
  "CANCELLED",
  "ABORTED",
  "DEADLINE_EXCEEDED",
  "RESOURCE_EXHAUSTED",
  // Proxies report broken streams as these.
  "INTERNAL",
  "UNKNOWN",
]);

/** A change of a watched game: the events since the previous update, and the newest state. */
export interface Update {
  /** The newest state, as the viewer sees it. */
  readonly state: GameState;
  /**
   * The events since the previous update, in order, as the viewer sees them; of several moves if they came in quick
   * succession or the watch was interrupted. Empty if {@link Update.isSnapshot}.
   */
  readonly events: readonly Event[];
  /**
   * Whether this update is a snapshot. The first update is one, unless the watch resumes. A later snapshot means that the
   * service's store lost changes that were reported before: redraw the game from this state.
   */
  readonly isSnapshot: boolean;
  /** Pass it to another `watch` to resume after this update. Opaque; not a secret. */
  readonly resumeToken: string;
}

/** Options of `watch`. */
export interface WatchOptions {
  /** Whether states list the seat's legal moves. Default: false. */
  readonly legalMoves?: boolean | undefined;
  /** The resume token of an update, to continue after it. Default: start with a snapshot. */
  readonly resumeToken?: string | undefined;
  /**
   * The time in milliseconds without any message from the service after which the watch gives up and throws the last
   * failure; `Infinity` to retry forever. Default: 60000. It must be longer than the service's heartbeat interval (15 seconds
   * by default); otherwise a game without moves ends the watch.
   */
  readonly idleTimeoutMs?: number | undefined;
  /** Ends the watch; the iteration then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Why a stream ended before the game did. */
interface StreamFailure {
  /** Whether a retry may succeed. */
  readonly isRetryable: boolean;
  /** The delay in milliseconds that the service suggests. */
  readonly retryDelayMs?: number | undefined;
  /** Return the error to throw if the watch gives up. */
  error(): SodaFountainError;
}

/**
 * A watched game. Iterate over it once: `for await (const update of watch)`. Leaving the loop closes the watch. If you call
 * `next` yourself, call `close` when done.
 */
export class Watch implements AsyncIterableIterator<Update, undefined> {
  /** The id of the game. */
  readonly gameId: string;
  readonly #session: GameSession;
  readonly #seat: number | undefined;
  readonly #request: WatchGameRequest;
  readonly #options: WatchOptions;
  readonly #idleTimeoutMs: number;
  readonly #updates: AsyncGenerator<Update, undefined, undefined>;
  #idleDeadline = Infinity;
  #backoffMs = MIN_BACKOFF_MS;
  #finished = false;
  /** The failure of the last stream that reported one; undefined if a message has arrived since. */
  #lastFailure: StreamFailure | undefined;
  #closed = false;
  #cancellation: Cancellation | undefined;

  /**
   * Use `watch` of a seat, a spectator or a host instead.
   *
   * @param session - the caller.
   * @param seat - the seat whose view a host watches; undefined for the caller's own view.
   * @param options - options of the watch.
   * @throws TypeError or RangeError if the idle timeout is not a positive number.
   * @throws TypeError if the request cannot be serialized.
   */
  constructor(session: GameSession, seat: number | undefined, options: WatchOptions) {
    const { idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS, resumeToken = "", legalMoves = false } = options;
    this.gameId = session.gameId;
    this.#session = session;
    this.#seat = seat;
    this.#options = options;
    this.#idleTimeoutMs = idleTimeoutMs === Infinity ? idleTimeoutMs : validateTimeout(idleTimeoutMs, "idleTimeoutMs");
    const request = { gameId: this.gameId, seat, resumeToken, includeLegalMoves: legalMoves };
    this.#request = copyMessage(WatchGameRequestSchema, create(WatchGameRequestSchema, request));
    this.#updates = this.#watch();
  }

  /** Whether the watch is closed. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Wait for the next update. */
  next(): Promise<IteratorResult<Update, undefined>> {
    return this.#updates.next();
  }

  /** Close the watch. JavaScript calls this when a loop is left early. */
  return(): Promise<IteratorResult<Update, undefined>> {
    this.close();
    return this.#updates.return(undefined);
  }

  /** Close the watch. A pending `next` then returns no update. */
  close(): void {
    this.#closed = true;
    this.#cancellation?.cancel("aborted");
  }

  /** Return the watch itself. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Close the watch at the end of the block of an `await using` declaration. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** Read one stream after another until the watch ends. */
  async *#watch(): AsyncGenerator<Update, undefined, undefined> {
    const { rpc } = this.#session;
    if (this.#checkClosed()) {
      return undefined;
    }
    const cancellation = (this.#cancellation = rpc.track(this.#options.signal));
    this.#resetIdleDeadline();
    try {
      for (;;) {
        const failure = yield* this.#readStream(
          new WatchStream(this.#session, clone(WatchGameRequestSchema, this.#request), cancellation.signal),
        );
        if (failure === undefined || this.#finished) {
          return undefined; // after the last change of a finished game, only the end message is missing
        }
        this.#lastFailure = failure;
        await sleep(rpc.clock, this.#nextBackoff(failure), cancellation.signal);
        if (this.#checkClosed()) {
          return undefined;
        }
      }
    } finally {
      rpc.release(cancellation);
    }
  }

  /** Yield the updates of a stream. Return why the stream ended; undefined if the watch has ended. */
  async *#readStream(stream: WatchStream): AsyncGenerator<Update, StreamFailure | undefined, undefined> {
    const { clock } = this.#session.rpc;
    try {
      for (;;) {
        const result = await stream.read(Math.min(STREAM_TIMEOUT_MS, this.#idleDeadline - clock.now()));
        if (this.#checkClosed()) {
          return undefined;
        }
        if (result.type !== "message") {
          return this.#streamFailure(result);
        }
        const { item, resumeToken } = result.message;
        if (item.case === "end") {
          return item.value.reason === WatchEndReason.FINISHED ? undefined : this.#earlyEnd(item.value.reason);
        }
        this.#request.resumeToken = resumeToken;
        this.#lastFailure = undefined;
        this.#backoffMs = MIN_BACKOFF_MS;
        this.#resetIdleDeadline();
        const update = toUpdate(result.message);
        if (update !== undefined) {
          this.#session.noteState(this.#seat, update.state, { isUpdate: !update.isSnapshot });
          this.#finished = update.state.status === GameStatus.FINISHED;
          yield update;
          this.#resetIdleDeadline(); // the time that the caller took does not count
        }
      }
    } finally {
      stream.close();
    }
  }

  #resetIdleDeadline(): void {
    this.#idleDeadline = this.#session.rpc.clock.now() + this.#idleTimeoutMs;
  }

  /** Return whether the watch was closed; throw if its client was closed or its signal aborted. */
  #checkClosed(): boolean {
    if (this.#closed) {
      return true;
    }
    this.#options.signal?.throwIfAborted();
    if (this.#session.rpc.closed) {
      throw clientClosed("The watch ended because this client was closed.");
    }
    return false;
  }

  /**
   * Return the delay in milliseconds before the next stream: exponential backoff, with a jitter so that many clients do not
   * reconnect at the same time.
   *
   * @throws SodaFountainError if a retry would not succeed, or the idle timeout would expire before it.
   */
  #nextBackoff(failure: StreamFailure): number {
    const { clock } = this.#session.rpc;
    const delayMs = Math.max(this.#backoffMs * (0.5 + clock.random() / 2), failure.retryDelayMs ?? 0);
    this.#backoffMs = Math.min(2 * this.#backoffMs, MAX_BACKOFF_MS);
    if (!failure.isRetryable || clock.now() + delayMs >= this.#idleDeadline) {
      throw failure.error();
    }
    return delayMs;
  }

  /** Return the failure of a stream that ended without an end message. */
  #streamFailure(result: Exclude<StreamResult, { type: "message" }>): StreamFailure {
    switch (result.type) {
      case "timeout":
        this.#session.rpc.checkConnection();
        if (this.#lastFailure !== undefined) {
          // The earlier failure is more specific than a timeout, but its suggested delay has passed.
          return { ...this.#lastFailure, retryDelayMs: undefined };
        }
        return unreachable(
          `No message about game ${this.gameId} arrived for ${this.#idleTimeoutMs / 1000} s: ` +
            "the service or the connection to it is not responding.",
        );
      case "end":
        return this.#earlyEnd(WatchEndReason.UNSPECIFIED);
      case "failure": {
        const { code, reason, retryDelayMs } = result.failure;
        const isRetryable = reason === undefined ? RETRYABLE_CODES.has(code) : RETRYABLE_REASONS.has(reason);
        return { isRetryable, retryDelayMs, error: () => this.#session.rpc.toError(result.failure, "WatchGame") };
      }
    }
  }

  /** Return the failure of a stream that ended before the game did. */
  #earlyEnd(reason: WatchEndReason): StreamFailure {
    switch (reason) {
      case WatchEndReason.DELETED:
        return gone("GAME_DELETED", `Game ${this.gameId} was deleted.`);
      case WatchEndReason.EXPIRED:
        return gone("GAME_EXPIRED", `Game ${this.gameId} has expired.`);
      default:
        return unreachable(`The service ended the watch of game ${this.gameId} before the game was over.`);
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

/** Convert a message to an update; undefined for heartbeats and items that this release does not know. */
function toUpdate({ item, resumeToken }: WatchGameResponse): Update | undefined {
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
