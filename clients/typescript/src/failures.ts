/** How a failed call becomes the error that tells best why: one table by status code, and the service's own reasons. */

import type { Code } from "@connectrpc/connect";
import { ConnectError } from "@connectrpc/connect";

import { findConnectionFailure, clause } from "./connection-errors.js";
import type { ErrorDetails } from "./error-details.js";
import { parseErrorDetails } from "./error-details.js";
import type { Reason, ServiceReason, StatusCode } from "./errors.js";
import { STATUS_CODES, SodaFountainError } from "./errors.js";
import { ErrorReasonSchema } from "./gen/sodafountain/v1/errors_pb.js";

/** What a failed call tells, by the service's own word or without one. */
export interface Failure extends ErrorDetails {
  /** The status code. */
  readonly code: StatusCode;
  /** What the service said, or in a clause what broke. */
  readonly message: string;
  /** The service's reason; undefined where it gave none that this release knows. */
  readonly reason: ServiceReason | undefined;
  /** What was thrown. */
  readonly cause: unknown;
}

/** What a call was, as far as its errors tell it. */
export interface CallInfo {
  /** The address that was called. */
  readonly target: string;
  /** Whether over TLS. */
  readonly tls: boolean;
  /** The RPC's name. */
  readonly rpc: string;
  /** The call's deadline in milliseconds. */
  readonly timeoutMs: number;
  /** The id under which a change was asked for. */
  readonly requestId: string | undefined;
}

/** The error that no service gave a reason for: its reason, and its sentence. */
type ErrorTemplate = readonly [Reason, (failure: Failure, call: CallInfo) => string];

/** What gRPC itself or something on the way reports. */
const ERRORS_BY_CODE: Readonly<Partial<Record<StatusCode, ErrorTemplate>>> = {
  UNAVAILABLE: [
    "UNREACHABLE",
    ({ message }, { target, tls }) =>
      `Cannot reach a Soda Fountain service at ${target}${tls ? " over TLS" : ""} (${clause(message)}).`,
  ],
  CANCELLED: [
    "UNREACHABLE",
    ({ message }, { target, rpc }) => `The server at ${target} went away during ${rpc} (${clause(message)}).`,
  ],
  DEADLINE_EXCEEDED: [
    "DEADLINE_EXCEEDED",
    (_, { target, rpc, timeoutMs }) => `${target} did not answer ${rpc} within ${timeoutMs / 1000} s.`,
  ],
  UNIMPLEMENTED: [
    "UNIMPLEMENTED",
    ({ message }, { target, rpc }) => `The server at ${target} does not offer ${rpc} (${clause(message)}).`,
  ],
  RESOURCE_EXHAUSTED: [
    "LIMIT",
    ({ message }, { target, rpc }) => `${rpc} hit a limit at ${target} (${clause(message)}).`,
  ],
};

const DEFAULT_ERROR: ErrorTemplate = [
  "UNKNOWN",
  ({ code, message }, { target, rpc }) => `${rpc} failed at ${target} with ${code} (${clause(message)}).`,
];

/** A failure of which nothing is known but its code. */
export function failureFromCode(code: StatusCode, message: string, cause?: unknown): Failure {
  return { code, message, reason: undefined, cause, info: undefined, fieldViolations: [], retryDelayMs: undefined };
}

/**
 * Reads what a failed call tells.
 *
 * @param cause - what the library that carries calls threw.
 * @param tls - whether the call went over TLS.
 */
export function parseFailure(cause: unknown, tls: boolean): Failure {
  const broken = findConnectionFailure(cause, tls);
  if (broken !== undefined) {
    return failureFromCode(broken.code, broken.cause, cause);
  }
  const error = ConnectError.from(cause);
  const details = parseErrorDetails(error.details.filter((detail) => "type" in detail));
  return { code: nameOf(error.code), message: error.rawMessage, reason: reasonOf(details), cause, ...details };
}

/** The error that tells best why a call failed. */
export function toError(failure: Failure, call: CallInfo): SodaFountainError {
  const { code, info, cause, fieldViolations, retryDelayMs } = failure;
  const { requestId } = call;
  if (info === undefined) {
    const [reason, sentence] = ERRORS_BY_CODE[code] ?? DEFAULT_ERROR;
    return new SodaFountainError(sentence(failure, call), { code, reason, requestId, cause });
  }
  return new SodaFountainError(failure.message || `${call.rpc} failed with ${info.reason}.`, {
    code,
    reason: failure.reason ?? "UNKNOWN",
    metadata: info.metadata,
    fieldViolations,
    retryDelayMs,
    requestId,
    cause,
  });
}

function reasonOf({ info }: ErrorDetails): ServiceReason | undefined {
  const known = ErrorReasonSchema.values.find(({ localName, number }) => localName === info?.reason && number !== 0);
  return known?.localName as ServiceReason | undefined; // the names of the enum are those of the type
}

function nameOf(code: Code): StatusCode {
  const names: readonly StatusCode[] = STATUS_CODES;
  return names[code] ?? "UNKNOWN";
}
