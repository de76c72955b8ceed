import { expect, test } from "bun:test";
import { Loopback } from "../../lib/simulator/loopback.ts";
import { openWebSocket, readFrame, toFrame } from "../../lib/simulator/web_socket.ts";

test.each([0, 125, 126, 65_535, 65_536])("toFrame() and readFrame() agree on %i bytes", (size) => {
  const payload = Buffer.alloc(size, "x");
  const frame = toFrame(1, payload);
  expect(readFrame(frame)).toEqual({ opcode: 1, payload, length: frame.length });
  expect(readFrame(frame.subarray(0, -1))).toBeUndefined();
});

test("readFrame() takes the mask of a client away", () => {
  const frame = Buffer.from([0x81, 0x82, 1, 2, 3, 4, 0x69, 0x6b]);
  expect(readFrame(frame)?.payload.toString()).toBe("hi");
});

test("openWebSocket() answers a real client, until the server closes", async () => {
  expect(openWebSocket).toBeFunction();
  const loopback = new Loopback(
    () => Promise.resolve({ kind: "reset" }),
    () => (message) => Promise.resolve(message.toUpperCase()),
  );
  await loopback.listen();
  const socket = new WebSocket(`${loopback.url.replace("http", "ws")}/api/`);
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
  const answer = new Promise((resolve) =>
    socket.addEventListener("message", ({ data }) => resolve(data), { once: true }),
  );
  socket.send("hello".repeat(100));
  expect(await answer).toBe("HELLO".repeat(100));
  const closed = new Promise((resolve) =>
    socket.addEventListener("close", resolve, { once: true }),
  );
  await loopback.close();
  await closed;
});
