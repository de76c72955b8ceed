/**
 * Requests that no endpoint sees, to the Redfish service behind a socket.
 * @module
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:tls";
import { MemoryBackend } from "../../support/redfish/memory_backend.ts";
import { serveRedfish } from "../../support/redfish/served.ts";

let served: Awaited<ReturnType<typeof serveRedfish>>;
beforeAll(async () => {
  served = await serveRedfish(new MemoryBackend([]));
});
afterAll(() => served[Symbol.asyncDispose]());

function send(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const port = Number(new URL(served.url).port);
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      socket.write(text.replaceAll("\n", "\r\n"));
    });
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk.toString();
    });
    socket.on("error", reject).on("close", () => resolve(answer));
  });
}

const HEAD = "Host: 127.0.0.1\nContent-Type: application/json\n";

test.each([
  [
    "PATCH",
    `Expect: 100-continue\nContent-Length: 2\n`,
    417,
    "Send the body at once, without Expect.",
  ],
  ["PATCH", `Content-Length: 9999999\n`, 413, "Send at most 8192 bytes."],
  ["PROPFIND", "", 405, "Method not allowed."],
])(
  "the Redfish service refuses %s with %j in the form of Redfish",
  async (method, more, status, message) => {
    const answer = await send(`${method} /redfish/v1/Systems/a HTTP/1.1\n${HEAD}${more}\n`);
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    expect(head).toStartWith(`HTTP/1.1 ${status} `);
    expect(head.toLowerCase()).toContain("content-type: application/json");
    expect(body).toContain(`"message":${JSON.stringify(message)}`);
    expect(body).toContain('"MessageId":"Base.1.18.GeneralError"');
  },
);

test("the Redfish service knows a method that it does not have from what is no request", async () => {
  expect(await send(`FAKEMETHOD /redfish/v1/ HTTP/1.1\n${HEAD}\n`)).toStartWith("HTTP/1.1 501 ");
  expect(await send("no request at all\n\n")).toStartWith("HTTP/1.1 400 ");
});
