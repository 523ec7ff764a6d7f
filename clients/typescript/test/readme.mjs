// Writes the programs of README.md to test/readme, where they are compiled and run with the tests. A program that does not
// connect is a fragment; it gets a prelude that defines a client, a game, a seat and a move.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { URL } from "node:url";

const PRELUDE = `import { connect as connectClient } from "@sodafountain/client";

const client = connectClient("localhost:50051");
const game = await client.newGame({ game: { case: "sodaJerk", value: {} } }, { seats: 2 });
const [seat] = game.seats;
const [move] = (await seat?.legalMoves())?.moves ?? [];
if (seat === undefined || move === undefined) throw new Error("the game has no seat or no move");
`;

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf-8");
const directory = new URL("readme/", import.meta.url);
rmSync(directory, { recursive: true, force: true });
mkdirSync(directory);
[...readme.matchAll(/^```ts\n(.*?)^```$/gms)].forEach(([, code], index) => {
  const prelude = code.includes("connect(") ? "" : PRELUDE;
  writeFileSync(new URL(`program-${index + 1}.ts`, directory), `${prelude}${code}\nexport {};\n`);
});
