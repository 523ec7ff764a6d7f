/** Recognizes connection failures in what the transports throw, and describes their cause in plain words. */

import type { StatusCode } from "./errors.js";

/** A failure of the connection. */
export interface ConnectionFailure {
  /** The gRPC status code. */
  readonly code: StatusCode;
  /** A description without a full stop. */
  readonly cause: string;
}

/** Descriptions of Node's error codes. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was reset",
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the host name cannot be resolved",
  ETIMEDOUT: "the connection timed out",
  EHOSTUNREACH: "the host is unreachable",
  ENETUNREACH: "the network is unreachable",
  UND_ERR_SOCKET: "the connection was closed",
  CANCEL: "the connection was closed",
  ERR_HTTP2_GOAWAY_SESSION: "the server is closing its connections",
  ERR_HTTP2_SESSION_ERROR: "the connection broke",
  ERR_HTTP2_STREAM_CANCEL: "the connection was closed",
  ERR_HTTP2_INVALID_SESSION: "the connection was closed",
  ERR_HTTP2_ERROR: "the server's response is not valid HTTP/2",
  ERR_TLS_CERT_ALTNAME_INVALID: "the TLS handshake failed: the server's certificate is for another host",
  ERR_SSL_WRONG_VERSION_NUMBER: "the TLS handshake failed: the server does not speak TLS",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "the TLS handshake failed: the server does not speak TLS",
};

/** Matches Node's error codes about certificates. */
const CERTIFICATE_ERROR = /CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH$/;

/** Matches the messages of Node and of connect-node about a stream reset. */
const STREAM_RESET = /^(?:Stream closed with error code NGHTTP2_|http\/2 stream closed with error code )(\w+)/;

/** The status codes of HTTP/2 reset codes; others are INTERNAL. Node reports a closed connection as CANCEL. */
const RESET_STATUS_CODES: Readonly<Record<string, StatusCode>> = {
  REFUSED_STREAM: "UNAVAILABLE",
  CANCEL: "UNAVAILABLE",
  ENHANCE_YOUR_CALM: "RESOURCE_EXHAUSTED",
  INADEQUATE_SECURITY: "PERMISSION_DENIED",
};

/** Matches the codes of a closed connection, which may mean that the server requires TLS. */
const CONNECTION_CLOSED = /ECONNRESET|EPIPE|ERR_HTTP2_STREAM_CANCEL|UND_ERR_SOCKET|^CANCEL$/;

/**
 * Return the connection failure behind an error; undefined if the connection is not the cause.
 *
 * @param error - what the transport threw.
 * @param tls - whether the call used TLS.
 */
export function findConnectionFailure(error: unknown, tls: boolean): ConnectionFailure | undefined {
  const errors = causeChain(error);
  for (const each of errors) {
    const reset = STREAM_RESET.exec(messageOf(each))?.[1];
    if (reset !== undefined) {
      return { code: RESET_STATUS_CODES[reset] ?? "INTERNAL", cause: describe(reset, messageOf(each), tls) };
    }
  }
  const found = errors.find((error) => errorCode(error) !== undefined);
  if (found !== undefined) {
    return { code: "UNAVAILABLE", cause: describe(errorCode(found) ?? "", found.message, tls) };
  }
  // `fetch` throws a TypeError; browsers give no other details.
  const fetchError = errors.findIndex((error) => error instanceof TypeError);
  return fetchError < 0 ? undefined : { code: "UNAVAILABLE", cause: clause(errors.at(-1)?.message ?? "") };
}

/** Return a message without its full stop and line breaks. */
export function clause(message: string): string {
  return message.replace(/\s+/g, " ").replace(/[ .]+$/, "") || "no details";
}

function describe(code: string, message: string, tls: boolean): string {
  const description = DESCRIPTIONS[code];
  if (description !== undefined) {
    return !tls && CONNECTION_CLOSED.test(code) ? `${description}; the server may require TLS` : description;
  }
  if (CERTIFICATE_ERROR.test(code)) {
    return `the TLS handshake failed: the server's certificate is not trusted: ${clause(message)}`;
  }
  return code.startsWith("ERR_SSL_") ? `the TLS handshake failed: ${clause(message)}` : clause(message);
}

/** Return an error, its causes, and the errors of an AggregateError; each once. */
function causeChain(thrown: unknown): readonly Error[] {
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
  add(thrown);
  return [...chain];
}

/** Return the message of an error; of a ConnectError without the code in front of it. */
function messageOf(error: Error): string {
  return "rawMessage" in error && typeof error.rawMessage === "string" ? error.rawMessage : error.message;
}

/** Return the code of an error of Node. */
function errorCode(error: Error): string | undefined {
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}
