import type { ErrorReason } from "./gen/sodafountain/v1/errors_pb.js";
import { hideGetters } from "./inspect.js";

/** The names of the gRPC status codes, by number. */
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

/** The name of a gRPC status code, such as `NOT_FOUND`. */
export type StatusCode = (typeof STATUS_CODES)[number];

/** A reason reported by the service: the names of the enum `ErrorReason`, which documents each. */
export type ServiceReason = Exclude<keyof typeof ErrorReason, "UNSPECIFIED">;

/**
 * The reason of a failed call, for programs to switch on: a {@link ServiceReason}, or one of these, which the client adds:
 *
 * - `UNREACHABLE`: the service could not be reached, even with retries. A change may or may not have been made.
 * - `DEADLINE_EXCEEDED`: no response arrived in time. A change may or may not have been made.
 * - `CLIENT_CLOSED`: the client was closed before or during the call. If during, a change may or may not have been made.
 * - `COMMITMENT_CHANGED`: a state or history does not match the commitment to the seed: the deal of the game may have been
 *   replaced. If the call was a move, it may have been made.
 * - `GAME_DELETED`: the game was deleted while it was watched.
 * - `GAME_EXPIRED`: the game expired while it was watched.
 * - `UNKNOWN`: another failure, or a reason that this release does not know. Use `code`.
 */
export type Reason =
  | ServiceReason
  | "UNREACHABLE"
  | "DEADLINE_EXCEEDED"
  | "CLIENT_CLOSED"
  | "COMMITMENT_CHANGED"
  | "GAME_DELETED"
  | "GAME_EXPIRED"
  | "UNKNOWN";

/** An invalid field of a request. */
export interface FieldViolation {
  /** The path of the field in the request message, such as `options.soda_jerk.first_seat`. */
  readonly field: string;
  /** The condition that a valid value meets. */
  readonly description: string;
}

/** Options of the constructor of {@link SodaFountainError}. */
export interface SodaFountainErrorOptions {
  /** See {@link SodaFountainError.reason}. */
  readonly reason: Reason;
  /** See {@link SodaFountainError.code}. */
  readonly code: StatusCode;
  /** See {@link SodaFountainError.metadata}. Default: empty. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** See {@link SodaFountainError.fieldViolations}. Default: empty. */
  readonly fieldViolations?: readonly FieldViolation[] | undefined;
  /** See {@link SodaFountainError.retryDelayMs}. */
  readonly retryDelayMs?: number | undefined;
  /** See {@link SodaFountainError.requestId}. */
  readonly requestId?: string | undefined;
  /** The underlying error of the transport. */
  readonly cause?: unknown;
}

/** The error of a failed call. `message` is one sentence for people; programs switch on `reason`. */
export class SodaFountainError extends Error {
  /** Why the call failed. */
  readonly reason: Reason;
  /** The name of the gRPC status code. */
  readonly code: StatusCode;
  /** Additional facts, such as `version` or `call_id`; see the enum `ErrorReason`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The invalid fields of the request. */
  readonly fieldViolations: readonly FieldViolation[];
  /** The delay in milliseconds after which the service suggests a retry; undefined if it suggests none. */
  readonly retryDelayMs: number | undefined;
  readonly #requestId: string | undefined;

  /**
   * @param message - one sentence for people.
   * @param options - reason, status code and the rest.
   */
  constructor(message: string, options: SodaFountainErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = options.reason;
    this.code = options.code;
    this.metadata = options.metadata ?? {};
    this.fieldViolations = options.fieldViolations ?? [];
    this.retryDelayMs = options.retryDelayMs;
    this.#requestId = options.requestId;
  }

  /**
   * The request id of a new game or a move; undefined for other calls. Repeat the request with this id to find out whether
   * the change was made: it is never made twice. The request id of a new game is a secret; keep it out of logs. Printing
   * the error does not show it.
   */
  get requestId(): string | undefined {
    return this.#requestId;
  }
}

Object.defineProperty(SodaFountainError.prototype, "name", { value: "SodaFountainError" });
hideGetters(SodaFountainError.prototype);
