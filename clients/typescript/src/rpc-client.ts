/** Makes the calls of a client: deadlines, retries, closing. */

import type { DescMessage, DescMethodServerStreaming, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";

import { validateTimeout } from "./validation.js";
import type { Channel } from "./channel.js";
import type { Clock } from "./clock.js";
import { sleep } from "./clock.js";
import { Cancellation } from "./cancellation.js";
import { SodaFountainError } from "./errors.js";
import type { CallInfo, Failure } from "./failures.js";
import { toError, parseFailure, failureFromCode } from "./failures.js";

/** What every call takes. */
export interface CallOptions {
  /** The deadline in milliseconds, retries included; the client's if left out. */
  readonly timeoutMs?: number | undefined;
  /** Cancels the call, which then rejects with the signal's reason. Whether a change was made is not known then. */
  readonly signal?: AbortSignal | undefined;
}

/** What goes with a call. */
export interface RpcOptions extends CallOptions {
  /** Who calls, and with which key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The game that it is about. */
  readonly gameId?: string;
  /** The id under which it asks for a change. */
  readonly requestId?: string;
}

/**
 * The pauses before the tries after the first, in milliseconds, each a little by chance, so that a restart of two seconds
 * passes unnoticed.
 */
const RETRY_DELAYS_MS = [200, 400, 800, 1600];
const RETRY_JITTER = 0.2;

/**
 * A call that was not answered for so many milliseconds has its connection looked after, so that enough is left of the
 * deadline to make the call over another.
 */
const SLOW_CALL_MS = 2000;

/**
 * What is sent again. UNAVAILABLE says "nothing happened, or ask again with the same request id". CANCELLED is what gRPC's
 * servers answer to calls that arrive while they shut down. Every other code would be answered alike again.
 */
const RETRYABLE_CODES = new Set(["UNAVAILABLE", "CANCELLED"]);

/** The units of the header `grpc-timeout`, which has eight digits, in milliseconds; the last is large enough for all. */
const TIMEOUT_UNITS_MS = { m: 1, S: 1000, M: 60_000 };
const HOUR_MS = 3_600_000;
const MAX_GRPC_TIMEOUT = 99_999_999;

/** Makes the calls of a client. */
export class RpcClient {
  /** Tells the time. */
  readonly clock: Clock;
  readonly #channel: Channel;
  readonly #timeoutMs: number;
  readonly #inFlight = new Set<Cancellation>();
  #closed = false;

  /**
   * @param channel - the way to the service.
   * @param timeoutMs - the deadline of calls that name none.
   * @param clock - tells the time.
   */
  constructor(channel: Channel, timeoutMs: unknown, clock: Clock) {
    this.#channel = channel;
    this.#timeoutMs = validateTimeout(timeoutMs, "timeoutMs");
    this.clock = clock;
  }

  /** The address of the service. */
  get target(): string {
    return this.#channel.target;
  }

  /** Whether it is closed. */
  get closed(): boolean {
    return this.#closed;
  }

  /** How many calls and watches are under way. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Closes it: ends everything that is under way. */
  close(): void {
    this.#closed = true;
    for (const ending of [...this.#inFlight]) {
      ending.come("closed");
    }
    this.#channel.close();
  }

  /**
   * Has something end when the client is closed. It is under way until its end comes, or it is over.
   *
   * @param signal - a signal of the caller's that ends it too.
   */
  begin(signal: AbortSignal | undefined): Cancellation {
    const ending = new Cancellation(signal, (come) => this.#inFlight.delete(come));
    if (ending.why === undefined) {
      this.#inFlight.add(ending);
    }
    return ending;
  }

  /** Lets go of something that is over. */
  over(ending: Cancellation): void {
    ending.forget();
    this.#inFlight.delete(ending);
  }

  /**
   * Makes a call and waits for its answer.
   *
   * @throws SodaFountainError where it fails, the reason of its signal where that is aborted, TypeError where the request
   * cannot be written.
   */
  async call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageShape<I>,
    rpcOptions: RpcOptions,
  ): Promise<MessageShape<O>> {
    const timeoutMs =
      rpcOptions.timeoutMs === undefined ? this.#timeoutMs : validateTimeout(rpcOptions.timeoutMs, "timeoutMs");
    const call = this.#circumstances(method.name, timeoutMs, rpcOptions.requestId);
    const sent = copyMessage(method.input, request);
    rpcOptions.signal?.throwIfAborted();
    if (this.#closed) {
      throw closed("This client is closed.", call.requestId);
    }
    const ending = this.begin(rpcOptions.signal);
    const deadline = this.clock.now() + timeoutMs;
    const cancelTimer = this.clock.after(timeoutMs, () => {
      ending.come("late");
    });
    const cancelConnectionCheck = this.clock.after(SLOW_CALL_MS, () => {
      this.checkConnection();
    });
    try {
      for (let retries = 0; ; retries++) {
        let failure: Failure;
        try {
          return await this.#send(method, sent, rpcOptions, ending.signal, deadline - this.clock.now());
        } catch (cause) {
          failure = parseFailure(cause, call.tls);
        }
        const wait = RETRY_DELAYS_MS[retries];
        if (ending.why === undefined && RETRYABLE_CODES.has(failure.code) && wait !== undefined) {
          await sleep(this.clock, wait * (1 - RETRY_JITTER + 2 * RETRY_JITTER * this.clock.random()), ending.signal);
        } else if (ending.why === undefined) {
          throw toError(failure, call);
        }
        this.#throwIfEnded(ending, rpcOptions.signal, call, failure);
      }
    } finally {
      cancelTimer();
      cancelConnectionCheck();
      this.over(ending);
    }
  }

  /**
   * Begins a stream of answers.
   *
   * @param signal - ends it.
   * @returns the answers; fails as the library that carries calls fails.
   */
  async stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageShape<I>,
    rpcOptions: RpcOptions,
    signal: AbortSignal,
  ): Promise<AsyncIterator<MessageShape<O>>> {
    const answer = await this.#channel.transport.stream(
      method,
      signal,
      undefined,
      this.#headers(rpcOptions),
      // eslint-disable-next-line @typescript-eslint/require-await -- a stream of one message, which waits for nothing
      (async function* () {
        yield request;
      })(),
    );
    return answer.message[Symbol.asyncIterator]();
  }

  /** Takes note that something was not answered in time: the connection may be dead. */
  checkConnection(): void {
    this.#channel.checkConnection();
  }

  /** The error of a stream that failed. */
  toError(failure: Failure, rpc: string): SodaFountainError {
    return toError(failure, this.#circumstances(rpc, 0, undefined));
  }

  /** Reads what a stream that failed tells. */
  parseFailure(cause: unknown): Failure {
    return parseFailure(cause, this.#channel.tls);
  }

  async #send<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageShape<I>,
    rpcOptions: RpcOptions,
    signal: AbortSignal,
    timeLeft: number,
  ): Promise<MessageShape<O>> {
    const headers = { ...this.#headers(rpcOptions), "grpc-timeout": formatGrpcTimeout(timeLeft) };
    const answer = await this.#channel.transport.unary(method, signal, undefined, headers, request);
    return answer.message;
  }

  #headers({ headers, gameId }: RpcOptions): Record<string, string> {
    return { ...this.#channel.headers(gameId), ...headers };
  }

  #circumstances(rpc: string, timeoutMs: number, requestId: string | undefined): CallInfo {
    return { target: this.#channel.target, tls: this.#channel.tls, rpc, timeoutMs, requestId };
  }

  #throwIfEnded(ending: Cancellation, signal: AbortSignal | undefined, call: CallInfo, failure: Failure): void {
    switch (ending.why) {
      case "cancelled":
        signal?.throwIfAborted();
        break;
      case "closed":
        throw closed(`This client was closed before ${call.target} had answered ${call.rpc}.`, call.requestId);
      case "late":
        this.checkConnection();
        throw toError(failureFromCode("DEADLINE_EXCEEDED", "", failure.cause), call);
      case undefined:
        break;
    }
  }
}

/** The error of what a closed client is asked for. */
export function closed(message: string, requestId?: string): SodaFountainError {
  return new SodaFountainError(message, { code: "CANCELLED", reason: "CLIENT_CLOSED", requestId });
}

/** Tells a deadline in the header `grpc-timeout`: no later than it is, unless it is less than a millisecond away. */
export function formatGrpcTimeout(milliseconds: number): string {
  const [unit, size] = Object.entries(TIMEOUT_UNITS_MS).find(([, size]) => milliseconds / size <= MAX_GRPC_TIMEOUT) ?? [
    "H",
    HOUR_MS,
  ];
  return `${Math.max(1, Math.floor(milliseconds / size))}${unit}`;
}

/**
 * Copies a message: whatever its caller does with it, the same is sent on every try.
 *
 * @throws TypeError where it cannot be written.
 */
export function copyMessage<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): MessageShape<Desc> {
  try {
    return fromBinary(schema, toBinary(schema, message));
  } catch (cause) {
    throw new TypeError(`the request cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}
