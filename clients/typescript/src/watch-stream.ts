import { Cancellation } from "./cancellation.js";
import type { Failure } from "./failures.js";
import type { GameSession } from "./game-session.js";
import type { WatchGameRequest, WatchGameResponse } from "./gen/sodafountain/v1/game_service_pb.js";
import { GameService } from "./gen/sodafountain/v1/game_service_pb.js";

/** What a stream brings: a message, nothing in the time given, its end, or how it failed. */
export type StreamResult =
  | { readonly what: "message"; readonly message: WatchGameResponse }
  | { readonly what: "silence" }
  | { readonly what: "end" }
  | { readonly what: "failure"; readonly failure: Failure };

/** One stream of WatchGame. It has no deadline: it lasts as long as the game. */
export class WatchStream {
  readonly #calls: GameSession;
  readonly #ending: Cancellation;
  readonly #messages: Promise<AsyncIterator<WatchGameResponse>>;

  /**
   * Begins it.
   *
   * @param calls - in whose name.
   * @param request - what is asked.
   * @param signal - ends it.
   */
  constructor(calls: GameSession, request: WatchGameRequest, signal: AbortSignal) {
    this.#calls = calls;
    this.#ending = new Cancellation(signal);
    const { caller, rpcOptions } = calls;
    this.#messages = caller.stream(GameService.method.watchGame, request, rpcOptions, this.#ending.signal);
    this.#messages.catch(() => undefined); // it is read, or closed: who reads hears of it
  }

  /** Waits for the next message, for so many milliseconds. */
  async read(milliseconds: number): Promise<StreamResult> {
    let cancelTimer = (): void => undefined;
    const silence = new Promise<StreamResult>((resolve) => {
      cancelTimer = this.#calls.caller.clock.after(milliseconds, () => {
        resolve({ what: "silence" });
      });
    });
    try {
      return await Promise.race([this.#next(), silence]);
    } finally {
      cancelTimer();
    }
  }

  /** Ends it. */
  close(): void {
    this.#ending.come("cancelled");
  }

  async #next(): Promise<StreamResult> {
    try {
      const messages = await this.#messages;
      const next = await messages.next();
      return next.done === true ? { what: "end" } : { what: "message", message: next.value };
    } catch (cause) {
      return { what: "failure", failure: this.#calls.caller.parseFailure(cause) };
    }
  }
}
