import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { rootCertificates } from "node:tls";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { build } from "esbuild";

import { USER_AGENT, VERSION } from "../src/version.js";
import type { Service } from "./fake-service.js";
import { startService } from "./fake-service.js";

const run = promisify(execFile);
const PACKAGE = fileURLToPath(new URL("../../", import.meta.url));
const BUILT = fileURLToPath(new URL("../", import.meta.url));

let service: Service;
let directory: string;
before(async () => {
  service = await startService();
  directory = mkdtempSync(join(tmpdir(), "soda-"));
});
after(() => {
  service.close();
  rmSync(directory, { recursive: true });
});

/** Run a program until it exits; return its output. */
async function runNode(cwd: string, ...program: string[]): Promise<string> {
  const { stdout, stderr } = await run(process.execPath, program, { cwd, timeout: 60_000 });
  assert.equal(stderr, "");
  return stdout;
}

/** Run a program that imports the package by its name. */
function runCode(code: string): Promise<string> {
  return runNode(PACKAGE, "--input-type=module", "--eval", code);
}

/** Bundle a program that imports the package. */
async function bundle(contents: string, platform: "browser" | "node"): Promise<{ text: string; inputs: string[] }> {
  const result = await build({
    stdin: { contents, resolveDir: PACKAGE },
    tsconfigRaw: {}, // without the path mapping of this project, as in an app
    platform,
    bundle: true,
    format: "esm",
    write: false,
    metafile: true,
  });
  assert.deepEqual(result.warnings, []);
  return { text: result.outputFiles[0]?.text ?? "", inputs: Object.keys(result.metafile.inputs) };
}

test("VERSION equals the version in package.json", () => {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf-8")) as { version: string };
  assert.equal(VERSION, version);
  assert.equal(USER_AGENT, `sodafountain-typescript/${version}`);
});

for (const entryPoint of ["@sodafountain/client", "@sodafountain/client/web"]) {
  test(`a browser bundle of ${entryPoint} contains no Node modules and works`, async () => {
    const { text, inputs } = await bundle(
      `
      import { connect } from "${entryPoint}";
      import { create, JuicesOptionsSchema } from "@sodafountain/client/v1";
      const client = connect("${service.url}");
      const game = await client.newGame(create(JuicesOptionsSchema), { seats: 2 });
      for await (const { state } of game.seats[0].watch({ legalMoves: true })) {
        if (state.legalMoves.length > 0) await game.seats[0].apply(state.legalMoves[0]);
      }
      console.log((await game.host.score()).note);
    `,
      "browser",
    );
    assert.deepEqual(
      inputs.filter((input) => /node:|connect-node|dist\/node/.test(input)),
      [],
    );
    assert.doesNotMatch(text, /\brequire\(|^import\b/m);
    assert.ok(inputs.length > 0);
    writeFileSync(join(directory, "page.mjs"), text);
    assert.equal(await runNode(directory, "page.mjs"), "All seats win.\n");
  });
}

test("a Node bundle of the package uses gRPC", async () => {
  const { inputs } = await bundle('export { connect } from "@sodafountain/client";', "node");
  assert.ok(inputs.some((input) => input.includes("connect-node")));
});

for (const [entryPoint, address] of [
  ["@sodafountain/client", () => service.target],
  ["@sodafountain/client/web", () => service.url],
] as const) {
  test(`a process with ${entryPoint} exits by itself, with its client open or closed`, async () => {
    const first = `
      import { connect } from "${entryPoint}";
      const client = connect("${address()}");
      const game = await client.newGame({ game: { case: "juices", value: {} } }, { seats: 2 });
      for await (const { state } of game.seats[0].watch()) {
        console.log(state.version);
        break;
      }`;
    const watching =
      "const watch = game.seats[0].watch(); await watch.next(); watch.next().catch((e) => console.log(e.reason));";
    assert.deepEqual(await Promise.all([runCode(first), runCode(`${first} ${watching} client.close();`)]), [
      "1n\n",
      "1n\nCLIENT_CLOSED\n",
    ]);
  });
}

test("the example bot plays a whole game", async () => {
  const bot = join(BUILT, "examples", "bot.js");
  const lines = (await runNode(directory, bot, `--target=${service.target}`, "--kind=soda_jerk", "--seats=3")).split(
    "\n",
  );
  assert.match(lines[0] ?? "", /^Seat 0: (One|Other)$/);
  assert.equal(lines.at(-2), "All seats win.");
  assert.equal(lines.length, 8);
  await assert.rejects(runNode(directory, bot, "--kind=chess", `--target=${service.target}`), {
    stderr: "bot: --kind must be one of soda_jerk, not chess\n",
  });
});

test("the example bot has fewer than 80 lines", () => {
  assert.ok(readFileSync(join(PACKAGE, "examples", "bot.ts"), "utf-8").split("\n").length < 80);
});

const README = join(BUILT, "test", "readme");
for (const file of readdirSync(README).filter((name) => /^program-\d+\.js$/.test(name))) {
  test(`${file} of the README runs unchanged`, async () => {
    const code = readFileSync(join(README, file), "utf-8");
    const program = join(README, file.replace("program", "run"));
    writeFileSync(
      program,
      code.replaceAll("localhost:50051", service.target).replaceAll("http://localhost:8080", service.url),
    );
    writeFileSync(join(directory, "authority.pem"), rootCertificates[0] ?? "");
    await runNode(directory, program);
  });
}

test("the README has at least eight programs", () => {
  assert.ok(readdirSync(README).filter((name) => name.startsWith("program-")).length >= 8);
});
