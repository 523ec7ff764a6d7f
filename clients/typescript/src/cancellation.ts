/** Why something that was under way is to end: the client was closed, its caller cancelled it, or its time was over. */
export type End = "closed" | "cancelled" | "late";

/** The end of something that is under way. It comes once; what comes later changes nothing. */
export class Cancellation {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #hasCome: (ending: Cancellation) => void;
  readonly #cancelled = (): void => {
    this.come("cancelled");
  };
  #why: End | undefined;

  /**
   * @param caller - a signal of the caller's, which brings the end too.
   * @param hasCome - is told when the end comes.
   */
  constructor(caller: AbortSignal | undefined, hasCome: (ending: Cancellation) => void = () => undefined) {
    this.#caller = caller;
    this.#hasCome = hasCome;
    if (caller?.aborted === true) {
      this.#cancelled();
    } else {
      caller?.addEventListener("abort", this.#cancelled);
    }
  }

  /** Why it came; undefined while it has not come. */
  get why(): End | undefined {
    return this.#why;
  }

  /** Is aborted when the end comes. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Brings the end. */
  come(why: End): void {
    if (this.#why === undefined) {
      this.#why = why;
      this.forget();
      this.#hasCome(this);
      this.#controller.abort();
    }
  }

  /** Lets go of the caller's signal: what was under way is over. */
  forget(): void {
    this.#caller?.removeEventListener("abort", this.#cancelled);
  }
}
