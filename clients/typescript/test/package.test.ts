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
let folder: string;
before(async () => {
  service = await startService();
  folder = mkdtempSync(join(tmpdir(), "soda-"));
});
after(() => {
  service.close();
  rmSync(folder, { recursive: true });
});

/** Runs a program to its end, which must come by itself, and returns what it prints. */
async function told(cwd: string, ...program: string[]): Promise<string> {
  const { stdout, stderr } = await run(process.execPath, program, { cwd, timeout: 60_000 });
  assert.equal(stderr, "");
  return stdout;
}

/** Runs a program that imports the package by its name. */
function program(code: string): Promise<string> {
  return told(PACKAGE, "--input-type=module", "--eval", code);
}

/** Bundles a program that imports the package. */
async function bundled(contents: string, platform: "browser" | "node"): Promise<{ text: string; inputs: string[] }> {
  const result = await build({
    stdin: { contents, resolveDir: PACKAGE },
    tsconfigRaw: {}, // the package as others find it
    platform,
    bundle: true,
    format: "esm",
    write: false,
    metafile: true,
  });
  assert.deepEqual(result.warnings, []);
  return { text: result.outputFiles[0]?.text ?? "", inputs: Object.keys(result.metafile.inputs) };
}

test("the package says its version once", () => {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf-8")) as { version: string };
  assert.equal(VERSION, version);
  assert.equal(USER_AGENT, `sodafountain-typescript/${version}`);
});

for (const entrance of ["@sodafountain/client", "@sodafountain/client/web"]) {
  test(`a page's bundle of ${entrance} has nothing of Node in it, and works`, async () => {
    const { text, inputs } = await bundled(
      `
      import { connect } from "${entrance}";
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
    writeFileSync(join(folder, "page.mjs"), text);
    assert.equal(await told(folder, "page.mjs"), "Everybody wins.\n");
  });
}

test("bundled for Node, the package calls over gRPC", async () => {
  const { inputs } = await bundled('export { connect } from "@sodafountain/client";', "node");
  assert.ok(inputs.some((input) => input.includes("connect-node")));
});

for (const [entrance, address] of [
  ["@sodafountain/client", () => service.target],
  ["@sodafountain/client/web", () => service.url],
] as const) {
  test(`a process with ${entrance} ends by itself, its client closed or not`, async () => {
    const first = `
      import { connect } from "${entrance}";
      const client = connect("${address()}");
      const game = await client.newGame({ game: { case: "juices", value: {} } }, { seats: 2 });
      for await (const { state } of game.seats[0].watch()) {
        console.log(state.version);
        break;
      }`;
    const inFlight =
      "const watch = game.seats[0].watch(); await watch.next(); watch.next().catch((e) => console.log(e.reason));";
    assert.deepEqual(await Promise.all([program(first), program(`${first} ${inFlight} client.close();`)]), [
      "1n\n",
      "1n\nCLIENT_CLOSED\n",
    ]);
  });
}

test("the bot plays a game to its end", async () => {
  const bot = join(BUILT, "examples", "bot.js");
  const lines = (await told(folder, bot, `--target=${service.target}`, "--kind=soda_jerk", "--seats=3")).split("\n");
  assert.match(lines[0] ?? "", /^Seat 0: (One|Other)$/);
  assert.equal(lines.at(-2), "Everybody wins.");
  assert.equal(lines.length, 8);
  await assert.rejects(told(folder, bot, "--kind=chess", `--target=${service.target}`), {
    stderr: "bot: --kind must be one of soda_jerk, not chess\n",
  });
});

test("the bot is short enough to read", () => {
  assert.ok(readFileSync(join(PACKAGE, "examples", "bot.ts"), "utf-8").split("\n").length < 80);
});

const README = join(BUILT, "test", "readme");
for (const file of readdirSync(README).filter((name) => /^program-\d+\.js$/.test(name))) {
  test(`${file} of the README runs as it stands`, async () => {
    const code = readFileSync(join(README, file), "utf-8");
    const own = join(README, file.replace("program", "own"));
    writeFileSync(
      own,
      code.replaceAll("localhost:50051", service.target).replaceAll("http://localhost:8080", service.url),
    );
    writeFileSync(join(folder, "authority.pem"), rootCertificates[0] ?? "");
    await told(folder, own);
  });
}

test("the README's programs are there to be run", () => {
  assert.ok(readdirSync(README).filter((name) => name.startsWith("program-")).length >= 8);
});
