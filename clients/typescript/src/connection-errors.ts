/** What the libraries below say about a broken connection, said to people: the cause alone. */

import type { StatusCode } from "./errors.js";

/** Why nothing could be carried. */
export interface ConnectionFailure {
  /** What gRPC calls that. */
  readonly code: StatusCode;
  /** A clause without a full stop. */
  readonly cause: string;
}

/** Node's codes, in words. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was reset",
  ENOTFOUND: "no host of that name is known",
  EAI_AGAIN: "the name of the host cannot be looked up",
  ETIMEDOUT: "the connection timed out",
  EHOSTUNREACH: "there is no way to the host",
  ENETUNREACH: "there is no way to its network",
  UND_ERR_SOCKET: "the connection was closed",
  CANCEL: "the connection was closed",
  ERR_HTTP2_GOAWAY_SESSION: "the server is closing its connections",
  ERR_HTTP2_SESSION_ERROR: "the connection broke",
  ERR_HTTP2_STREAM_CANCEL: "the connection was closed",
  ERR_HTTP2_INVALID_SESSION: "the connection was closed",
  ERR_HTTP2_ERROR: "the server speaks another protocol",
  ERR_TLS_CERT_ALTNAME_INVALID: "the TLS handshake failed: the server's certificate is for another host",
  ERR_SSL_WRONG_VERSION_NUMBER: "the TLS handshake failed: the server does not speak TLS",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "the TLS handshake failed: the server does not speak TLS",
};

/** How Node's codes about certificates begin or end. */
const CERTIFICATE_ERROR = /CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH$/;

/** How Node, or connect-node without Node's word, says that a stream was reset. */
const STREAM_RESET = /^(?:WatchStream closed with error code NGHTTP2_|http\/2 stream closed with error code )(\w+)/;

/** What gRPC makes of a reset; INTERNAL of the rest. A stream whose connection was closed is one that was cancelled. */
const RESET_STATUS_CODES: Readonly<Record<string, StatusCode>> = {
  REFUSED_STREAM: "UNAVAILABLE",
  CANCEL: "UNAVAILABLE",
  ENHANCE_YOUR_CALM: "RESOURCE_EXHAUSTED",
  INADEQUATE_SECURITY: "PERMISSION_DENIED",
};

/** How a server that speaks nothing but TLS treats a client that does not. */
const CONNECTION_CLOSED = /ECONNRESET|EPIPE|ERR_HTTP2_STREAM_CANCEL|UND_ERR_SOCKET|^CANCEL$/;

/**
 * Tells why a failure is one of the connection, or undefined where it is none.
 *
 * @param failure - what was thrown.
 * @param tls - whether the call went over TLS.
 */
export function findConnectionFailure(failure: unknown, tls: boolean): ConnectionFailure | undefined {
  const errors = causeChain(failure);
  for (const error of errors) {
    const reset = STREAM_RESET.exec(messageOf(error))?.[1];
    if (reset !== undefined) {
      return { code: RESET_STATUS_CODES[reset] ?? "INTERNAL", cause: describe(reset, messageOf(error), tls) };
    }
  }
  const found = errors.find((error) => errorCode(error) !== undefined);
  if (found !== undefined) {
    return { code: "UNAVAILABLE", cause: describe(errorCode(found) ?? "", found.message, tls) };
  }
  // What `fetch` throws; browsers say no more of it.
  const fetching = errors.findIndex((error) => error instanceof TypeError);
  return fetching < 0 ? undefined : { code: "UNAVAILABLE", cause: clause(errors.at(-1)?.message ?? "") };
}

/** A message without its full stop and line breaks. */
export function clause(message: string): string {
  return message.replace(/\s+/g, " ").replace(/[ .]+$/, "") || "no details";
}

function describe(code: string, message: string, tls: boolean): string {
  const words = DESCRIPTIONS[code];
  if (words !== undefined) {
    return !tls && CONNECTION_CLOSED.test(code) ? `${words}; the server may want TLS` : words;
  }
  if (CERTIFICATE_ERROR.test(code)) {
    return `the TLS handshake failed: the server's certificate is not trusted: ${clause(message)}`;
  }
  return code.startsWith("ERR_SSL_") ? `the TLS handshake failed: ${clause(message)}` : clause(message);
}

/** An error, those that caused it, and those that it sums up; each once. */
function causeChain(failure: unknown): readonly Error[] {
  const chain = new Set<Error>();
  const add = (error: unknown): void => {
    if (error instanceof Error && !chain.has(error)) {
      chain.add(error);
      add(error.cause);
      if (error instanceof AggregateError) {
        error.errors.forEach(add);
      }
    }
  };
  add(failure);
  return [...chain];
}

/** What an error says: of one of connect's without the code that it puts before that. */
function messageOf(error: Error): string {
  return "rawMessage" in error && typeof error.rawMessage === "string" ? error.rawMessage : error.message;
}

/** The code that Node gives its errors. */
function errorCode(error: Error): string | undefined {
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}
