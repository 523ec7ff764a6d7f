/** Why an operation was cancelled: the client was closed, its caller aborted it, or its deadline passed. */
export type CancelReason = "closed" | "aborted" | "timeout";

/** The cancellation of one call or watch. Only the first `cancel` has an effect. */
export class Cancellation {
  readonly #controller = new AbortController();
  readonly #callerSignal: AbortSignal | undefined;
  readonly #onCancel: (cancellation: Cancellation) => void;
  readonly #onAbort = (): void => {
    this.cancel("aborted");
  };
  #reason: CancelReason | undefined;

  /**
   * @param callerSignal - a signal of the caller that cancels the operation when it is aborted.
   * @param onCancel - called once, on cancellation.
   */
  constructor(callerSignal: AbortSignal | undefined, onCancel: (cancellation: Cancellation) => void = () => undefined) {
    this.#callerSignal = callerSignal;
    this.#onCancel = onCancel;
    if (callerSignal?.aborted === true) {
      this.#onAbort();
    } else {
      callerSignal?.addEventListener("abort", this.#onAbort);
    }
  }

  /** The reason; undefined if not cancelled. */
  get reason(): CancelReason | undefined {
    return this.#reason;
  }

  /** Aborted on cancellation. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Cancel the operation. */
  cancel(reason: CancelReason): void {
    if (this.#reason === undefined) {
      this.#reason = reason;
      this.dispose();
      this.#onCancel(this);
      this.#controller.abort();
    }
  }

  /** Remove the listener from the caller's signal. */
  dispose(): void {
    this.#callerSignal?.removeEventListener("abort", this.#onAbort);
  }
}
