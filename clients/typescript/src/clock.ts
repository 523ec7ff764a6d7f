/** Time and chance: what tests put something else in the place of. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /** Calls back after so many milliseconds, unless the function that it returns is called before. */
  after(milliseconds: number, callback: () => void): () => void;
  /** A number from 0 up to, but not including, 1, drawn by chance. */
  chance(): number;
}

/** `setTimeout` calls back at once where it is given more. */
const LONGEST_TIMER = 0x7fff_ffff;

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
        left > LONGEST_TIMER
          ? setTimeout(() => {
              wait(left - LONGEST_TIMER);
            }, LONGEST_TIMER)
          : setTimeout(callback, left);
    };
    wait(Math.max(0, milliseconds));
    return () => {
      clearTimeout(timer);
    };
  },
  chance: () => Math.random(),
};

/** Waits for so many milliseconds, or until the signal is aborted if that comes first. */
export function pause(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
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
