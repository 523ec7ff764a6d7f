/** Validates arguments before anything is sent: timeouts, tokens and API keys. */

import { SodaFountainError } from "./errors.js";
import type { Reason } from "./errors.js";

/** 31 years; fits into the header `grpc-timeout`. */
const MAX_TIMEOUT_MS = 1e12;

const COMMITMENT_BYTES = 32;

/** Tokens and keys consist of visible ASCII. HTTP may strip spaces at the ends of a header. */
const INVALID_CHARACTER = /[^\x21-\x7e]/;

/**
 * Return a valid timeout in milliseconds.
 *
 * @param timeout - the value to check.
 * @param name - the name of the option, for errors.
 * @throws TypeError if it is not a number.
 * @throws RangeError if it is not positive, or too large for gRPC.
 */
export function validateTimeout(timeout: unknown, name: string): number {
  if (typeof timeout !== "number") {
    throw new TypeError(`${name} must be a number of milliseconds such as 2500, not ${typeName(timeout)}`);
  }
  if (!(timeout > 0 && timeout <= MAX_TIMEOUT_MS)) {
    throw new RangeError(`${name} must be greater than 0 and at most ${MAX_TIMEOUT_MS} milliseconds, not ${timeout}`);
  }
  return timeout;
}

/**
 * Return a token that fits into a header.
 *
 * @throws SodaFountainError with reason `TOKEN_INVALID` if it does not.
 */
export function validateToken(token: unknown): string {
  return validateSecret(token, "token", "TOKEN_INVALID");
}

/**
 * Return an API key that fits into a header.
 *
 * @throws SodaFountainError with reason `API_KEY_INVALID` if it does not.
 */
export function validateApiKey(apiKey: unknown): string {
  return validateSecret(apiKey, "API key", "API_KEY_INVALID");
}

/**
 * Return a commitment to a seed.
 *
 * @throws TypeError if it is not bytes.
 * @throws RangeError if it does not have 32 bytes.
 */
export function validateCommitment(commitment: unknown): Uint8Array {
  if (!(commitment instanceof Uint8Array)) {
    throw new TypeError(`commitment must be a Uint8Array such as seat.commitment, not ${typeName(commitment)}`);
  }
  if (commitment.length !== COMMITMENT_BYTES) {
    throw new RangeError(`commitment must have ${COMMITMENT_BYTES} bytes, not ${commitment.length}`);
  }
  return commitment;
}

/**
 * Check that a connection without TLS stays on this host.
 *
 * @param target - the target, as the caller gave it.
 * @param url - its URL.
 * @param secureAlternative - how to use TLS, as the beginning of a sentence.
 * @throws TypeError if tokens and API keys would cross a network in the clear.
 */
export function validateLoopback(target: string, url: URL, secureAlternative: string): void {
  // URL writes an IPv4 address in its canonical form.
  if (url.hostname !== "localhost" && url.hostname !== "[::1]" && !/^127(\.[0-9]+){3}$/.test(url.hostname)) {
    throw new TypeError(
      `${redactAddress(target)} is not on this host, and the connection has no TLS: everyone on the network could read ` +
        `tokens and API keys. ${secureAlternative}. If you trust the network, use allowInsecure: true`,
    );
  }
}

/** Return an address in quotes, without a user and password. */
export function redactAddress(address: string): string {
  return JSON.stringify(address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, "$1"));
}

/** Return the type of a value for an error message, which must not show the value: it may be a secret. */
export function typeName(value: unknown): string {
  return value === null ? "null" : typeof value;
}

function validateSecret(secret: unknown, name: string, reason: Reason): string {
  if (typeof secret === "string" && secret !== "" && !INVALID_CHARACTER.test(secret)) {
    return secret;
  }
  throw new SodaFountainError(describeProblem(secret, name), { code: "UNAUTHENTICATED", reason });
}

/** Describe what is wrong with a secret without revealing it. */
function describeProblem(secret: unknown, name: string): string {
  if (typeof secret !== "string") {
    return `The ${name} must be a string, not ${typeName(secret)}.`;
  }
  const index = secret.search(INVALID_CHARACTER);
  if (index < 0) {
    return `The ${name} is empty.`;
  }
  const codePoint = secret.charCodeAt(index).toString(16).toUpperCase().padStart(4, "0");
  return (
    `The ${name} must consist of visible ASCII characters; character ${index + 1} of ${secret.length} ` +
    `is U+${codePoint}. Whitespace is not stripped.`
  );
}
