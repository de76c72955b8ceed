/**
 * What replies and failures mean.
 * @module
 */
import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import {
  openStream,
  sendRequest,
  toConnectionError,
  toReplyError,
} from "../../../../lib/providers/xenorchestra/session/http.ts";
import { describeError } from "../../../../lib/core/errors.ts";
import { FakeXenOrchestra, loadCapture } from "../fake_server.ts";

let fake: FakeXenOrchestra;
beforeEach(() => {
  fake = new FakeXenOrchestra();
});
afterEach(() => fake.stop());

function send(path: string, method: "GET" | "POST" = "GET") {
  const { signal } = new AbortController();
  const headers = { cookie: "authenticationToken=t", "if-none-match": '"x"' };
  return sendRequest({ method, url: `${fake.url}/rest/v0${path}`, headers, tls: {}, signal });
}

function withCode(code: string): Error {
  return Object.assign(new Error("failed"), { code });
}

describe("sendRequest()", () => {
  test("reads JSON only when the content type says so", async () => {
    expect((await send("/pools")).json?.value).toBeArrayOfSize(2);
    fake.answer = () => new Response("[]", { headers: { "content-type": "text/html" } });
    expect((await send("/pools")).json).toBeUndefined();
    fake.answer = () => new Response("[", { headers: { "content-type": "application/json" } });
    expect((await send("/pools")).json).toBeUndefined();
  });

  test("asks our own machine directly, whatever proxy the environment names", async () => {
    const before = process.env["HTTP_PROXY"];
    process.env["HTTP_PROXY"] = "http://127.0.0.1:1";
    try {
      expect((await send("/pools")).status).toBe(200);
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
    const { signal } = new AbortController();
    using answered = spyOn(globalThis, "fetch");
    const answer = (response: Response): void =>
      void answered.mockImplementation(
        Object.assign(() => Promise.resolve(response), { preconnect: () => {} }),
      );
    answer(endless(200));
    const url = "https://xo.example.org/rest/v0/vms";
    const request = { method: "GET", url, headers: {}, tls: {}, signal } as const;
    const error = await sendRequest(request).catch((caught: unknown) => caught);
    expect(toConnectionError(error, url)).toMatchObject({
      kind: "protocol",
      message:
        "Cannot read what Xen Orchestra sent from xo.example.org:443: " +
        "the answer is longer than 64 MiB",
    });
    answer(endless(500));
    expect(await sendRequest(request)).toMatchObject({ status: 500 });
  });

  test("takes what is no UTF-8 for no answer", async () => {
    const body = Buffer.from('[{"name_label":"Grüße"}]', "latin1");
    fake.answer = () => new Response(body, { headers: { "content-type": "application/json" } });
    await expect(send("/pools")).rejects.toThrow("the answer is not UTF-8");
  });

  test("keeps out of an error what a server repeats of the request", async () => {
    fake.answer = ({ headers }) =>
      Response.json({ error: `no such session: ${headers.get("cookie")}` }, { status: 500 });
    const { signal } = new AbortController();
    const headers = { cookie: "authenticationToken=geheim" };
    const url = `${fake.url}/rest/v0/vms`;
    const reply = await sendRequest({ method: "GET", url, headers, tls: {}, signal });
    expect(toReplyError(reply, "GET /vms").message).toContain(
      "(no such session: authenticationToken=(secret)) to GET /vms",
    );
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
    expect((await send("/pools")).etag).toBe(isOne ? etag : undefined);
  });

  test.each([
    ["7", 7_000],
    ["301", 300_000],
    ["9".repeat(400), 300_000],
    ["-1", undefined],
    ["soon", undefined],
  ])("takes a Retry-After of %s for %p ms", async (header, ms) => {
    fake.answer = () => new Response("", { status: 503, headers: { "retry-after": header } });
    expect((await send("/pools")).retryAfterMs).toBe(ms);
  });

  test("follows redirects of a GET within the origin", async () => {
    fake.answer = ({ path }) =>
      path === "/old"
        ? new Response("", { status: 302, headers: { location: "/rest/v0/pools" } })
        : undefined;
    expect((await send("/old")).status).toBe(200);
    // Whatever the request says goes for where it leads to.
    expect(fake.seen.map(({ headers }) => headers.get("if-none-match"))).toEqual(['"x"', '"x"']);
  });

  test("never follows a redirect to another origin, so the cookie stays", async () => {
    const other = new FakeXenOrchestra();
    fake.answer = () => Response.redirect(`${other.url}/rest/v0/pools`, 302);
    await expect(send("/pools")).rejects.toMatchObject({ kind: "protocol" });
    expect(other.seen).toHaveLength(0);
    await other.stop();
  });

  test.each(["file:///etc/passwd", "javascript:alert(1)", "http://["])(
    "says of a redirect to %s that it leads nowhere",
    async (location) => {
      fake.answer = () => new Response("", { status: 302, headers: { location } });
      await expect(send("/pools")).rejects.toHaveProperty(
        "message",
        "Xen Orchestra redirects to an address that cannot be used, which is not followed; " +
          "if that is where it is, change url",
      );
    },
  );

  test("gives up after three redirects", async () => {
    fake.answer = () => new Response("", { status: 307, headers: { location: "/rest/v0/pools" } });
    await expect(send("/pools")).rejects.toMatchObject({ kind: "protocol" });
    expect(fake.seen).toHaveLength(4);
  });

  test("hands the redirect of a POST back", async () => {
    fake.answer = () => new Response("", { status: 307, headers: { location: "/rest/v0/x" } });
    expect(await send("/pools", "POST")).toMatchObject({
      status: 307,
      redirectUrl: `${fake.url}/rest/v0/x`,
    });
    expect(fake.seen).toHaveLength(1);
  });
});

describe("toReplyError()", () => {
  test("shows no more than a part of a long question", () => {
    const reply = { status: 404, contentType: "application/json", json: { value: {} } };
    const { message } = toReplyError(reply, `GET /hosts/${"x".repeat(5_000)}`);
    expect(message.length).toBeLessThan(500);
    expect(message).toContain("x…");
  });

  test.each([
    ["auth-badtoken", "denied", "token is wrong or expired"],
    ["nonadmin-vm-403", "denied", "not enough privileges"],
    ["auth-basic-bad-again", "throttled", "too fast"],
    ["auth-both", "protocol", "adds an Authorization header"],
    ["err-unknown-route", "protocol", "text/html"],
  ])("reads the capture %s as %s", (name, kind, text) => {
    const { status, headers, body } = loadCapture(name);
    const json = body === undefined ? {} : { json: { value: body } };
    const reply = { status, contentType: headers["content-type"] ?? "", ...json };
    expect(toReplyError(reply, "GET /vms")).toMatchObject({
      kind,
      message: expect.stringContaining(text),
    });
  });

  test.each([
    [429, "throttled"],
    [502, "unreachable"],
    [503, "unreachable"],
    [422, "protocol"],
    [200, "protocol"],
  ] as const)("reads %d as %s", (status, kind) => {
    const error = toReplyError({ status, contentType: "text/plain", retryAfterMs: 7_000 }, "x");
    expect(error.kind).toBe(kind);
    if (status >= 429) expect(error.retryAfterMs).toBe(7_000);
  });

  test("says what to do about a 404 of something else, and of a server that is too old", async () => {
    const json = { value: { message: "no Route matched" } };
    const gateway = toReplyError({ status: 404, contentType: "application/json", json }, "x");
    expect(gateway.message).toContain("a proxy in between");
    const page = toReplyError({ status: 404, contentType: "text/html" }, "x");
    expect(page.message).toContain("a proxy in between");
    const old = await send("/nope");
    expect(old).toMatchObject({ status: 404, isUnknownRoute: true });
    expect(toReplyError(old, "x").message).toContain("update Xen Orchestra to 5.112");
  });

  test("shows the parameters of an error that is an object", () => {
    const json = { value: { error: { limit: { message: "no" } } } };
    expect(toReplyError({ status: 422, contentType: "", json }, "x").message).toContain("limit");
  });
});

describe("toConnectionError()", () => {
  test("advises to renew what is out of date, its authority included", () => {
    const { message } = toConnectionError(withCode("CERT_HAS_EXPIRED"), "https://xo");
    expect(message).toContain("renew it, or put its authority's");
    expect(message).not.toContain("certificateFingerprint");
    const early = toConnectionError(withCode("CERT_NOT_YET_VALID"), "https://xo");
    expect(early.message).toContain("check this machine's clock");
  });

  test.each([
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "protocol"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "protocol"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "protocol"],
    ["CERT_HAS_EXPIRED", "protocol"],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "protocol"],
    ["ECONNREFUSED", "unreachable"],
    ["ConnectionRefused", "unreachable"],
    ["EPROTO", "unreachable"],
  ] as const)("reads %s as %s", (code, kind) => {
    const error = toConnectionError(withCode(code), "https://xo");
    expect(error.kind).toBe(kind);
    expect(error.message).toContain(kind === "protocol" ? "certificate not trusted" : "check url");
  });

  test("says once, in our words, what was not reached, without the path", async () => {
    const url = "http://127.0.0.1:1/secret";
    const thrown = await fetch(url).catch((error: unknown) => error);
    expect(describeError(toConnectionError(thrown, url))).toBe(
      "Cannot reach Xen Orchestra at 127.0.0.1:1: connection refused; check url",
    );
  });

  test("keeps a CloudError", () => {
    const error = new CloudError("denied", "no");
    expect(toConnectionError(error, "https://xo")).toBe(error);
  });
});

describe("openStream()", () => {
  const TYPE = "text/event-stream";
  const open = (): ReturnType<typeof openStream> => {
    const { signal } = new AbortController();
    return openStream({ url: `${fake.url}/rest/v0/events`, headers: {}, tls: {}, signal }, TYPE);
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
