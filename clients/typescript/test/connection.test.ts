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

const SHORT_TIMEOUTS = { pingIntervalMs: 60_000, pingTimeoutMs: 50, connectTimeoutMs: 0 };
const LONG_PING_TIMEOUT = { ...SHORT_TIMEOUTS, pingTimeoutMs: 60_000 };

function channelOver(connection: Connection): Channel {
  return {
    target: connection.authority,
    tls: false,
    transport: createGrpcTransport({ baseUrl: connection.authority, sessionManager: connection }),
    headers: () => ({}),
    checkConnection: () => {
      connection.check();
    },
    close: () => {
      connection.close();
    },
  };
}

/** Make a call that fails; return its status code and message. */
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
  throw new Error("the call did not fail");
}

/** Start a TCP server that handles each connection with a function. */
async function startServer(handle: (socket: net.Socket) => void): Promise<{ port: number; server: net.Server }> {
  const server = net.createServer((socket) => {
    socket.on("error", () => undefined);
    handle(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as net.AddressInfo).port, server };
}

/** Start a TCP proxy. After `stall`, its existing connections stay open but transmit nothing. */
async function startProxy(
  service: Service,
): Promise<{ url: string; connections: number; stall(): void; close(): void }> {
  const connections: { stalled: boolean }[] = [];
  const { port, server } = await startServer((client) => {
    const connection = { stalled: false };
    connections.push(connection);
    const upstream = net.connect(Number(service.target.split(":")[1]), "127.0.0.1");
    upstream.on("error", () => undefined);
    client.on("data", (bytes) => connection.stalled || upstream.write(bytes)).on("close", () => upstream.destroy());
    upstream.on("data", (bytes) => connection.stalled || client.write(bytes));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    get connections() {
      return connections.length;
    },
    stall: () => {
      connections.forEach((connection) => (connection.stalled = true));
    },
    close: () => server.close(),
  };
}

test("a call over a dead connection is retried over a new one", async () => {
  const service = await startService();
  const proxy = await startProxy(service);
  const connection = new Connection(proxy.url, {}, SHORT_TIMEOUTS);
  const client = new Client(channelOver(connection), {});
  await client.gameKinds();
  proxy.stall();
  const call = client.gameKinds();
  connection.check();
  assert.equal((await call).length, 1);
  assert.equal(proxy.connections, 2);
  client.close();
  proxy.close();
  service.close();
});

test("a connection that answers pings is kept", async () => {
  const service = await startService();
  const proxy = await startProxy(service);
  const connection = new Connection(proxy.url, {}, LONG_PING_TIMEOUT);
  const client = new Client(channelOver(connection), {});
  for (let calls = 0; calls < 5; calls++) {
    await client.gameKinds();
    connection.check();
  }
  assert.equal(proxy.connections, 1);
  client.close();
  proxy.close();
  service.close();
});

test("a connection that is not established in time is given up", async () => {
  const server = net.createServer({ pauseOnConnect: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  const connection = new Connection(`https://127.0.0.1:${port}`, {}, SHORT_TIMEOUTS);
  const accepted = once(server, "connection");
  const failure = failCall({ ...channelOver(connection), tls: true });
  const [socket] = (await accepted) as [net.Socket];
  connection.check();
  assert.deepEqual(await failure, ["UNAVAILABLE", "the connection timed out"]);
  socket.destroy();
  server.close();
});

test("closing a client sends GOAWAY and ends its streams", async () => {
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

test("a broken connection is described in plain words", async () => {
  const closing = await startServer((socket) => socket.destroy());
  const page = http.createServer((_, response) => response.writeHead(503).end("<p>Hello.</p>"));
  const port = await listen(page);
  const address = `127.0.0.1:${port}`;
  const closed = "the connection was closed; the server may require TLS";
  assert.deepEqual(await failCall(grpcChannel(`127.0.0.1:${closing.port}`, false)), ["UNAVAILABLE", closed]);
  assert.deepEqual(await failCall(webChannel(`http://127.0.0.1:${closing.port}`)), ["UNAVAILABLE", closed]);
  assert.deepEqual(await failCall(grpcChannel(address, false)), [
    "UNAVAILABLE",
    "the server's response is not valid HTTP/2",
  ]);
  assert.deepEqual(await failCall(webChannel(`http://${address}`)), ["UNAVAILABLE", "HTTP 503"]);
  const noTls = "the TLS handshake failed: the server does not speak TLS";
  assert.deepEqual(await failCall(webChannel(`https://${address}`)), ["UNAVAILABLE", noTls]);
  closing.server.close();
  page.close();
  await once(page, "close");
  const refused = "the connection was refused";
  assert.deepEqual(await failCall(grpcChannel(address, false)), ["UNAVAILABLE", refused]);
  assert.deepEqual(await failCall(webChannel(`http://${address}`)), ["UNAVAILABLE", refused]);
});
