/**
 * What refusals mean.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Reply, sendRequest } from "../../../../lib/cloud_http/http.ts";
import {
  isUnknownRoute,
  toReplyError,
} from "../../../../lib/providers/xenorchestra/session/reply_error.ts";
import { SERVER_NAMES } from "../../../../lib/providers/xenorchestra/session/route.ts";
import { FakeXenOrchestra, loadCapture } from "../fake_server.ts";

let fake: FakeXenOrchestra;
beforeEach(() => {
  fake = new FakeXenOrchestra();
});
afterEach(() => fake.stop());

function send(path: string): Promise<Reply> {
  const { signal } = new AbortController();
  const headers = { cookie: "authenticationToken=geheim" };
  const url = `${fake.url}/rest/v0${path}`;
  return sendRequest({ method: "GET", url, headers, tls: {}, signal }, SERVER_NAMES);
}

describe("isUnknownRoute()", () => {
  test.each([
    ["Cannot GET /rest/v0/x", "/proxied/rest/v0/x", true],
    ["Cannot GET /rest/v0/x", "/rest/v0/y", false],
    ["Cannot GET /x", "/x", false],
  ])("of a page that says %s for %s is %p", (said, path, isOne) => {
    const page = { text: `<pre>${said}</pre>`, url: `https://xo${path}` };
    expect(isUnknownRoute({ status: 404, contentType: "text/html", page })).toBe(isOne);
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
    expect([old.status, isUnknownRoute(old)]).toEqual([404, true]);
    expect(toReplyError(old, "x").message).toContain("update Xen Orchestra to 5.112");
  });

  test("shows the parameters of an error that is an object", () => {
    const json = { value: { error: { limit: { message: "no" } } } };
    expect(toReplyError({ status: 422, contentType: "", json }, "x").message).toContain("limit");
  });

  test("keeps out of an error what the server repeats of the request", async () => {
    fake.answer = ({ headers }) =>
      Response.json({ error: `no such session: ${headers.get("cookie")}` }, { status: 500 });
    expect(toReplyError(await send("/vms"), "GET /vms").message).toContain(
      "(no such session: authenticationToken=(secret)) to GET /vms",
    );
  });
});
