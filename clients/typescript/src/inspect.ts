/** Keeps secrets out of what Node prints. */

/** The method that `util.inspect`, and so `console.log`, calls if an object has it. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

type Inspect = (value: unknown, options: object) => string;

/**
 * Exclude the values of getters from what `util.inspect` prints, even with the option `getters`.
 *
 * @param prototype - the prototype of the objects.
 */
export function hideGetters(prototype: object): void {
  Object.defineProperty(prototype, INSPECT, {
    value(this: unknown, depth: number | null, options: object, inspect: Inspect): string {
      return inspect(this, { ...options, depth, getters: false, customInspect: false });
    },
  });
}
