import { Cancellation } from "./cancellation.js";
import type { Failure } from "./failures.js";
import type { GameSession } from "./game-session.js";
import type { WatchGameRequest, WatchGameResponse } from "./gen/sodafountain/v1/game_service_pb.js";
import { GameService } from "./gen/sodafountain/v1/game_service_pb.js";

/** The result of reading from a stream: a message, a timeout, the end of the stream, or its failure. */
export type StreamResult =
  | { readonly type: "message"; readonly message: WatchGameResponse }
  | { readonly type: "timeout" }
  | { readonly type: "end" }
  | { readonly type: "failure"; readonly failure: Failure };

/** One WatchGame stream. It has no deadline: it lasts as long as the game. */
export class WatchStream {
  readonly #session: GameSession;
  readonly #cancellation: Cancellation;
  readonly #messages: Promise<AsyncIterator<WatchGameResponse>>;

  /**
   * Start the stream.
   *
   * @param session - the caller.
   * @param request - the request.
   * @param signal - ends the stream.
   */
  constructor(session: GameSession, request: WatchGameRequest, signal: AbortSignal) {
    this.#session = session;
    this.#cancellation = new Cancellation(signal);
    const { rpc, rpcOptions } = session;
    this.#messages = rpc.stream(GameService.method.watchGame, request, rpcOptions, this.#cancellation.signal);
    this.#messages.catch(() => undefined); // `read` reports the failure
  }

  /** Wait for the next message, up to a number of milliseconds. */
  async read(milliseconds: number): Promise<StreamResult> {
    let cancelTimer = (): void => undefined;
    const timeout = new Promise<StreamResult>((resolve) => {
      cancelTimer = this.#session.rpc.clock.schedule(milliseconds, () => {
        resolve({ type: "timeout" });
      });
    });
    try {
      return await Promise.race([this.#next(), timeout]);
    } finally {
      cancelTimer();
    }
  }

  /** End the stream. */
  close(): void {
    this.#cancellation.cancel("aborted");
  }

  async #next(): Promise<StreamResult> {
    try {
      const messages = await this.#messages;
      const next = await messages.next();
      return next.done === true ? { type: "end" } : { type: "message", message: next.value };
    } catch (cause) {
      return { type: "failure", failure: this.#session.rpc.parseFailure(cause) };
    }
  }
}
