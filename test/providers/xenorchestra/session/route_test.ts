import { expect, test } from "bun:test";
import { Meter } from "../../../../lib/cloud_http/meter.ts";
import { createRoute } from "../../../../lib/providers/xenorchestra/session/route.ts";
import { toDeps, toSettings } from "../fake_server.ts";

const { signal } = new AbortController();
const PASSWORD = { token: null, username: "ccm@local", password: "pa:ss" };

function create(more: object, isTransient = false) {
  const deps = toDeps({ isTransient });
  const settings = toSettings("https://xo.example/prefix", more);
  return createRoute(settings, deps, new Meter(deps.metrics, deps.clock, "xenorchestra"));
}

test("createRoute() keeps the prefix of the URL, and the token of the settings", async () => {
  const { base, tokens, usesBasic } = create({});
  expect(base).toBe("https://xo.example/prefix/rest/v0");
  expect([await tokens.read(signal), usesBasic]).toEqual(["t0ken", false]);
});

test("createRoute() signs in with each request only if nothing may be left behind", async () => {
  expect(create(PASSWORD).usesBasic).toBe(false);
  const { tokens, usesBasic } = create(PASSWORD, true);
  expect(usesBasic).toBe(true);
  const basic = Buffer.from(await tokens.read(signal), "base64").toString();
  expect(basic).toBe("ccm@local:pa:ss");
});
