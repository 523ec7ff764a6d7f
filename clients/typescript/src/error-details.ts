/** Reads the details of a google.rpc.Status that the service sends, by their field numbers: they are three, and settled. */

import { BinaryReader } from "@bufbuild/protobuf/wire";

import type { FieldViolation } from "./errors.js";

/** A detail as it came: the full name of its type, and its bytes. */
export interface ErrorDetail {
  /** The full name, `google.rpc.ErrorInfo` for instance. */
  readonly type: string;
  /** The message. */
  readonly value: Uint8Array;
}

/** A google.rpc.ErrorInfo. */
export interface ErrorInfo {
  /** Why, in the words of the domain. */
  readonly reason: string;
  /** Whose words these are. */
  readonly domain: string;
  /** Facts. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** What the details of an error say. */
export interface ErrorDetails {
  /** The service's own ErrorInfo; undefined where there is none. */
  readonly info: ErrorInfo | undefined;
  /** The wrong fields. */
  readonly fieldViolations: readonly FieldViolation[];
  /** The suggested delay in milliseconds. */
  readonly retryDelayMs: number | undefined;
}

const DOMAIN = "sodafountain.v1";

/** Reads details; those that are unknown or broken say nothing. */
export function parseErrorDetails(details: readonly ErrorDetail[]): ErrorDetails {
  const of = <T>(type: string, read: (value: Uint8Array) => T): T[] =>
    details.flatMap((detail) => (detail.type === type ? unlessBroken(() => read(detail.value)) : []));
  return {
    info: of("google.rpc.ErrorInfo", errorInfo).find((info) => info.domain === DOMAIN),
    fieldViolations: of("google.rpc.BadRequest", badRequest).flat(),
    retryDelayMs: of("google.rpc.RetryInfo", retryInfo).find((delay) => delay !== undefined),
  };
}

function unlessBroken<T>(read: () => T): T[] {
  try {
    return [read()];
  } catch {
    return [];
  }
}

function errorInfo(bytes: Uint8Array): ErrorInfo {
  let reason = "";
  let domain = "";
  const metadata: [string, string][] = [];
  readFields(bytes, {
    1: (reader) => (reason = reader.string()),
    2: (reader) => (domain = reader.string()),
    3: (reader) => metadata.push(pair(reader.bytes())),
  });
  return { reason, domain, metadata: Object.fromEntries(metadata) };
}

function badRequest(bytes: Uint8Array): FieldViolation[] {
  const violations: FieldViolation[] = [];
  readFields(bytes, {
    1: (reader) => {
      const [field, description] = pair(reader.bytes());
      violations.push({ field, description });
    },
  });
  return violations;
}

function retryInfo(bytes: Uint8Array): number | undefined {
  let delay: number | undefined;
  readFields(bytes, { 1: (reader) => (delay = duration(reader.bytes())) });
  return delay;
}

/** A message of two strings: an entry of a map, or a violation. */
function pair(bytes: Uint8Array): [string, string] {
  const strings: [string, string] = ["", ""];
  readFields(bytes, {
    1: (reader) => (strings[0] = reader.string()),
    2: (reader) => (strings[1] = reader.string()),
  });
  return strings;
}

/** A google.protobuf.Duration, in milliseconds. */
function duration(bytes: Uint8Array): number {
  let milliseconds = 0;
  readFields(bytes, {
    1: (reader) => (milliseconds += Number(reader.int64()) * 1000),
    2: (reader) => (milliseconds += reader.int32() / 1e6),
  });
  return milliseconds;
}

/** Reads the fields of a message for whose numbers there is a way, and skips the others. */
function readFields(bytes: Uint8Array, ways: Readonly<Record<number, (reader: BinaryReader) => void>>): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const read = ways[number];
    if (read === undefined) {
      reader.skip(wireType, number);
    } else {
      read(reader);
    }
  }
}
