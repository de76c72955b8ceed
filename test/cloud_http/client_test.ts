import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { CloudError } from "../../lib/cloud/errors.ts";
import { describeError } from "../../lib/core/errors.ts";
import { createClient, FakeServer, NAMES, toDeps } from "./fake_server.ts";
import { toConnectionError } from "../../lib/cloud_http/client.ts";

const signal = new AbortController().signal;
const OK = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n[]";

let fake: FakeServer;
let deps: ReturnType<typeof toDeps>;
beforeEach(() => {
  fake = new FakeServer();
  deps = toDeps();
});
afterEach(() => fake.stop());

/** A question to the fake. */
function ask(method: "GET" | "POST" = "GET", url = `${fake.url}/secret?key=canary`) {
  return { operation: "list_things", method, url, headers: {} } as const;
}

function count(code: string): number {
  const start = `landfall_cloud_requests_total{code="${code}",operation="list_things",provider="example"} `;
  const line = deps.metrics
    .render()
    .split("\n")
    .find((one) => one.startsWith(start));
  return Number(line?.slice(start.length) ?? 0);
}

/** Waits until so many requests have arrived. */
async function untilSeen(requests: number): Promise<void> {
  while (fake.seen.length < requests) await Bun.sleep(1);
}

describe("request()", () => {
  test("hands back any reply, and counts it", async () => {
    const client = createClient({ url: fake.url }, deps);
    for (const status of [200, 401, 431, 530]) {
      fake.answer = async () => {
        await deps.clock.advance(1_500);
        return Response.json({}, { status });
      };
      expect((await client.request(ask(), signal)).status).toBe(status);
      expect(count(String(status))).toBe(1);
    }
    expect(deps.metrics.render()).toContain(
      'landfall_cloud_request_duration_seconds_sum{operation="list_things",provider="example"} 6',
    );
  });

  test("sends what a POST says", async () => {
    const client = createClient({ url: fake.url }, deps);
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    await client.request({ ...ask("POST"), headers, body: "a=1&b=2" }, signal);
    expect(fake.seen).toMatchObject([{ method: "POST", body: "a=1&b=2" }]);
    expect(fake.seen[0]?.headers.get("content-type")).toBe("application/x-www-form-urlencoded");
  });

  test.each([
    ["GET", 1, "200", 2],
    ["GET", 2, "unreachable", 2],
    ["POST", 1, "unreachable", 1],
  ] as const)(
    "of a %s whose connection is dropped %d times ends in %s after %d tries",
    async (method, drops, expected, tries) => {
      let connections = 0;
      const server = createServer((socket: Socket) => {
        connections += 1;
        const isDropped = connections <= drops;
        socket.on("error", () => {});
        socket.once("data", () => {
          if (isDropped) socket.resetAndDestroy();
          else socket.end(OK);
        });
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const address = server.address();
      const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : undefined}`;
      const reply = await createClient({ url }, deps)
        .request(ask(method, `${url}/`), signal)
        .catch((error: CloudError) => error);
      expect("kind" in reply ? reply.kind : String(reply.status)).toBe(expected);
      expect(connections).toBe(tries);
      server.close();
    },
  );

  test("tells that there is no reply, without the path, also when its signal aborts", async () => {
    const client = createClient({ url: fake.url }, deps);
    const stop = new AbortController();
    fake.answer = () => new Promise<Response>(() => {});
    const stopped = client.request(ask(), stop.signal).catch((error: unknown) => error);
    await untilSeen(1);
    stop.abort(new Error("stop"));
    expect(await stopped).toMatchObject({ kind: "unreachable" });
    expect(count("canceled")).toBe(1);
    await fake.stop();
    const error = await client.request(ask(), signal).catch((caught: unknown) => caught);
    expect(count("ECONNREFUSED")).toBe(1);
    const where = new URL(fake.url).host;
    expect(describeError(error)).toBe(
      `Cannot reach Example Cloud at ${where}: connection refused; check api-url`,
    );
  });
});

describe("openStream()", () => {
  test("gives the body of a stream, which is counted as it begins", async () => {
    fake.answer = () => new Response("data: 1\n\n", { headers: { "content-type": "text/x" } });
    const client = createClient({ url: fake.url }, deps);
    const { body } = await client.openStream({ ...ask(), type: "text/x" }, signal);
    expect(count("200")).toBe(1);
    expect(await new Response(body).text()).toBe("data: 1\n\n");
  });

  test("tells in our words that there is none", async () => {
    await fake.stop();
    const opened = createClient({ url: fake.url }, deps).openStream(
      { ...ask(), type: "text/x" },
      signal,
    );
    await expect(opened).rejects.toMatchObject({ name: "CloudError", kind: "unreachable" });
  });
});

describe("within()", () => {
  test("gives up when the time is up, also while a body is on its way", async () => {
    const client = createClient({ url: fake.url }, deps);
    const where = new URL(fake.url).host;
    const get = (): Promise<unknown> =>
      client
        .within(100, signal, (deadline) => client.request(ask(), deadline))
        .catch((error: unknown) => error);
    fake.answer = () => new Promise<Response>(() => {});
    const asked = get();
    await untilSeen(1);
    await deps.clock.advance(100);
    const late = await asked;
    expect(late).toMatchObject({ kind: "unreachable" });
    expect(describeError(late)).toBe(`Example Cloud at ${where} did not answer within 0.1 s`);
    fake.answer = () => {
      const body = new ReadableStream({ start: (stream) => stream.enqueue("[") });
      return new Response(body, { headers: { "content-type": "application/json" } });
    };
    const begun = get();
    await untilSeen(2);
    await deps.clock.advance(100);
    expect(await begun).toMatchObject({ kind: "unreachable" });
    expect(count("timeout")).toBe(2);
  });

  test("rejects with the reason of a signal that aborts, and with what goes wrong in time", async () => {
    const client = createClient({ url: fake.url }, deps);
    const stop = new AbortController();
    const hang = (deadline: AbortSignal): Promise<never> =>
      new Promise((_, reject) => {
        deadline.addEventListener("abort", () => reject(new Error("aborted")));
      });
    const stopped = client.within(100, stop.signal, hang);
    stop.abort(new Error("stop"));
    await expect(stopped).rejects.toThrow("stop");
    const failed = client.within(100, signal, () => Promise.reject(new Error("failed")));
    await expect(failed).rejects.toThrow("failed");
    expect(deps.clock.pending).toBe(0);
  });
});

function withCode(code: string): Error {
  return Object.assign(new Error("failed"), { code });
}

describe("toConnectionError()", () => {
  test("advises to renew what is out of date, its authority included", () => {
    const { message } = toConnectionError(withCode("CERT_HAS_EXPIRED"), "https://x", NAMES);
    expect(message).toContain("renew it, or put the new certificate of its authority into ca-file");
    expect(message).not.toContain("pin");
    const early = toConnectionError(withCode("CERT_NOT_YET_VALID"), "https://x", NAMES);
    expect(early.message).toContain("check this machine's clock");
  });

  test.each([
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "protocol", "set ca-file or pin"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "protocol", "set ca-file or pin"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "protocol", "set ca-file or pin"],
    ["CERT_HAS_EXPIRED", "protocol", "into ca-file"],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "protocol", "set ca-file or pin"],
    ["ECONNREFUSED", "unreachable", "check api-url"],
    ["ConnectionRefused", "unreachable", "check api-url"],
    ["EPROTO", "unreachable", "check api-url"],
    ["ECONNRESET", "unreachable", "may be starting, or a proxy in between closed it"],
  ] as const)("reads %s as %s, with advice", (code, kind, advice) => {
    const error = toConnectionError(withCode(code), "https://x", NAMES);
    expect(error.kind).toBe(kind);
    expect(error.message).toContain(advice);
    if (kind === "protocol") expect(error.message).toContain("certificate not trusted");
  });

  test("keeps a CloudError", () => {
    const error = new CloudError("denied", "no");
    expect(toConnectionError(error, "https://x", NAMES)).toBe(error);
  });
});
