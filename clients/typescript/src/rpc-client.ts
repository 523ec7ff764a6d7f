/** Makes the RPCs of a client: deadlines, retries and closing. */

import type { DescMessage, DescMethodServerStreaming, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";

import { Cancellation } from "./cancellation.js";
import type { Channel } from "./channel.js";
import type { Clock } from "./clock.js";
import { sleep } from "./clock.js";
import { SodaFountainError } from "./errors.js";
import type { CallInfo, Failure } from "./failures.js";
import { failureFromCode, parseFailure, toError } from "./failures.js";
import { validateTimeout } from "./validation.js";

/** Options of every call. */
export interface CallOptions {
  /** The deadline in milliseconds, retries included. Default: the client's `timeoutMs`. */
  readonly timeoutMs?: number | undefined;
  /**
   * Cancels the call, which then rejects with the signal's reason. A change that the call requested may or may not have
   * been made.
   */
  readonly signal?: AbortSignal | undefined;
}

/** What an RPC needs in addition to its request. */
export interface RpcOptions extends CallOptions {
  /** The credentials of the caller. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The game of the call. */
  readonly gameId?: string;
  /** The request id of a change. */
  readonly requestId?: string;
}

/** The delays before each retry, with a random jitter. In total they outlast a server restart of two seconds. */
const RETRY_DELAYS_MS = [200, 400, 800, 1600];
const RETRY_JITTER = 0.2;

/**
 * If a response takes longer, the connection is checked, so that enough of the deadline is left to retry over another
 * connection.
 */
const SLOW_CALL_MS = 2000;

/**
 * The status codes that are retried. UNAVAILABLE means that nothing happened, or that the request id makes a retry safe.
 * gRPC servers answer CANCELLED to calls that arrive during their shutdown. With any other code, a retry would get the
 * same answer.
 */
const RETRYABLE_CODES = new Set(["UNAVAILABLE", "CANCELLED"]);

/** The units of the header `grpc-timeout`, whose value has at most eight digits. Hours are large enough for all. */
const TIMEOUT_UNITS_MS = { m: 1, S: 1000, M: 60_000 };
const HOUR_MS = 3_600_000;
const MAX_GRPC_TIMEOUT = 99_999_999;

/** Makes the RPCs of a client. */
export class RpcClient {
  /** Time and randomness. */
  readonly clock: Clock;
  readonly #channel: Channel;
  readonly #timeoutMs: number;
  readonly #inFlight = new Set<Cancellation>();
  #closed = false;

  /**
   * @param channel - the connection to the service.
   * @param timeoutMs - the default deadline of a call.
   * @param clock - time and randomness.
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

  /** The number of calls and watches in flight. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Close the connection and cancel everything in flight. */
  close(): void {
    this.#closed = true;
    for (const cancellation of [...this.#inFlight]) {
      cancellation.cancel("closed");
    }
    this.#channel.close();
  }

  /**
   * Register an operation to be cancelled when the client is closed. It is in flight until it is cancelled or released.
   *
   * @param signal - a signal of the caller that also cancels it.
   */
  track(signal: AbortSignal | undefined): Cancellation {
    const cancellation = new Cancellation(signal, (cancelled) => this.#inFlight.delete(cancelled));
    if (cancellation.reason === undefined) {
      this.#inFlight.add(cancellation);
    }
    return cancellation;
  }

  /** Release an operation that has ended. */
  release(cancellation: Cancellation): void {
    cancellation.dispose();
    this.#inFlight.delete(cancellation);
  }

  /**
   * Make a unary call, with retries.
   *
   * @throws SodaFountainError if the call fails.
   * @throws the reason of `signal` if that is aborted.
   * @throws TypeError if the request cannot be serialized.
   */
  async call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageShape<I>,
    options: RpcOptions,
  ): Promise<MessageShape<O>> {
    const timeoutMs =
      options.timeoutMs === undefined ? this.#timeoutMs : validateTimeout(options.timeoutMs, "timeoutMs");
    const call = this.#callInfo(method.name, timeoutMs, options.requestId);
    const copy = copyMessage(method.input, request);
    options.signal?.throwIfAborted();
    if (this.#closed) {
      throw clientClosed("This client is closed.", call.requestId);
    }
    const cancellation = this.track(options.signal);
    const deadline = this.clock.now() + timeoutMs;
    const cancelTimer = this.clock.schedule(timeoutMs, () => {
      cancellation.cancel("timeout");
    });
    const cancelConnectionCheck = this.clock.schedule(SLOW_CALL_MS, () => {
      this.checkConnection();
    });
    try {
      for (let retries = 0; ; retries++) {
        let failure: Failure;
        try {
          return await this.#send(method, copy, options, cancellation.signal, deadline - this.clock.now());
        } catch (cause) {
          failure = parseFailure(cause, call.tls);
        }
        const delayMs = RETRY_DELAYS_MS[retries];
        if (cancellation.reason === undefined && RETRYABLE_CODES.has(failure.code) && delayMs !== undefined) {
          const jitter = 1 - RETRY_JITTER + 2 * RETRY_JITTER * this.clock.random();
          await sleep(this.clock, delayMs * jitter, cancellation.signal);
        } else if (cancellation.reason === undefined) {
          throw toError(failure, call);
        }
        this.#throwIfCancelled(cancellation, options.signal, call, failure);
      }
    } finally {
      cancelTimer();
      cancelConnectionCheck();
      this.release(cancellation);
    }
  }

  /**
   * Start a server stream.
   *
   * @param signal - ends the stream.
   * @returns the messages. Iteration throws the errors of the transport; see {@link parseFailure}.
   */
  async stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageShape<I>,
    options: RpcOptions,
    signal: AbortSignal,
  ): Promise<AsyncIterator<MessageShape<O>>> {
    const response = await this.#channel.transport.stream(
      method,
      signal,
      undefined,
      this.#headers(options),
      // eslint-disable-next-line @typescript-eslint/require-await -- a stream of one message, which waits for nothing
      (async function* () {
        yield request;
      })(),
    );
    return response.message[Symbol.asyncIterator]();
  }

  /** Check whether the connection is alive; called when a response is overdue. */
  checkConnection(): void {
    this.#channel.checkConnection();
  }

  /** Convert the failure of a stream to an error. */
  toError(failure: Failure, rpc: string): SodaFountainError {
    return toError(failure, this.#callInfo(rpc, 0, undefined));
  }

  /** Parse what the transport threw. */
  parseFailure(cause: unknown): Failure {
    return parseFailure(cause, this.#channel.tls);
  }

  async #send<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageShape<I>,
    options: RpcOptions,
    signal: AbortSignal,
    timeLeftMs: number,
  ): Promise<MessageShape<O>> {
    const headers = { ...this.#headers(options), "grpc-timeout": formatGrpcTimeout(timeLeftMs) };
    const response = await this.#channel.transport.unary(method, signal, undefined, headers, request);
    return response.message;
  }

  #headers({ headers, gameId }: RpcOptions): Record<string, string> {
    return { ...this.#channel.headers(gameId), ...headers };
  }

  #callInfo(rpc: string, timeoutMs: number, requestId: string | undefined): CallInfo {
    return { target: this.#channel.target, tls: this.#channel.tls, rpc, timeoutMs, requestId };
  }

  #throwIfCancelled(
    cancellation: Cancellation,
    signal: AbortSignal | undefined,
    call: CallInfo,
    failure: Failure,
  ): void {
    switch (cancellation.reason) {
      case "aborted":
        signal?.throwIfAborted();
        break;
      case "closed":
        throw clientClosed(`This client was closed before ${call.target} answered ${call.rpc}.`, call.requestId);
      case "timeout":
        this.checkConnection();
        throw toError(failureFromCode("DEADLINE_EXCEEDED", "", failure.cause), call);
      case undefined:
        break;
    }
  }
}

/** Return the error of a call or watch of a closed client. */
export function clientClosed(message: string, requestId?: string): SodaFountainError {
  return new SodaFountainError(message, { code: "CANCELLED", reason: "CLIENT_CLOSED", requestId });
}

/** Format a duration for the header `grpc-timeout`: rounded down, but at least one millisecond. */
export function formatGrpcTimeout(milliseconds: number): string {
  const [unit, size] = Object.entries(TIMEOUT_UNITS_MS).find(([, size]) => milliseconds / size <= MAX_GRPC_TIMEOUT) ?? [
    "H",
    HOUR_MS,
  ];
  return `${Math.max(1, Math.floor(milliseconds / size))}${unit}`;
}

/**
 * Copy a message, so that every retry sends the same even if the caller changes the original.
 *
 * @throws TypeError if it cannot be serialized.
 */
export function copyMessage<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): MessageShape<Desc> {
  try {
    return fromBinary(schema, toBinary(schema, message));
  } catch (cause) {
    throw new TypeError(`the request cannot be serialized: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}
