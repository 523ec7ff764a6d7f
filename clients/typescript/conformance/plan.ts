/** The plan of a conformance run; clients/conformance/README.md describes it. */

import type { JsonValue, Visibility } from "@sodafountain/client/v1";

/** A plan. */
export interface Plan {
  readonly transport: "grpc" | "grpc-web";
  readonly scenarios: readonly Scenario[];
}

/** A scenario: the steps of one client. */
export interface Scenario {
  readonly name: string;
  readonly connect: Connect;
  readonly steps: readonly Step[];
}

/** The options of the client. `timeout` is in seconds; `tls`, `certificate` and `key` are paths of PEM files. */
export interface Connect {
  readonly target: string;
  readonly timeout?: number;
  readonly api_key?: string;
  readonly tls?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly allow_insecure?: boolean;
}

/** A step: an action and its arguments. Times are in seconds. */
export interface Step {
  readonly do: string;
  readonly as?: string;
  readonly token?: string;
  readonly game?: string;
  readonly without_token?: boolean;
  readonly restored?: boolean;
  readonly seat?: number;
  readonly options?: JsonValue;
  readonly seats?: number;
  readonly seed?: string;
  readonly sealed?: boolean;
  readonly visibility?: `VISIBILITY_${keyof typeof Visibility}`;
  readonly request_id?: string;
  readonly timeout?: number;
  readonly legal_moves?: boolean;
  readonly move?: JsonValue;
  readonly etag?: string;
  readonly name?: string;
  readonly watch?: string;
  readonly idle_timeout?: number | null;
  readonly resume?: string;
  readonly count?: number;
}

/** The outcome of a step, as JSON. */
export type Outcome = Readonly<Record<string, unknown>>;
