import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Finding } from "../../../../lib/cloud/inspection.ts";
import { xenOrchestra } from "../../../../lib/providers/xenorchestra/mod.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../../lib/simulator/xenorchestra/mod.ts";
import { toDeps, toSettings } from "../fake_server.ts";

const signal = new AbortController().signal;
const DAY_MS = 86_400_000;
const ANN = { id: "u-1", username: "ann", password: "canary" };

let deps: ReturnType<typeof toDeps>;
let cloud: XenOrchestraSimulator;
beforeEach(async () => {
  deps = toDeps({ isTransient: true });
  const { world } = createDemoWorld();
  cloud = await startXenOrchestraSimulator({ clock: deps.clock, users: [ANN], world });
});
afterEach(() => cloud.stop());

async function inspect(credentials: object): Promise<Finding | undefined> {
  const provider = xenOrchestra.create(toSettings(cloud.url, credentials), deps);
  const found = await provider.inspect?.(signal);
  expect(JSON.stringify(found?.findings)).not.toContain("canary");
  return found?.findings.find(({ code }) => code === "tokenEnd");
}

describe("inspectToken()", () => {
  test("says until when the token is good", async () => {
    cloud.auth.addToken("canary", ANN, 20 * DAY_MS);
    expect(await inspect({ token: "canary" })).toEqual({
      level: "ok",
      code: "tokenEnd",
      message: "The token for Xen Orchestra expires on 2026-01-21, in 20 days",
    });
  });

  test("warns of one that ends within 14 days, and says what to do", async () => {
    cloud.auth.addToken("canary", ANN, 3 * DAY_MS);
    expect(await inspect({ token: "canary" })).toMatchObject({
      level: "warning",
      advice: "create a new one and set token or XOA_TOKEN",
    });
  });

  test("does not warn of one that is renewed, and renews nothing itself", async () => {
    const minted = cloud.auth.mint(ANN, { client: { id: "landfall-x" }, expiresIn: "3 days" });
    const { expiration } = minted;
    expect(await inspect({ token: minted.id })).toMatchObject({
      level: "ok",
      message: expect.stringContaining("Landfall renews it in time"),
    });
    expect(cloud.auth.tokens.get(minted.id)?.expiration).toBe(expiration);
  });

  test.each([403, 404, 503])("finds nothing where it is answered with %d", async (status) => {
    cloud.auth.addToken("canary", ANN, 3 * DAY_MS);
    const route = "GET /users/{id}/authentication_tokens";
    cloud.faults.set({ kind: "status", status }, { route });
    expect(await inspect({ token: "canary" })).toBeUndefined();
  });

  test("finds nothing with a password", async () => {
    expect(await inspect({ token: null, username: "ann", password: "canary" })).toBeUndefined();
    expect(cloud.requests.count("GET /users/{id}/authentication_tokens")).toBe(0);
  });
});
