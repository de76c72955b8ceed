/**
 * Connections that keep a listener waiting, break off, or flood it.
 * @module
 */
import { describe, expect } from "bun:test";
import { connect, type Socket } from "node:net";
import { silentLogger } from "../../../lib/core/log.ts";
import { startHttpServer } from "../../../lib/http/sockets/server.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { openRaw, type RawConnection, type RawPlace } from "../../support/net/raw_http.ts";
import { readTls } from "../../support/net/tls_fixtures.ts";
import { LISTENER_KINDS, ListenerStage } from "./stage.ts";
import { longTest } from "../../support/long_tests.ts";

const PROBE = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
const ENDLESS = PROBE.replace("/livez", "/endless");
const WAIT_MS = 15_000;

/** Moves time on in small steps until all are closed. @returns How many are not */
async function countOpen(
  stage: ListenerStage,
  connections: readonly RawConnection[],
): Promise<number> {
  for (let turn = 0; turn < 300; turn += 1) {
    if (connections.every(({ socket }) => socket.closed)) return 0;
    await Bun.sleep(10);
    await stage.clock.advance(100);
  }
  return connections.filter(({ socket }) => !socket.closed).length;
}

function toPort(place: RawPlace): Socket {
  return "path" in place ? connect(place.path) : connect(place.port, "127.0.0.1");
}

/** Ends a connection without a word: the other side gets an error. */
function reset(socket: Socket): void {
  socket.resetAndDestroy();
}

describe.each(LISTENER_KINDS.map((kind) => [kind] as const))("the %s", (kind) => {
  longTest(`the ${kind} waits ten seconds for the rest of a head, wherever it stops`, async () => {
    await using stage = await ListenerStage.start(kind);
    const heads = Array.from({ length: PROBE.length }, (_, at) => PROBE.slice(0, at));
    const bodies = [`${PROBE.slice(0, -2)}X: ${"a".repeat(16_000)}`, "\r\n".repeat(100)];
    const connections: RawConnection[] = [];
    for (const text of [...heads, ...bodies]) {
      const connection = await stage.open();
      if (text !== "") connection.send(text);
      connections.push(connection);
    }
    await Bun.sleep(20);
    await stage.clock.advance(9_000);
    expect(connections.filter(({ socket }) => socket.closed)).toEqual([]);
    expect(await countOpen(stage, connections)).toBe(0);
    expect(connections.flatMap(({ statuses }) => statuses)).toEqual([]);
    await stage.expectWell();
  });

  longTest(
    `the ${kind} answers a head that comes byte by byte in time, and a client that then says no more`,
    async () => {
      await using stage = await ListenerStage.start(kind);
      const connection = await stage.open();
      connection.socket.setNoDelay(true);
      for (const byte of PROBE) {
        connection.send(byte);
        await Bun.sleep(0);
      }
      await connection.untilAnswers(1);
      connection.socket.end(PROBE);
      await connection.closed;
      expect(connection.statuses).toEqual([200, 200]);
      await stage.expectWell();
    },
  );

  longTest(
    `the ${kind} answers as many requests on a connection as come one after another`,
    async () => {
      await using stage = await ListenerStage.start(kind);
      const connection = await stage.open();
      for (let count = 1; count <= 100; count += 1) {
        connection.send(PROBE);
        await connection.untilAnswers(count);
      }
      expect(new Set(connection.statuses)).toEqual(new Set([200]));
      connection.socket.destroy();
      await stage.expectWell();
    },
  );

  longTest(`the ${kind} survives clients that break off, in whatever phase`, async () => {
    await using stage = await ListenerStage.start(kind);
    for (let round = 0; round < 5; round += 1) {
      reset(toPort(stage.place));
      const early = toPort(stage.place);
      early.on("error", () => {});
      await new Promise((resolve) => early.once("connect", resolve));
      reset(early);
      for (const text of [
        "",
        "GET /li",
        PROBE,
        PROBE.repeat(5),
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(8),
      ]) {
        for (const isPolite of [true, false]) {
          const connection = await stage.open();
          if (text !== "") connection.send(text);
          if (round > 0) await Bun.sleep(0);
          if (isPolite) connection.socket.end();
          else reset(connection.socket);
        }
      }
    }
    await stage.expectWell();
    expect(stage.logged).toEqual([]);
  });

  longTest(`the ${kind} answers few of 10,000 requests whose answers nobody reads`, async () => {
    await using stage = await ListenerStage.start(kind);
    const connection = await stage.open();
    connection.socket.pause();
    connection.send(PROBE.repeat(10_000));
    await Bun.sleep(50);
    expect((await stage.get("/livez")).status).toBe(200);
    connection.socket.resume();
    expect(await countOpen(stage, [connection])).toBe(0);
    expect(connection.statuses.length).toBeLessThan(50);
    await stage.expectWell();
  });

  longTest(`the ${kind} answers probes while 200 connections come and stay`, async () => {
    await using stage = await ListenerStage.start(kind);
    const held: Socket[] = [];
    for (let count = 0; count < 200; count += 1) {
      const socket = toPort(stage.place);
      socket.on("error", () => {});
      held.push(socket);
      if (count % 100 === 50) expect((await stage.get("/livez")).status).toBe(200);
    }
    expect((await stage.get("/livez")).status).toBe(200);
    for (const socket of held) socket.destroy();
    await stage.expectWell();
  });
});

