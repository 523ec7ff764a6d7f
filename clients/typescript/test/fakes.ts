/** A channel whose answers are scripted, a clock that stands until it is moved, and errors as the service sends them. */

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

export const GAME = "abcdefghijklmnopqrstuvwxyz";

/** What is answered to a call: fields of the answer, an error, or what comes of a function. */
export type Answer = object | Error | ((call: Call) => unknown);

/** A call that arrived. */
export interface Call {
  readonly rpc: string;
  readonly request: Record<string, unknown>;
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

/** A clock that stands until it is moved. */
export class FakeClock implements Clock {
  time = 0;
  readonly #timers = new Set<{ at: number; ring: () => void }>();

  now(): number {
    return this.time;
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.time + milliseconds, ring: callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  random(): number {
    return 0.5;
  }

  /** How many milliseconds away each thing that is waited for is, in order. */
  get pendingTimers(): number[] {
    return [...this.#timers].map(({ at }) => at - this.time).sort((one, other) => one - other);
  }

  /** Lets so many milliseconds pass, and what comes of that happen. */
  async pass(milliseconds: number): Promise<void> {
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
      next.ring();
    }
  }
}

/** A channel with a script. */
export class ScriptedChannel implements Channel, Transport {
  readonly target = "somewhere:1";
  readonly tls = false;
  readonly transport = this;
  readonly calls: Call[] = [];
  readonly script: Answer[] = [];
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
    const answer = await this.#answer(method, signal, header, input);
    return { message: create(method.output, answer as MessageInitShape<typeof method.output>) } as never;
  }

  async stream(
    method: DescMethod,
    signal: AbortSignal | undefined,
    _timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: AsyncIterable<object>,
  ): Promise<StreamResponse<never, never>> {
    for await (const request of input) {
      return { message: await this.#answer(method, signal, header, request) } as never;
    }
    throw new Error("a stream without a request");
  }

  async #answer(
    method: DescMethod,
    signal: AbortSignal | undefined,
    header: HeadersInit | undefined,
    input: object,
  ): Promise<unknown> {
    const request = input as Message & Record<string, unknown>;
    const call = { rpc: method.name, request, headers: new Headers(header), signal: signal ?? AbortSignal.abort() };
    this.calls.push(call);
    const answer = this.script.shift();
    if (answer === undefined) {
      throw new Error(`nothing is createClient for ${method.name}`);
    }
    if (answer instanceof Error) {
      throw answer;
    }
    return typeof answer === "function" ? await (answer as (call: Call) => unknown)(call) : answer;
  }
}

/** A client of a scripted channel. */
export function createClient(options: ClientOptions = {}): {
  client: Client;
  channel: ScriptedChannel;
  clock: FakeClock;
} {
  const channel = new ScriptedChannel();
  const clock = new FakeClock();
  return { client: new Client(channel, options, clock), channel, clock };
}

/** An answer that never comes, but fails when its call is cancelled. */
export function never(call: Call): Promise<never> {
  return new Promise((_, reject) => {
    call.signal.addEventListener("abort", () => {
      reject(new ConnectError("cancelled", Code.Canceled));
    });
  });
}

/** What a stream brings. */
type Told = MessageInitShape<typeof WatchGameResponseSchema> | Error | "end";

/** A stream whose messages are told one by one. */
export class ScriptedStream {
  readonly #told: Told[] = [];
  #wake = (): void => undefined;
  signal: AbortSignal | undefined;

  /** The answer to a WatchGame. */
  readonly answer = (call: Call): AsyncIterable<unknown> => {
    this.signal = call.signal;
    call.signal.addEventListener("abort", () => {
      this.tell(new ConnectError("cancelled", Code.Canceled));
    });
    return { [Symbol.asyncIterator]: () => ({ next: () => this.#next() }) };
  };

  /** Tells a message, the end, or a failure. */
  tell(...what: Told[]): void {
    this.#told.push(...what);
    this.#wake();
  }

  async #next(): Promise<IteratorResult<unknown>> {
    let told: Told | undefined;
    while ((told = this.#told.shift()) === undefined) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    if (told instanceof Error) {
      throw told;
    }
    return told === "end" ? { done: true, value: undefined } : { value: create(WatchGameResponseSchema, told) };
  }
}

/** A snapshot of a version. */
export function snapshot(version: number, more: object = {}): MessageInitShape<typeof WatchGameResponseSchema> {
  const value = { gameId: GAME, version: BigInt(version), ...more };
  return { resumeToken: `after ${version}`, item: { case: "snapshot", value } };
}

/** A refusal of the service. */
export function serviceError(
  code: Code,
  reason: string,
  retryAfterS?: number,
  fields: [string, string][] = [],
): ConnectError {
  const error = new ConnectError(`Refused: ${reason}.`, code);
  const info = bytes(strings(reason, "sodafountain.v1"), 3, strings("version", "7"));
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

/** Waits until everything that can happen has happened. */
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
