/** Time and randomness. Tests replace it. */
export interface Clock {
  /** Return the milliseconds since an arbitrary moment; never decreases. */
  now(): number;
  /** Call `callback` after a number of milliseconds. Return a function that cancels it. */
  schedule(milliseconds: number, callback: () => void): () => void;
  /** Return a random number, at least 0 and less than 1. */
  random(): number;
}

/** The largest delay of `setTimeout`, which treats a larger one as zero. */
const MAX_TIMER_MS = 0x7fff_ffff;

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => performance.now(),
  schedule(milliseconds, callback) {
    if (milliseconds === Infinity) {
      return () => undefined;
    }
    let timer: ReturnType<typeof setTimeout>;
    const wait = (left: number): void => {
      timer =
        left > MAX_TIMER_MS
          ? setTimeout(() => {
              wait(left - MAX_TIMER_MS);
            }, MAX_TIMER_MS)
          : setTimeout(callback, left);
    };
    wait(Math.max(0, milliseconds));
    return () => {
      clearTimeout(timer);
    };
  },
  random: () => Math.random(),
};

/** Wait for a number of milliseconds, or until the signal is aborted. */
export function sleep(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const finish = (): void => {
      cancelTimer();
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const cancelTimer = clock.schedule(milliseconds, finish);
    signal.addEventListener("abort", finish);
  });
}
