/**
 * Requests with several values in one header, on loopback.
 * @module
 */
import { afterEach, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { sendRepeated } from "../../../lib/core/http/repeated_headers.ts";
import { until } from "../../support/nodes/rig.ts";

const HEADERS = { accept: "application/json", "impersonate-group": ["a", "b"] };
const REQUEST = { method: "POST", headers: HEADERS, body: "{}", tls: {} } as const;
const signal = new AbortController().signal;
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

interface Heard {
  readonly url: string;
  /** What each connection sent. */
  readonly requests: string[];
}

/** Answers the request of each connection with this text, and then closes it or leaves it open. */
async function listen(answer: string, end: "close" | "open" = "close"): Promise<Heard> {
  const requests: string[] = [];
  const server = createServer((socket) => {
    const at = requests.push("") - 1;
    socket.on("error", () => {});
    socket.on("data", (data: Buffer) => {
      requests[at] += data.toString();
      if (!requests[at]?.includes("\r\n\r\n{}")) return;
      socket.write(answer);
      if (end === "close") socket.end();
    });
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", () => done()));
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  return { url: `http://127.0.0.1:${port}/apis/x?y=z`, requests };
}

const OK = "HTTP/1.1 201 Created\r\ncontent-length: 4\r\nretry-after: 3\r\n\r\nbody";

describe("sendRepeated()", () => {
  test("sends a line for each value, and gives the reply as fetch does", async () => {
    const { url, requests } = await listen(OK);
    const reply = await sendRepeated(url, { ...REQUEST, signal });
    expect([reply.status, reply.headers.get("retry-after")]).toEqual([201, "3"]);
    expect(await reply.text()).toBe("body");
    const [head = "", body] = requests.join().split("\r\n\r\n");
    const lines = head.toLowerCase().split("\r\n");
    expect(lines[0]).toBe("post /apis/x?y=z http/1.1");
    expect(lines.filter((line) => line.startsWith("impersonate-"))).toEqual([
      "impersonate-group: a",
      "impersonate-group: b",
    ]);
    expect(lines).toContain("content-length: 2");
    expect(body).toBe("{}");
  });

  test("uses a connection once, and follows no redirect", async () => {
    const { url, requests } = await listen(
      "HTTP/1.1 302 Found\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n",
    );
    for (let times = 0; times < 2; times += 1) {
      expect((await sendRepeated(url, { ...REQUEST, signal })).status).toBe(302);
    }
    expect(requests).toHaveLength(2);
  });

  test("streams a body, and ends it by the signal", async () => {
    const start = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n";
    const { url } = await listen(start, "open");
    const stop = new AbortController();
    const reply = await sendRepeated(url, { ...REQUEST, signal: stop.signal });
    const reader = reply.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toBe("first");
    stop.abort(new Error("over"));
    await expect(reader?.read()).rejects.toThrow();
  });

  test("rejects without a server, and when the signal aborts before the reply", async () => {
    await expect(sendRepeated("http://127.0.0.1:1/", { ...REQUEST, signal })).rejects.toThrow();
    const { url, requests } = await listen("", "open");
    const stop = new AbortController();
    const sending = sendRepeated(url, { ...REQUEST, signal: stop.signal });
    await until("the request is there", () => requests.length > 0);
    stop.abort(new Error("over"));
    await expect(sending).rejects.toThrow();
  });
});
