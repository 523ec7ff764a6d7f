/** Converts the failure of a call to a SodaFountainError: by the reason of the service, else by the status code. */

import type { Code } from "@connectrpc/connect";
import { ConnectError } from "@connectrpc/connect";

import { clause, findConnectionFailure } from "./connection-errors.js";
import type { ErrorDetails } from "./error-details.js";
import { parseErrorDetails } from "./error-details.js";
import type { Reason, ServiceReason, StatusCode } from "./errors.js";
import { STATUS_CODES, SodaFountainError } from "./errors.js";
import { ErrorReasonSchema } from "./gen/sodafountain/v1/errors_pb.js";

/** The failure of a call, reported by the service, by the transport or by a proxy. */
export interface Failure extends ErrorDetails {
  /** The status code. */
  readonly code: StatusCode;
  /** The message of the service, or a description of what broke. */
  readonly message: string;
  /** The reason of the service; undefined if missing or unknown to this release. */
  readonly reason: ServiceReason | undefined;
  /** What the transport threw. */
  readonly cause: unknown;
}

/** The facts of a call that appear in its errors. */
export interface CallInfo {
  /** The address of the service. */
  readonly target: string;
  /** Whether the call used TLS. */
  readonly tls: boolean;
  /** The name of the RPC. */
  readonly rpc: string;
  /** The deadline of the call in milliseconds. */
  readonly timeoutMs: number;
  /** The request id of a change. */
  readonly requestId: string | undefined;
}

/** The reason and the message of a failure without a reason of the service. */
type ErrorTemplate = readonly [Reason, (failure: Failure, call: CallInfo) => string];

/** Failures reported by gRPC itself or by a proxy. */
const ERRORS_BY_CODE: Readonly<Partial<Record<StatusCode, ErrorTemplate>>> = {
  UNAVAILABLE: [
    "UNREACHABLE",
    ({ message }, { target, tls }) =>
      `Cannot reach a Soda Fountain service at ${target}${tls ? " over TLS" : ""} (${clause(message)}).`,
  ],
  CANCELLED: [
    "UNREACHABLE",
    ({ message }, { target, rpc }) => `The server at ${target} cancelled ${rpc} (${clause(message)}).`,
  ],
  DEADLINE_EXCEEDED: [
    "DEADLINE_EXCEEDED",
    (_, { target, tls, rpc, timeoutMs }) =>
      `${target} did not answer ${rpc}${tls ? " over TLS" : ""} within ${timeoutMs / 1000} s.`,
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

/** Return a failure without details. */
export function failureFromCode(code: StatusCode, message: string, cause?: unknown): Failure {
  return { code, message, reason: undefined, cause, info: undefined, fieldViolations: [], retryDelayMs: undefined };
}

/**
 * Parse what the transport threw.
 *
 * @param cause - what the transport threw.
 * @param tls - whether the call used TLS.
 */
export function parseFailure(cause: unknown, tls: boolean): Failure {
  const connectionFailure = findConnectionFailure(cause, tls);
  if (connectionFailure !== undefined) {
    return failureFromCode(connectionFailure.code, connectionFailure.cause, cause);
  }
  const error = ConnectError.from(cause);
  const details = parseErrorDetails(error.details.filter((detail) => "type" in detail));
  return { code: statusCode(error.code), message: error.rawMessage, reason: serviceReason(details), cause, ...details };
}

/** Convert a failure to an error. */
export function toError(failure: Failure, call: CallInfo): SodaFountainError {
  const { code, info, cause, fieldViolations, retryDelayMs } = failure;
  const { requestId } = call;
  if (info === undefined) {
    const [reason, message] = ERRORS_BY_CODE[code] ?? DEFAULT_ERROR;
    return new SodaFountainError(message(failure, call), { code, reason, requestId, cause });
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

function serviceReason({ info }: ErrorDetails): ServiceReason | undefined {
  const known = ErrorReasonSchema.values.find(({ localName, number }) => localName === info?.reason && number !== 0);
  return known?.localName as ServiceReason | undefined; // ServiceReason is derived from the same enum
}

function statusCode(code: Code): StatusCode {
  const names: readonly StatusCode[] = STATUS_CODES;
  return names[code] ?? "UNKNOWN";
}
