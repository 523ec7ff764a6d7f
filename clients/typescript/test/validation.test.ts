import assert from "node:assert/strict";
import { test } from "node:test";

import { formatGrpcTimeout } from "../src/rpc-client.js";
import { SodaFountainError } from "../src/errors.js";
import * as node from "../src/node.js";
import * as web from "../src/web.js";
import { GAME, createClient } from "./fakes.js";

for (const target of ["localhost:50051", "127.0.0.1:1", "[::1]:65535", "a-b.example:443"]) {
  test(`${target} is a valid target`, () => {
    assert.equal(node.connect(target, { allowInsecure: true }).target, target);
  });
}

for (const target of ["localhost:1", "LocalHost:1", "127.0.0.1:1", "127.255.0.9:1", "[::1]:1"]) {
  test(`${target} needs no TLS`, () => {
    assert.equal(node.connect(target).target, target);
    assert.equal(web.connect(`http://${target}`).target, `http://${target}`);
  });
}

for (const target of [
  "games.example:1",
  "10.0.0.1:1",
  "0.0.0.0:1",
  "[2001:db8::1]:1",
  "127.0.0.1.games.example:1",
  "localhost.games.example:1",
]) {
  test(`${target} needs TLS or permission`, () => {
    const url = `http://${target}`;
    const problem =
      "is not on this host, and the connection has no TLS: everyone on the network could read tokens and API keys.";
    const permission = "If you trust the network, use allowInsecure: true";
    assert.throws(() => node.connect(target, { apiKey: "key" }), {
      name: "TypeError",
      message: `"${target}" ${problem} Use the option tls. ${permission}`,
    });
    assert.throws(() => web.connect(url, { apiKey: "key" }), {
      name: "TypeError",
      message: `"${url}" ${problem} Use an https URL. ${permission}`,
    });
    assert.equal(node.connect(target, { tls: true }).target, target);
    assert.equal(node.connect(target, { allowInsecure: true }).target, target);
    assert.equal(web.connect(`https://${target}`).target, `https://${target}`);
    assert.equal(web.connect(url, { allowInsecure: true }).target, url);
  });
}

for (const target of [
  "",
  "localhost",
  "localhost:",
  ":1",
  "::1:50051",
  "http://localhost:50051",
  "a b:1",
  "a/b:1",
  "u@h:1",
]) {
  test(`${JSON.stringify(target)} is not a valid target`, () => {
    assert.throws(() => node.connect(target), TypeError);
  });
}

for (const target of ["localhost:0", "localhost:65536"]) {
  test(`${target} has an invalid port`, () => {
    assert.throws(() => node.connect(target), RangeError);
  });
}

for (const url of ["https://games.example", "http://localhost:8080", "https://games.example/soda/"]) {
  test(`${url} is a valid gateway URL`, () => {
    assert.equal(web.connect(url).target, url);
  });
}

for (const url of [
  "",
  "localhost:8080",
  "/api",
  "ftp://games.example",
  "https://u:p@games.example",
  "http://h/?q",
  "http://h/#f",
]) {
  test(`${JSON.stringify(url)} is not a valid gateway URL`, () => {
    assert.throws(() => web.connect(url), TypeError);
  });
}

for (const target of [
  "https://user:secret@games.example",
  "ftp://user:secret@games.example",
  "https://user:secret@games example",
  "https://user:sec/secret@games.example:x",
  "user:secret@games.example:1",
  "user:sec@secret@games.example",
]) {
  test(`the error about ${target} does not show the user and password`, () => {
    for (const { connect } of [node, web]) {
      assert.throws(() => connect(target), { name: "TypeError", message: /^(?!.*(?:user:|sec))/ });
    }
  });
}

for (const target of ["[:::::]:1", "[fe80::1%eth0]:1", "1.2.3.999:1", "a%zz:1", "a<b:1"]) {
  test(`the error about ${target} names the target`, () => {
    assert.throws(() => node.connect(target), { name: "TypeError", message: /^target ".*" is not host:port / });
  });
}

