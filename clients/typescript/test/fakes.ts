/** Fakes for tests: a channel with scripted responses, a clock that tests advance, and errors as the service sends them. */

import assert from "node:assert/strict";

import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { DescMethod, Message, MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { StreamResponse, Transport, UnaryResponse } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";

import type { Channel } from "../src/channel.js";
import { Client } from "../src/client.js";
import type { ClientOptions } from "../src/client.js";
import type { Clock } from "../src/clock.js";
import { WatchGameResponseSchema } from "../src/gen/sodafountain/v1/game_service_pb.js";
import type { Update, Watch } from "../src/watch.js";

export const GAME = "abcdefghijklmnopqrstuvwxyz";
export const COMMITMENT = new Uint8Array(32).fill(7);

/** The response to a call: its fields, an error to throw, or a function that returns the fields. */
export type ScriptedResponse = object | Error | ((call: Call) => unknown);

/** A received call. */
export interface Call {
  readonly rpc: string;
  readonly request: Record<string, unknown>;
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

/** A clock that moves only when a test advances it. */
export class FakeClock implements Clock {
  time = 0;
  readonly #timers = new Set<{ at: number; callback: () => void }>();

  now(): number {
    return this.time;
  }

  schedule(milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.time + milliseconds, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  random(): number {
    return 0.5;
  }

  /** The delays of the scheduled callbacks in milliseconds, in order. */
  get pendingTimers(): number[] {
    return [...this.#timers].map(({ at }) => at - this.time).sort((one, other) => one - other);
  }

  /** Advance the clock, run the callbacks that are due, and wait for their effects. */
  async advance(milliseconds: number): Promise<void> {
    const until = this.time + milliseconds;
    for (;;) {
      await flush();
      const [next] = [...this.#timers].filter(({ at }) => at <= until).sort((one, other) => one.at - other.at);
      if (next === undefined) {
        this.time = until;
        return;
      }
      this.time = Math.max(this.time, next.at);
      this.#timers.delete(next);
      next.callback();
    }
  }
}

/** A channel with scripted responses. */
export class ScriptedChannel implements Channel, Transport {
  readonly target = "somewhere:1";
  readonly tls = false;
  readonly transport = this;
  readonly calls: Call[] = [];
  readonly script: ScriptedResponse[] = [];
  connectionChecks = 0;
  closed = false;

  headers(): Record<string, string> {
    return {};
  }

  checkConnection(): void {
    this.connectionChecks++;
  }

  close(): void {
    this.closed = true;
  }

  async unary(
    method: DescMethod,
    signal: AbortSignal | undefined,
    _timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: object,
  ): Promise<UnaryResponse<never, never>> {
    const response = await this.#respond(method, signal, header, input);
    return { message: create(method.output, response as MessageInitShape<typeof method.output>) } as never;
  }

  async stream(
    method: DescMethod,
    signal: AbortSignal | undefined,
    _timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: AsyncIterable<object>,
  ): Promise<StreamResponse<never, never>> {
    for await (const request of input) {
      return { message: await this.#respond(method, signal, header, request) } as never;
    }
    throw new Error("the stream has no request");
  }

  async #respond(
    method: DescMethod,
    signal: AbortSignal | undefined,
    header: HeadersInit | undefined,
    input: object,
  ): Promise<unknown> {
    const request = input as Message & Record<string, unknown>;
    const call = { rpc: method.name, request, headers: new Headers(header), signal: signal ?? AbortSignal.abort() };
    this.calls.push(call);
    const response = this.script.shift();
    if (response === undefined) {
      throw new Error(`no response is scripted for ${method.name}`);
    }
    if (response instanceof Error) {
      throw response;
    }
    return typeof response === "function" ? await (response as (call: Call) => unknown)(call) : response;
  }
}

/** Create a client with a scripted channel and a fake clock. */
export function createClient(options: ClientOptions = {}): {
  client: Client;
  channel: ScriptedChannel;
  clock: FakeClock;
} {
  const channel = new ScriptedChannel();
  const clock = new FakeClock();
  return { client: new Client(channel, options, clock), channel, clock };
}

/** A response that never arrives; fails when the call is cancelled. */
export function never(call: Call): Promise<never> {
  return new Promise((_, reject) => {
    call.signal.addEventListener("abort", () => {
      reject(new ConnectError("cancelled", Code.Canceled));
    });
  });
}

/** An item of a stream: a message, a failure, or the end. */
type StreamItem = MessageInitShape<typeof WatchGameResponseSchema> | Error | "end";

/** A stream whose messages a test sends one by one. */
export class ScriptedStream {
  readonly #items: StreamItem[] = [];
  #wake = (): void => undefined;
  signal: AbortSignal | undefined;

  /** The scripted response to WatchGame. */
  readonly response = (call: Call): AsyncIterable<unknown> => {
    this.signal = call.signal;
    call.signal.addEventListener("abort", () => {
      this.send(new ConnectError("cancelled", Code.Canceled));
    });
    return { [Symbol.asyncIterator]: () => ({ next: () => this.#next() }) };
  };

  /** Send messages, a failure, or the end. */
  send(...items: StreamItem[]): void {
    this.#items.push(...items);
    this.#wake();
  }

  async #next(): Promise<IteratorResult<unknown>> {
    let item: StreamItem | undefined;
    while ((item = this.#items.shift()) === undefined) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    if (item instanceof Error) {
      throw item;
    }
    return item === "end" ? { done: true, value: undefined } : { value: create(WatchGameResponseSchema, item) };
  }
}

/** Script streams as the next responses. */
export function scriptStreams(channel: ScriptedChannel, count: number): ScriptedStream[] {
  const streams = Array.from({ length: count }, () => new ScriptedStream());
  channel.script.push(...streams.map(({ response }) => response));
  return streams;
}

/** Wait for an update of a watch that has not ended. */
export async function nextUpdate(watch: Watch): Promise<Update> {
  const { value } = await watch.next();
  assert.ok(value);
  return value;
}

/** Return a snapshot message. */
export function snapshot(version: number, more: object = {}): MessageInitShape<typeof WatchGameResponseSchema> {
  const value = { gameId: GAME, version: BigInt(version), ...more };
  return { resumeToken: `after ${version}`, item: { case: "snapshot", value } };
}

/** Return an error with the details that the service sends. */
export function serviceError(
  code: Code,
  reason: string,
  retryAfterS?: number,
  fields: [string, string][] = [],
  domain = "sodafountain",
): ConnectError {
  const error = new ConnectError(`Rejected: ${reason}.`, code);
  const info = bytes(strings(reason, domain), 3, strings("version", "7"));
  error.details = [{ type: "google.rpc.ErrorInfo", value: info.finish() }];
  if (retryAfterS !== undefined) {
    const delay = new BinaryWriter().tag(1, WireType.Varint).int64(Math.trunc(retryAfterS));
    delay.tag(2, WireType.Varint).int32((retryAfterS % 1) * 1e9);
    error.details.push({ type: "google.rpc.RetryInfo", value: bytes(new BinaryWriter(), 1, delay).finish() });
  }
  const request = new BinaryWriter();
  for (const field of fields) {
    bytes(request, 1, strings(...field));
  }
  error.details.push({ type: "google.rpc.BadRequest", value: request.finish() });
  return error;
}

/** Wait until all pending promises and callbacks have run. */
export async function flush(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function strings(...values: string[]): BinaryWriter {
  const writer = new BinaryWriter();
  values.forEach((value, index) => writer.tag(index + 1, WireType.LengthDelimited).string(value));
  return writer;
}

function bytes(writer: BinaryWriter, number: number, message: BinaryWriter): BinaryWriter {
  return writer.tag(number, WireType.LengthDelimited).bytes(message.finish());
}