/** A server, and how many answers without an end it began. */
interface Endless {
  readonly place: RawPlace;
  readonly asked: { readonly count: number };
  stop(): Promise<void>;
}

/** A server whose answers have no end, but for probes. */
async function startEndless(isTls: boolean, clock: ManualClock): Promise<Endless> {
  const chunk = new Uint8Array(64 * 1024);
  const asked = { count: 0 };
  const endless = (): Response => {
    asked.count += 1;
    return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(chunk) }));
  };
  const server = await startHttpServer({
    address: { kind: "tcp", host: "127.0.0.1", port: 0 },
    handler: {
      fetch: (request) => (request.url.endsWith("/endless") ? endless() : new Response("ok")),
    },
    ...(isTls && { keyPair: { cert: readTls("server.crt"), key: readTls("server.key") } }),
    flag: "--x",
    clock,
    log: silentLogger,
    signal: AbortSignal.timeout(WAIT_MS),
  });
  const port = server.address.kind === "tcp" ? server.address.port : 0;
  return { place: { port, isTls }, asked, stop: () => server.stop(0) };
}

describe.each([[false], [true]])("startHttpServer() with TLS: %p", (isTls) => {
  longTest("startHttpServer() answers a probe while clients take no answers", async () => {
    const clock = new ManualClock();
    const { place, asked, stop } = await startEndless(isTls, clock);
    const held: RawConnection[] = [];
    // Eight answers each: more than the 64 that there may be at once.
    for (let count = 0; count < 9; count += 1) held.push(await openRaw(place));
    for (const { socket } of held) socket.pause();
    for (const { send } of held) send(ENDLESS.repeat(8));
    while (asked.count < 64) await Bun.sleep(5);
    await clock.advance(1_000);
    const probe = await openRaw(place);
    probe.send(PROBE);
    await probe.untilAnswers(1);
    expect(probe.statuses).toEqual([200]);
    for (const { socket } of [...held, probe]) socket.destroy();
    await stop();
  });

  longTest("startHttpServer() cuts off after 30 s who takes an answer byte by byte", async () => {
    const clock = new ManualClock();
    const { place, asked, stop } = await startEndless(isTls, clock);
    const { socket, send, closed } = await openRaw(place);
    socket.removeAllListeners("data");
    socket.pause();
    send(ENDLESS);
    while (asked.count < 1) await Bun.sleep(5);
    for (let second = 0; second < 29; second += 1) {
      await clock.advance(1_000);
      socket.read(1);
    }
    expect(socket.destroyed).toBe(false);
    await clock.advance(1_000);
    socket.resume();
    await closed;
    await stop();
  });
});
