/** Runs a plan of the conformance suite with the installed package; see clients/conformance/README.md. */

import { readFileSync } from "node:fs";
import { argv } from "node:process";

import * as grpc from "@sodafountain/client";
import { SodaFountainError } from "@sodafountain/client";
import * as web from "@sodafountain/client/web";

import type { Connect, Outcome, Plan, Scenario, Step } from "./plan.js";
import { ScenarioRunner } from "./scenario-runner.js";

function createClient(transport: Plan["transport"], settings: Connect): grpc.Client {
  const { target, timeout, api_key, tls, certificate, key, allow_insecure } = settings;
  const timeoutMs = timeout === undefined ? undefined : timeout * 1000;
  const options = { apiKey: api_key, timeoutMs, allowInsecure: allow_insecure };
  const read = (file: string | undefined) => (file === undefined ? undefined : readFileSync(file));
  return transport === "grpc-web"
    ? web.connect(target, options)
    : grpc.connect(target, {
        ...options,
        tls: tls === undefined ? false : { ca: read(tls), cert: read(certificate), key: read(key) },
      });
}

/** Convert an error to an outcome. */
function errorOutcome(error: unknown): Outcome {
  if (error instanceof SodaFountainError) {
    const { reason, message, metadata, fieldViolations, requestId } = error;
    const fields = fieldViolations.map(({ field }) => field);
    return { error: { reason, message, metadata, fields, request_id: requestId !== undefined } };
  }
  if (error instanceof TypeError || error instanceof RangeError) {
    return { error: { reason: "ARGUMENT", message: error.message, metadata: {}, fields: [], request_id: false } };
  }
  throw error;
}

async function runScenario(transport: Plan["transport"], { name, connect, steps }: Scenario): Promise<void> {
  let runStep: (step: Step) => Promise<Outcome>;
  let close = (): unknown => undefined;
  try {
    const runner = new ScenarioRunner(createClient(transport, connect));
    runStep = (step) => runner.run(step).catch(errorOutcome);
    close = () => runner.close();
  } catch (error) {
    const failure = Promise.resolve(errorOutcome(error));
    runStep = () => failure;
  }
  for (const [number, step] of steps.entries()) {
    const outcome = await runStep(step);
    console.log(
      JSON.stringify({ scenario: name, step: number, outcome }, (_, value: unknown) => bigintToNumber(value)),
    );
  }
  close();
}

function bigintToNumber(value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}

const plan = JSON.parse(readFileSync(argv[2] ?? "/dev/stdin", "utf-8")) as Plan;
for (const scenario of plan.scenarios) {
  await runScenario(plan.transport, scenario);
}
