import { expect, test } from "bun:test";
import { Socket } from "node:net";
import { Connections } from "../../../lib/http/sockets/connections.ts";
import { ManualClock } from "../../support/manual_clock.ts";

function open(connections: Connections): Socket {
  const socket = new Socket();
  connections.add(socket);
  return socket;
}

test("Connections cuts off who asks nothing for ten seconds, and then wakes up no more", async () => {
  const clock = new ManualClock();
  const connections = new Connections(clock, 10);
  const socket = open(connections);
  await clock.advance(9_999);
  expect([socket.destroyed, connections.size, clock.pending]).toEqual([false, 1, 1]);
  await clock.advance(1);
  expect([socket.destroyed, connections.size]).toEqual([true, 0]);
  await clock.advance(60_000);
  expect(clock.pending).toBe(0);
});

test("Connections gives 30 seconds for an answer to be taken, and 30 for the next request", async () => {
  const clock = new ManualClock();
  const connections = new Connections(clock, 10);
  const [slow, idle] = [open(connections), open(connections)];
  for (const socket of [slow, idle]) expect(connections.begin(socket)).toBe(true);
  await clock.advance(5_000);
  connections.end(idle);
  await clock.advance(24_999);
  expect([slow.destroyed, idle.destroyed]).toEqual([false, false]);
  await clock.advance(1);
  expect([slow.destroyed, idle.destroyed]).toEqual([true, false]);
  await clock.advance(5_000);
  expect(idle.destroyed).toBe(true);
});

test("Connections.add() makes room among those from the place that has most", async () => {
  const clock = new ManualClock();
  const connections = new Connections(clock, 4);
  const add = async (origin: string): Promise<Socket> => {
    const socket = new Socket();
    connections.add(socket, origin);
    await clock.advance(100);
    return socket;
  };
  const probe = await add("10.0.0.1");
  const flood = [await add("10.6.6.6"), await add("10.6.6.6")];
  const scraper = await add("10.0.0.2");
  for (let count = 0; count < 20; count += 1) flood.push(await add("10.6.6.6"));
  expect([probe.destroyed, scraper.destroyed]).toEqual([false, false]);
  expect(flood.map(({ destroyed }) => destroyed)).toEqual(
    flood.map((_, at) => at < flood.length - 2),
  );
  for (const socket of flood.slice(-2)) connections.begin(socket);
  // Of those that ask nothing, and not of the two that do.
  expect([(await add("10.6.6.6")).destroyed, probe.destroyed]).toEqual([false, true]);
});

test("Connections.add() takes an IPv4 address for the same place however IPv6 writes it", () => {
  const connections = new Connections(new ManualClock(), 5);
  const add = (origin: string): Socket => {
    const socket = new Socket();
    connections.add(socket, origin);
    return socket;
  };
  const others = ["10.0.0.2", "10.0.0.2"].map(add);
  const most = ["10.6.6.6", "::ffff:10.6.6.6", "::ffff:a06:606"].map(add);
  add("2001:db8::1");
  expect(others.map(({ destroyed }) => destroyed)).toEqual([false, false]);
  expect(most.map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
});

test("Connections.add() makes room for each of two that come at once", () => {
  const connections = new Connections(new ManualClock(), 2);
  const old = [open(connections), open(connections)];
  const fresh = [open(connections), open(connections)];
  expect([...old, ...fresh].map(({ destroyed }) => destroyed)).toEqual([true, true, false, false]);
});

test("Connections.begin() gives no more time for the answer before", async () => {
  const clock = new ManualClock();
  const connections = new Connections(clock, 10);
  const socket = open(connections);
  connections.begin(socket);
  await clock.advance(29_000);
  connections.begin(socket);
  await clock.advance(1_000);
  expect(socket.destroyed).toBe(true);
});

test("Connections.end() gives the next answer its own time", async () => {
  const clock = new ManualClock();
  const connections = new Connections(clock, 10);
  const socket = open(connections);
  for (let count = 0; count < 2; count += 1) connections.begin(socket);
  await clock.advance(29_000);
  connections.end(socket);
  await clock.advance(29_000);
  expect(socket.destroyed).toBe(false);
  await clock.advance(1_000);
  expect(socket.destroyed).toBe(true);
});

test("Connections.add() makes room by the one that took no answer for longest, but for a second", async () => {
  const clock = new ManualClock();
  const connections = new Connections(clock, 2);
  const [first, second] = [open(connections), open(connections)];
  connections.begin(second);
  await clock.advance(500);
  connections.begin(first);
  await clock.advance(499);
  expect(open(connections).destroyed).toBe(true);
  await clock.advance(1);
  expect(open(connections).destroyed).toBe(false);
  expect([first.destroyed, second.destroyed]).toEqual([false, true]);
});

test("Connections.cutSlow() cuts nobody off who asks nothing or was asked of just now", async () => {
  const clock = new ManualClock();
  const connections = new Connections(clock, 2);
  const [idle, busy] = [open(connections), open(connections)];
  await clock.advance(5_000);
  connections.begin(busy);
  expect([connections.cutSlow(), idle.destroyed, busy.destroyed]).toEqual([false, false, false]);
  await clock.advance(1_000);
  expect([connections.cutSlow(), idle.destroyed, busy.destroyed]).toEqual([true, false, true]);
});

test("Connections.add() turns a new one away while all others are just being answered", () => {
  const connections = new Connections(new ManualClock(), 2);
  const busy = [open(connections), open(connections)];
  for (const socket of busy) connections.begin(socket);
  expect(open(connections).destroyed).toBe(true);
  expect(busy.map(({ destroyed }) => destroyed)).toEqual([false, false]);
});

test("Connections outlives one that breaks, also when nobody reads from it", async () => {
  const connections = new Connections(new ManualClock(), 10);
  const socket = open(connections);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  socket.once("close", () => resolve());
  socket.destroy(new Error("reset"));
  await closed;
  expect(connections.size).toBe(0);
  connections.close();
  expect(open(connections).destroyed).toBe(true);
});
