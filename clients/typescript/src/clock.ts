/** Time and chance: what tests put something else in the place of. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /** Calls back after so many milliseconds, unless the function that it returns is called before. */
  after(milliseconds: number, callback: () => void): () => void;
  /** A number from 0 up to, but not including, 1, drawn by chance. */
  random(): number;
}

/** `setTimeout` calls back at once where it is given more. */
const MAX_TIMER_MS = 0x7fff_ffff;

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, callback) {
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

/** Waits for so many milliseconds, or until the signal is aborted if that comes first. */
export function sleep(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const over = (): void => {
      stop();
      signal.removeEventListener("abort", over);
      resolve();
    };
    const stop = clock.after(milliseconds, over);
    signal.addEventListener("abort", over);
  });
}
