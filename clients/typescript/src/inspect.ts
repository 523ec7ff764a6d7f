/** How Node prints what has secrets behind its getters. */

/** The method that Node's `util.inspect`, and so `console.log`, calls where an object has one. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

type Inspect = (value: unknown, options: object) => string;

/**
 * Has objects printed as ever, but never what their getters return, also where `util.inspect` is told to show that.
 *
 * @param prototype - of the objects.
 */
export function hideGetters(prototype: object): void {
  Object.defineProperty(prototype, INSPECT, {
    value(this: unknown, depth: number | null, options: object, inspect: Inspect): string {
      return inspect(this, { ...options, depth, getters: false, customInspect: false });
    },
  });
}
