/** What callers give that no service should see: timeouts and secrets that cannot be right. */

import { SodaFountainError } from "./errors.js";
import type { Reason } from "./errors.js";

/** In milliseconds: 31 years, of which gRPC can still tell a server. */
const MAX_TIMEOUT_MS = 1e12;

/** All but visible ASCII, of which every token and key consists. HTTP may drop spaces at the ends on the way. */
const INVALID_CHARACTER = /[^\x21-\x7e]/;

/**
 * Returns a deadline in milliseconds that can be kept.
 *
 * @param timeout - the deadline.
 * @param name - what the caller calls it.
 * @throws TypeError where it is no number.
 * @throws RangeError where it is not positive, or longer than gRPC can tell.
 */
export function validateTimeout(timeout: unknown, name: string): number {
  if (typeof timeout !== "number") {
    throw new TypeError(`${name} must be a number of milliseconds, 2500 for instance, not ${nameOf(timeout)}`);
  }
  if (!(timeout > 0 && timeout <= MAX_TIMEOUT_MS)) {
    throw new RangeError(`${name} must be more than 0 and at most ${MAX_TIMEOUT_MS} milliseconds, not ${timeout}`);
  }
  return timeout;
}

/**
 * Returns a token that can travel.
 *
 * @throws SodaFountainError with reason `TOKEN_INVALID` where it cannot.
 */
export function validateToken(token: unknown): string {
  return validateSecret(token, "token", "TOKEN_INVALID");
}

/**
 * Returns an API key that can travel.
 *
 * @throws SodaFountainError with reason `API_KEY_INVALID` where it cannot.
 */
export function validateApiKey(apiKey: unknown): string {
  return validateSecret(apiKey, "API key", "API_KEY_INVALID");
}

/** An address as people may be shown it: without the user and password that it may have. */
export function redactAddress(address: string): string {
  return JSON.stringify(address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, "$1"));
}

/** What a value is, for people: of the value itself nothing, for it may be a secret. */
export function nameOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}

function validateSecret(secret: unknown, name: string, reason: Reason): string {
  if (typeof secret === "string" && secret !== "" && !INVALID_CHARACTER.test(secret)) {
    return secret;
  }
  throw new SodaFountainError(describeProblem(secret, name), { code: "UNAUTHENTICATED", reason });
}

/** Says in a sentence why a secret cannot travel, and nothing else of it. */
function describeProblem(secret: unknown, name: string): string {
  if (typeof secret !== "string") {
    return `The ${name} must be a string, not ${nameOf(secret)}.`;
  }
  const place = secret.search(INVALID_CHARACTER);
  if (place < 0) {
    return `The ${name} is empty.`;
  }
  const point = secret.charCodeAt(place).toString(16).toUpperCase().padStart(4, "0");
  return (
    `The ${name} must consist of visible ASCII characters, and number ${place + 1} of its ${secret.length} ` +
    `is U+${point}: nothing is stripped, not even white space at its ends.`
  );
}
