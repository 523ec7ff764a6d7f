/** What a plan has in it: see clients/conformance/README.md. */

import type { JsonValue } from "@sodafountain/client/v1";

/** A plan. */
export interface Plan {
  readonly transport: "grpc" | "grpc-web";
  readonly scenarios: readonly Scenario[];
}

/** A scenario: one client, and what is done with it. */
export interface Scenario {
  readonly name: string;
  readonly connect: Connect;
  readonly steps: readonly Step[];
}

/** How to connect; `timeout` in seconds, `tls` the path of a certificate. */
export interface Connect {
  readonly target: string;
  readonly timeout?: number;
  readonly api_key?: string;
  readonly tls?: string;
}

/** A step: what to do, and what with. Times are in seconds. */
export interface Step {
  readonly do: string;
  readonly as?: string;
  readonly token?: string;
  readonly game?: string;
  readonly seat?: number;
  readonly options?: JsonValue;
  readonly seats?: number;
  readonly seed?: string;
  readonly sealed?: boolean;
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

/** What came of a step: JSON. */
export type Outcome = Readonly<Record<string, unknown>>;
