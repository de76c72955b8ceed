import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import type { CloudRequest, Reply, StreamReply } from "../../lib/cloud_http/client.ts";
import { BUDGET } from "../../lib/core/budget.ts";
import { formatSize } from "../../lib/core/text/values.ts";
import { createClient, FakeServer } from "./fake_server.ts";

const { signal } = new AbortController();
let fake: FakeServer;
beforeEach(() => {
  fake = new FakeServer();
});
afterEach(() => fake.stop());

function send(path: string, more: Partial<CloudRequest> = {}): Promise<Reply> {
  const url = `${fake.url}${path}`;
  const headers = { cookie: "session=geheim", "if-none-match": '"x"' };
  const request = { operation: "ask", method: "GET", url, headers, ...more } as const;
  return createClient({ url }).request(request, signal);
}

describe("request()", () => {
  test("reads JSON only when the content type says so", async () => {
    fake.answer = () => Response.json([1]);
    expect((await send("/")).json).toEqual({ value: [1] });
    fake.answer = () => new Response("[]", { headers: { "content-type": "text/html" } });
    expect((await send("/")).json).toBeUndefined();
    fake.answer = () => new Response("[", { headers: { "content-type": "application/json" } });
    expect((await send("/")).json).toBeUndefined();
  });

  test("reads JSON of another content type when the caller knows that it promises JSON", async () => {
    fake.answer = () => new Response("[1]", { headers: { "content-type": "text/javascript" } });
    expect((await send("/")).json).toBeUndefined();
    const isJson = (type: string): boolean => type.startsWith("text/javascript");
    expect((await send("/", { isJson })).json).toEqual({ value: [1] });
  });

  test("does not parse an answer that the caller knows, except a refusal", async () => {
    const texts: string[] = [];
    const isKnown = (text: string): boolean => texts.push(text) > 0;
    fake.answer = () => Response.json([1]);
    const known = await send("/", { isKnown });
    expect([known.status, known.isKnown, known.json]).toEqual([200, true, undefined]);
    const other = await send("/", { isKnown: () => false });
    expect([other.isKnown, other.json]).toEqual([false, { value: [1] }]);
    fake.answer = () => Response.json([1], { status: 431 });
    const refusal = await send("/", { isKnown });
    expect([refusal.isKnown, refusal.json]).toEqual([false, { value: [1] }]);
    fake.answer = () => new Response("[1]", { headers: { "content-type": "text/html" } });
    expect((await send("/", { isKnown })).isKnown).toBe(false);
    expect(texts).toEqual(["[1]"]);
  });

  test("reads the server's time, and nothing from a date that is not one", async () => {
    const answer = (date: string) => () => new Response("", { headers: { date } });
    fake.answer = answer("Thu, 01 Jan 2026 00:00:07 GMT");
    expect((await send("/")).serverTimeMs).toBe(Date.UTC(2026, 0, 1, 0, 0, 7));
    fake.answer = answer("soon");
    expect((await send("/")).serverTimeMs).toBeUndefined();
  });

  test("reads JSON of a refusal, whatever its status", async () => {
    for (const status of [401, 431, 530, 537, 599]) {
      fake.answer = () => Response.json({ code: status }, { status });
      expect(await send("/")).toMatchObject({ status, json: { value: { code: status } } });
    }
  });

  test("reads the page of a 404, and no other", async () => {
    const html = { headers: { "content-type": "text/html; charset=utf-8" } };
    fake.answer = ({ path }) =>
      path === "/old"
        ? new Response("", { status: 302, headers: { location: "/new" } })
        : new Response("<p>none", { status: 404, ...html });
    expect((await send("/old")).page).toEqual({ text: "<p>none", url: `${fake.url}/new` });
    fake.answer = () => new Response("<p>none", { status: 403, ...html });
    expect((await send("/")).page).toBeUndefined();
    fake.answer = () => new Response("none", { status: 404 });
    expect((await send("/")).page).toBeUndefined();
  });

  test("asks our own machine directly, whatever proxy the environment names", async () => {
    const before = process.env["HTTP_PROXY"];
    process.env["HTTP_PROXY"] = "http://127.0.0.1:1";
    try {
      expect((await send("/")).status).toBe(200);
    } finally {
      if (before === undefined) delete process.env["HTTP_PROXY"];
      else process.env["HTTP_PROXY"] = before;
    }
  });

  test("reads an endless answer to a bound only, and little of a refusal", async () => {
    const endless = (status: number): Response => {
      let sent = 0;
      const body = new ReadableStream({
        pull: (controller) => {
          sent += 1;
          // As much as nobody should read, so that a failure ends, too.
          if (sent > 100) controller.close();
          else controller.enqueue(new Uint8Array(1024 * 1024).fill(32));
        },
      });
      return new Response(body, { status, headers: { "content-type": "application/json" } });
    };
    using answered = spyOn(globalThis, "fetch");
    const answer = (response: Response): void =>
      void answered.mockImplementation(
        Object.assign(() => Promise.resolve(response), { preconnect: () => {} }),
      );
    answer(endless(200));
    const url = "https://cloud.example.org/api";
    const client = createClient({ url });
    const request = { operation: "ask", method: "GET", url, headers: {} } as const;
    await expect(client.request(request, signal)).rejects.toMatchObject({
      kind: "protocol",
      message:
        "Cannot read the answer of Example Cloud at cloud.example.org:443: " +
        `the answer is longer than ${formatSize(BUDGET.reply)}`,
    });
    answer(endless(500));
    expect(await client.request(request, signal)).toMatchObject({ status: 500 });
  });

  test("unpacks gzip as it is read, and nothing else", async () => {
    const answer = (packing: string, body: Uint8Array<ArrayBuffer>): void => {
      const headers = { "content-type": "application/json", "content-encoding": packing };
      fake.answer = () => new Response(body, { headers });
    };
    const packed = Bun.gzipSync(JSON.stringify(["a".repeat(100_000)]));
    answer("gzip", packed);
    expect((await send("/")).json).toEqual({ value: ["a".repeat(100_000)] });
    expect(fake.seen[0]?.headers.get("accept-encoding")).toBe("gzip");
    answer("gzip", packed.slice(0, 100));
    await expect(send("/")).rejects.toMatchObject({
      kind: "protocol",
      message: expect.stringMatching(
        /^Cannot read the answer of .*: the answer cannot be unpacked$/,
      ),
    });
    answer("br", packed);
    await expect(send("/")).rejects.toThrow("packed in a way that was not asked for");
    answer("gzip", Bun.gzipSync(new Uint8Array(BUDGET.reply + 1).fill(32)));
    await expect(send("/")).rejects.toThrow(`longer than ${formatSize(BUDGET.reply)}`);
  });

  test("takes what is no UTF-8 for no answer", async () => {
    const body = Buffer.from('[{"name":"Grüße"}]', "latin1");
    fake.answer = () => new Response(body, { headers: { "content-type": "application/json" } });
    await expect(send("/")).rejects.toThrow("the answer is not UTF-8");
  });

  test("keeps out of a refusal what a server repeats of the request", async () => {
    fake.answer = ({ headers }) =>
      Response.json({ text: `no such session: ${headers.get("cookie")}` }, { status: 500 });
    expect((await send("/")).json).toEqual({
      value: { text: "no such session: session=(secret)" },
    });
    fake.answer = ({ headers }) =>
      new Response(`<p>${headers.get("cookie")}`, {
        status: 404,
        headers: { "content-type": "text/html" },
      });
    expect((await send("/")).page?.text).toBe("<p>session=(secret)");
  });

  test.each([
    ['W/"3f2-abc"', true],
    ['"abc"', true],
    ['""', true],
    ['"a,b"', true],
    ["*", false],
    ["", false],
    ["abc", false],
    ['w/"abc"', false],
    ['"a b"', false],
    ['"a", "b"', false],
    [`"${"x".repeat(126)}"`, true],
    [`"${"x".repeat(127)}"`, false],
  ])("takes %p for an ETag: %p", async (etag, isOne) => {
    fake.answer = () => Response.json([], { headers: { etag } });
    expect((await send("/")).etag).toBe(isOne ? etag : undefined);
  });

  test.each([
    ["7", 7_000],
    ["301", 300_000],
    ["9".repeat(400), 300_000],
    ["-1", undefined],
    ["soon", undefined],
  ])("takes a Retry-After of %s for %p ms", async (header, ms) => {
    fake.answer = () => new Response("", { status: 503, headers: { "retry-after": header } });
    expect((await send("/")).retryAfterMs).toBe(ms);
  });

  test("follows redirects of a GET within the origin", async () => {
    fake.answer = ({ path }) =>
      path === "/old"
        ? new Response("", { status: 302, headers: { location: "/new" } })
        : Response.json([]);
    expect((await send("/old")).status).toBe(200);
    // Whatever the request says goes for where it leads to.
    expect(fake.seen.map(({ headers }) => headers.get("if-none-match"))).toEqual(['"x"', '"x"']);
  });

  test("never follows a redirect to another origin, so the cookie stays", async () => {
    const other = new FakeServer();
    fake.answer = () => Response.redirect(`${other.url}/`, 302);
    await expect(send("/")).rejects.toMatchObject({
      kind: "protocol",
      message:
        `Example Cloud redirects to ${other.url}, and Landfall does not follow; ` +
        "if that is the right address, change api-url",
    });
    expect(other.seen).toHaveLength(0);
    await other.stop();
  });

  test.each(["file:///etc/passwd", "javascript:alert(1)", "http://["])(
    "says of a redirect to %s that it leads nowhere",
    async (location) => {
      fake.answer = () => new Response("", { status: 302, headers: { location } });
      await expect(send("/")).rejects.toHaveProperty(
        "message",
        "Example Cloud redirects to an address that Landfall cannot use, and Landfall does not follow; " +
          "if that is the right address, change api-url",
      );
    },
  );

  test("gives up after three redirects", async () => {
    fake.answer = () => new Response("", { status: 307, headers: { location: "/" } });
    await expect(send("/")).rejects.toMatchObject({
      kind: "protocol",
      message: "Example Cloud redirects too often; check api-url",
    });
    expect(fake.seen).toHaveLength(4);
  });

  test("hands the redirect of a POST back", async () => {
    fake.answer = () => new Response("", { status: 307, headers: { location: "/x" } });
    expect(await send("/", { method: "POST" })).toMatchObject({
      status: 307,
      redirectUrl: `${fake.url}/x`,
    });
    expect(fake.seen).toHaveLength(1);
  });
});

