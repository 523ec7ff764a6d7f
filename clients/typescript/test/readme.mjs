// Writes the programs of README.md to test/readme, to be compiled with the tests and run by them. A fragment, which does not
// connect, gets something to speak of: a client, a game, a seat and a move.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { URL } from "node:url";

const BEFORE = `import { connect as connected } from "@sodafountain/client";

const client = connected("localhost:50051");
const game = await client.newGame({ game: { case: "sodaJerk", value: {} } }, { seats: 2 });
const [seat] = game.seats;
const [move] = (await seat?.legalMoves())?.moves ?? [];
if (seat === undefined || move === undefined) throw new Error("a game without a seat or a move");
`;

/** A history is shown only of a finished game. */
const TO_THE_END = `for (let [next] = game.state.awaitingSeats; next !== undefined; ) {
  const [chosen] = (await game.host.legalMoves(next)).moves;
  if (chosen === undefined) break;
  [next] = (await game.host.apply(next, chosen)).state.awaitingSeats;
}
`;

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf-8");
const folder = new URL("readme/", import.meta.url);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
[...readme.matchAll(/^```ts\n(.*?)^```$/gms)].forEach(([, code], index) => {
  const before = code.includes("connect(") ? "" : code.includes("history()") ? BEFORE + TO_THE_END : BEFORE;
  writeFileSync(new URL(`program-${index + 1}.ts`, folder), `${before}${code}\nexport {};\n`);
});
