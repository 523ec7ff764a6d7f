/**
 * Parses the details of a google.rpc.Status. The three messages are small and stable, so their field numbers are used
 * instead of generated code.
 */

import { BinaryReader } from "@bufbuild/protobuf/wire";

import type { FieldViolation } from "./errors.js";

/** A detail as received. */
export interface ErrorDetail {
  /** The full name of the message type, such as `google.rpc.ErrorInfo`. */
  readonly type: string;
  /** The serialized message. */
  readonly value: Uint8Array;
}

/** A google.rpc.ErrorInfo. */
export interface ErrorInfo {
  /** The reason, as defined by the domain. */
  readonly reason: string;
  /** The service that defines the reason. */
  readonly domain: string;
  /** Additional facts. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** The parsed details of an error. */
export interface ErrorDetails {
  /** The ErrorInfo of the service; undefined if missing. */
  readonly info: ErrorInfo | undefined;
  /** The invalid fields. */
  readonly fieldViolations: readonly FieldViolation[];
  /** The suggested delay in milliseconds. */
  readonly retryDelayMs: number | undefined;
}

const DOMAIN = "sodafountain";

/** Parse details. Unknown and malformed ones are ignored. */
export function parseErrorDetails(details: readonly ErrorDetail[]): ErrorDetails {
  const parseAll = <T>(type: string, read: (value: Uint8Array) => T): T[] =>
    details.flatMap((detail) => (detail.type === type ? ignoreMalformed(() => read(detail.value)) : []));
  return {
    info: parseAll("google.rpc.ErrorInfo", parseErrorInfo).find((info) => info.domain === DOMAIN),
    fieldViolations: parseAll("google.rpc.BadRequest", parseBadRequest).flat(),
    retryDelayMs: parseAll("google.rpc.RetryInfo", parseRetryInfo).find((delay) => delay !== undefined),
  };
}

function ignoreMalformed<T>(read: () => T): T[] {
  try {
    return [read()];
  } catch {
    return [];
  }
}

function parseErrorInfo(bytes: Uint8Array): ErrorInfo {
  let reason = "";
  let domain = "";
  const metadata: [string, string][] = [];
  readFields(bytes, {
    1: (reader) => (reason = reader.string()),
    2: (reader) => (domain = reader.string()),
    3: (reader) => metadata.push(parsePair(reader.bytes())),
  });
  return { reason, domain, metadata: Object.fromEntries(metadata) };
}

function parseBadRequest(bytes: Uint8Array): FieldViolation[] {
  const violations: FieldViolation[] = [];
  readFields(bytes, {
    1: (reader) => {
      const [field, description] = parsePair(reader.bytes());
      violations.push({ field, description });
    },
  });
  return violations;
}

function parseRetryInfo(bytes: Uint8Array): number | undefined {
  let delay: number | undefined;
  readFields(bytes, { 1: (reader) => (delay = parseDuration(reader.bytes())) });
  return delay;
}

/** Parse a message of two strings: a map entry, or a field violation. */
function parsePair(bytes: Uint8Array): [string, string] {
  const strings: [string, string] = ["", ""];
  readFields(bytes, {
    1: (reader) => (strings[0] = reader.string()),
    2: (reader) => (strings[1] = reader.string()),
  });
  return strings;
}

/** Parse a google.protobuf.Duration; return milliseconds. */
function parseDuration(bytes: Uint8Array): number {
  let milliseconds = 0;
  readFields(bytes, {
    1: (reader) => (milliseconds += Number(reader.int64()) * 1000),
    2: (reader) => (milliseconds += reader.int32() / 1e6),
  });
  return milliseconds;
}

/** Read the fields of a message that have a parser, and skip the others. */
function readFields(bytes: Uint8Array, parsers: Readonly<Record<number, (reader: BinaryReader) => void>>): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const read = parsers[number];
    if (read === undefined) {
      reader.skip(wireType, number);
    } else {
      read(reader);
    }
  }
}