describe("openStream()", () => {
  const TYPE = "text/event-stream";
  const open = (): Promise<StreamReply> => {
    const request = { operation: "ask", url: `${fake.url}/events`, headers: {}, type: TYPE };
    return createClient({ url: fake.url }).openStream(request, signal);
  };

  test("gives the body of what is wanted, and no other", async () => {
    fake.answer = () => new Response("data: 1\n\n", { headers: { "content-type": TYPE } });
    const { body, ...head } = await open();
    expect(head).toEqual({ status: 200, contentType: TYPE });
    expect(await new Response(body).text()).toBe("data: 1\n\n");
    for (const init of [{}, { status: 404, headers: { "content-type": TYPE } }]) {
      fake.answer = () => new Response("no", init);
      expect((await open()).body).toBeUndefined();
    }
    fake.answer = () => new Response("", { status: 503, headers: { "retry-after": "7" } });
    expect(await open()).toMatchObject({ status: 503, retryAfterMs: 7_000 });
  });

  test("lets no silence end it, nor follows a redirect, nor lets anything be held back", async () => {
    using fetched = spyOn(globalThis, "fetch");
    fake.answer = () => new Response("", { status: 302, headers: { location: "/x" } });
    expect((await open()).status).toBe(302);
    const [, init] = fetched.mock.calls[0] ?? [];
    expect(init).toMatchObject({ timeout: false, redirect: "manual" });
    expect(fake.seen.map(({ headers }) => headers.get("accept-encoding"))).toEqual(["identity"]);
  });
});
