import type { ErrorReason } from "./gen/sodafountain/v1/errors_pb.js";
import { hideGetters } from "./inspect.js";

/** The status codes of gRPC, by number. */
export const STATUS_CODES = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;

/** The name of a gRPC status code, `NOT_FOUND` for instance. */
export type StatusCode = (typeof STATUS_CODES)[number];

/** Why the service refused a call: the names of the contract's `ErrorReason`, which documents each. */
export type ServiceReason = Exclude<keyof typeof ErrorReason, "UNSPECIFIED">;

/**
 * Why a call failed: a value to switch on. Either what the service says ({@link ServiceReason}), or one of these, which no
 * service gives:
 *
 * - `UNREACHABLE`: no service answers at the address, after every retry. Whether a change was made is not known.
 * - `DEADLINE_EXCEEDED`: no answer came in time. Whether a change was made is not known.
 * - `CLIENT_CLOSED`: the client was closed before the call, or under it: then whether a change was made is not known.
 * - `GAME_DELETED`: the game was deleted while it was watched.
 * - `GAME_EXPIRED`: the game expired while it was watched.
 * - `UNKNOWN`: another failure, or a reason that this release does not know; go by the error's `code`.
 */
export type Reason =
  ServiceReason | "UNREACHABLE" | "DEADLINE_EXCEEDED" | "CLIENT_CLOSED" | "GAME_DELETED" | "GAME_EXPIRED" | "UNKNOWN";

/** A field of a request that is wrong. */
export interface FieldViolation {
  /** The path of the field in the request message, `options.soda_jerk.first_seat` for instance. */
  readonly field: string;
  /** What would be right. */
  readonly description: string;
}

/** What there is to know of an error apart from its message. */
export interface SodaFountainErrorOptions {
  /** See {@link SodaFountainError.reason}. */
  readonly reason: Reason;
  /** See {@link SodaFountainError.code}. */
  readonly code: StatusCode;
  /** See {@link SodaFountainError.metadata}; empty if left out. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** See {@link SodaFountainError.fieldViolations}; empty if left out. */
  readonly fieldViolations?: readonly FieldViolation[] | undefined;
  /** See {@link SodaFountainError.retryDelayMs}. */
  readonly retryDelayMs?: number | undefined;
  /** See {@link SodaFountainError.requestId}. */
  readonly requestId?: string | undefined;
  /** What brought it about, of the library that carries calls. */
  readonly cause?: unknown;
}

/** A call failed. Its `message` is one sentence for people; the rest is for programs, which switch on `reason`. */
export class SodaFountainError extends Error {
  /** Why. */
  readonly reason: Reason;
  /** The gRPC status code, by name. */
  readonly code: StatusCode;
  /** Facts that come with the reason, `version` or `call_id` for instance; see the contract's `ErrorReason`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The fields of the request that are wrong. */
  readonly fieldViolations: readonly FieldViolation[];
  /** After how many milliseconds the service suggests to try again; undefined where it suggests nothing. */
  readonly retryDelayMs: number | undefined;
  readonly #requestId: string | undefined;

  /**
   * @param message - one sentence for people.
   * @param facts - the rest.
   */
  constructor(message: string, facts: SodaFountainErrorOptions) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.reason = facts.reason;
    this.code = facts.code;
    this.metadata = facts.metadata ?? {};
    this.fieldViolations = facts.fieldViolations ?? [];
    this.retryDelayMs = facts.retryDelayMs;
    this.#requestId = facts.requestId;
  }

  /**
   * The id under which a new game or a move was asked for, else undefined. Asking for the same again under the same id
   * shows what became of it where that is not known. A secret where it made a game: keep it out of logs. What prints errors
   * does not show it.
   */
  get requestId(): string | undefined {
    return this.#requestId;
  }
}

Object.defineProperty(SodaFountainError.prototype, "name", { value: "SodaFountainError" });
hideGetters(SodaFountainError.prototype);
