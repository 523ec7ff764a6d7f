import assert from "node:assert/strict";
import { once } from "node:events";
import * as http from "node:http";
import * as http2 from "node:http2";
import * as net from "node:net";
import { test } from "node:test";

import { createGrpcTransport } from "@connectrpc/connect-node";

import type { Channel } from "../src/channel.js";
import { Client } from "../src/client.js";
import { parseFailure } from "../src/failures.js";
import { GameService, ListGameKindsRequestSchema } from "../src/gen/sodafountain/v1/game_service_pb.js";
import { create } from "../src/v1.js";
import { Connection } from "../src/node/connection.js";
import { grpcChannel } from "../src/node/grpc-channel.js";
import { webChannel } from "../src/web-channel.js";
import type { Service } from "./fake-service.js";
import { listen, startService } from "./fake-service.js";

const IMPATIENT = { pingIntervalMs: 60_000, pingTimeoutMs: 50, connectTimeoutMs: 0 };
const PATIENT = { ...IMPATIENT, pingTimeoutMs: 60_000 };

function channelOver(connection: Connection): Channel {
  return {
    target: connection.authority,
    tls: false,
    transport: createGrpcTransport({ baseUrl: connection.authority, sessionManager: connection }),
    headers: () => ({}),
    checkConnection: () => {
      connection.checkConnection();
    },
    close: () => {
      connection.close();
    },
  };
}

/** What a call over a channel fails with. */
async function failCall(channel: Channel): Promise<[string, string]> {
  const request = create(ListGameKindsRequestSchema);
  try {
    await channel.transport.unary(GameService.method.listGameKinds, undefined, undefined, undefined, request);
  } catch (error) {
    const { code, message } = parseFailure(error, channel.tls);
    return [code, message];
  } finally {
    channel.close();
  }
  throw new Error("it did not fail");
}

/** A server that does something with each connection; its port. */
async function peer(does: (socket: net.Socket) => void): Promise<{ port: number; server: net.Server }> {
  const server = net.createServer((socket) => {
    socket.on("error", () => undefined);
    does(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as net.AddressInfo).port, server };
}

/** A way to a service that may die without a word: what was connected by then hears nothing any more. */
async function startProxy(service: Service): Promise<{ url: string; connections: number; die(): void; close(): void }> {
  const ways: { dead: boolean }[] = [];
  const { port, server } = await peer((near) => {
    const way = { dead: false };
    ways.push(way);
    const far = net.connect(Number(service.target.split(":")[1]), "127.0.0.1");
    far.on("error", () => undefined);
    near.on("data", (bytes) => way.dead || far.write(bytes)).on("close", () => far.destroy());
    far.on("data", (bytes) => way.dead || near.write(bytes));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    get connections() {
      return ways.length;
    },
    die: () => {
      ways.forEach((way) => (way.dead = true));
    },
    close: () => server.close(),
  };
}

test("a connection that has died without a word is noticed, and its call made over another", async () => {
  const service = await startService();
  const way = await startProxy(service);
  const connection = new Connection(way.url, {}, IMPATIENT);
  const client = new Client(channelOver(connection), {});
  await client.gameKinds();
  way.die();
  const call = client.gameKinds();
  connection.checkConnection();
  assert.equal((await call).length, 1);
  assert.equal(way.connections, 2);
  client.close();
  way.close();
  service.close();
});

test("a connection that gives a sign of life is kept", async () => {
  const service = await startService();
  const way = await startProxy(service);
  const connection = new Connection(way.url, {}, PATIENT);
  const client = new Client(channelOver(connection), {});
  for (let calls = 0; calls < 5; calls++) {
    await client.gameKinds();
    connection.checkConnection();
  }
  assert.equal(way.connections, 1);
  client.close();
  way.close();
  service.close();
});

test("a connection that is not made is given up", async () => {
  const server = net.createServer({ pauseOnConnect: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  const connection = new Connection(`https://127.0.0.1:${port}`, {}, IMPATIENT);
  const accepted = once(server, "connection");
  const failure = failCall({ ...channelOver(connection), tls: true });
  const [socket] = (await accepted) as [net.Socket];
  connection.checkConnection();
  assert.deepEqual(await failure, ["UNAVAILABLE", "the connection timed out"]);
  socket.destroy();
  server.close();
});

test("closing a client takes leave of the server, and ends its streams", async () => {
  const server = http2.createServer();
  const port = await listen(server);
  const goaway = once(server, "session").then(([session]) => once(session as http2.ServerHttp2Session, "goaway"));
  const client = new Client(grpcChannel(`127.0.0.1:${port}`, false), {});
  const failure = assert.rejects(client.gameKinds(), { reason: "CLIENT_CLOSED" });
  await once(server, "stream");
  client.close();
  await failure;
  assert.equal((await goaway)[0], http2.constants.NGHTTP2_NO_ERROR);
  server.close();
});

test("what broke a connection is said in words", async () => {
  const hangsUp = await peer((socket) => socket.destroy());
  const page = http.createServer((_, response) => response.writeHead(503).end("<p>Hello.</p>"));
  const port = await listen(page);
  const here = `127.0.0.1:${port}`;
  const closed = "the connection was closed; the server may want TLS";
  assert.deepEqual(await failCall(grpcChannel(`127.0.0.1:${hangsUp.port}`, false)), ["UNAVAILABLE", closed]);
  assert.deepEqual(await failCall(webChannel(`http://127.0.0.1:${hangsUp.port}`)), ["UNAVAILABLE", closed]);
  assert.deepEqual(await failCall(grpcChannel(here, false)), ["UNAVAILABLE", "the server speaks another protocol"]);
  assert.deepEqual(await failCall(webChannel(`http://${here}`)), ["UNAVAILABLE", "HTTP 503"]);
  const noTls = "the TLS handshake failed: the server does not speak TLS";
  assert.deepEqual(await failCall(webChannel(`https://${here}`)), ["UNAVAILABLE", noTls]);
  hangsUp.server.close();
  page.close();
  await once(page, "close");
  const refused = "the connection was refused";
  assert.deepEqual(await failCall(grpcChannel(here, false)), ["UNAVAILABLE", refused]);
  assert.deepEqual(await failCall(webChannel(`http://${here}`)), ["UNAVAILABLE", refused]);
});