for (const [timeoutMs, kind] of [
  [0, RangeError],
  [-1, RangeError],
  [NaN, RangeError],
  [Infinity, RangeError],
  [2e12, RangeError],
  ["5", TypeError],
  [null, TypeError],
] as const) {
  test(`a client and a call reject the timeout ${String(timeoutMs)}`, async () => {
    const wrong = { timeoutMs: timeoutMs as number };
    if (timeoutMs !== null) {
      assert.throws(() => node.connect("localhost:1", wrong), kind);
    }
    const { client, channel } = createClient();
    await assert.rejects(client.gameKinds(wrong), kind);
    assert.deepEqual(channel.calls, []);
  });
}

test("the idle timeout is a positive number of milliseconds or Infinity", () => {
  const spectator = createClient().client.spectator(GAME);
  assert.throws(() => spectator.watch({ idleTimeoutMs: 0 }), RangeError);
  assert.throws(() => spectator.watch({ idleTimeoutMs: "9" as unknown as number }), TypeError);
  assert.doesNotThrow(() => spectator.watch({ idleTimeoutMs: Infinity }));
});

test("a request that cannot be serialized throws a TypeError", async () => {
  const { client, channel } = createClient();
  await assert.rejects(client.newGame({ game: { case: "juices", value: {} } }, { seats: 2.5 }), TypeError);
  await assert.rejects(client.host(GAME, "t").legalMoves("one" as unknown as number), TypeError);
  assert.deepEqual(channel.calls, []);
});

for (const seat of [NaN, 1.5, 2 ** 31, "one" as unknown as number]) {
  test(`a watch for seat ${seat} throws a TypeError immediately`, () => {
    const { client, channel } = createClient();
    assert.throws(() => client.host(GAME, "t").watch({ seat }), {
      name: "TypeError",
      message: /^the request cannot be serialized: /,
    });
    assert.deepEqual(channel.calls, []);
  });
}

for (const [token, problem] of [
  ["", "The token is empty."],
  [
    "a\n",
    "The token must consist of visible ASCII characters; character 2 of 2 is U+000A. Whitespace is not stripped.",
  ],
  [
    "sécret",
    "The token must consist of visible ASCII characters; character 2 of 6 is U+00E9. Whitespace is not stripped.",
  ],
  [undefined, "The token must be a string, not undefined."],
] as const) {
  test(`the error about the token ${JSON.stringify(token)} does not show it`, () => {
    const { client } = createClient();
    const spectator = () => client.spectator(GAME, { token: token as string });
    for (const connect of [
      () => client.seat(GAME, token as string),
      () => client.host(GAME, token as string),
      ...(token === undefined ? [] : [spectator]),
    ]) {
      assert.throws(connect, (error) => {
        assert.ok(error instanceof SodaFountainError);
        assert.deepEqual([error.reason, error.code, error.message], ["TOKEN_INVALID", "UNAUTHENTICATED", problem]);
        return true;
      });
    }
  });
}

test("connect rejects an API key that does not fit into a header", () => {
  assert.throws(() => node.connect("localhost:1", { apiKey: "a key" }), { reason: "API_KEY_INVALID" });
  assert.throws(() => web.connect("http://localhost", { apiKey: "" }), { reason: "API_KEY_INVALID" });
});

test("connect rejects an invalid certificate", () => {
  assert.throws(() => node.connect("localhost:1", { tls: { ca: "none" } }), TypeError);
  assert.throws(() => node.connect("localhost:1", { tls: { key: "none" } }), TypeError);
});

test("a gRPC timeout has at most eight digits and is never zero", () => {
  assert.deepEqual([0.2, 1.9, 5000, 99_999_999, 100_000_000, 1e12].map(formatGrpcTimeout), [
    "1m",
    "1m",
    "5000m",
    "99999999m",
    "100000S",
    "16666666M",
  ]);
});
