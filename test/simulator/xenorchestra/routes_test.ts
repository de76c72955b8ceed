import { describe, expect, test } from "bun:test";
import { Auth } from "../../../lib/simulator/xenorchestra/auth.ts";
import { createDemoWorld } from "../../../lib/simulator/xenorchestra/demo_world.ts";
import { EventHub } from "../../../lib/simulator/xenorchestra/events.ts";
import { createRoutes, NON_ADMIN_HEADER } from "../../../lib/simulator/xenorchestra/routes.ts";
import { XenOrchestraState } from "../../../lib/simulator/xenorchestra/state.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const clock = new ManualClock();
const user = { id: "u-1", username: "admin", password: "admin" };
const auth = new Auth(clock, [user]);
auth.addToken("t", user);
const state = new XenOrchestraState(clock, createDemoWorld().world);
const events = new EventHub({ state, clock, signal: new AbortController().signal, periodMs: 200 });
const routes = createRoutes({ state, auth, events, clock });

async function ask(path: string, init: RequestInit = {}): Promise<[number, unknown]> {
  const headers = { cookie: "token=t", ...Object.fromEntries(new Headers(init.headers)) };
  const response = await routes.request(`/rest/v0${path}`, { ...init, headers });
  return [response.status, await response.json().catch(() => undefined)];
}

describe("createRoutes()", () => {
  test.each([
    ["", "string"],
    ["?fields=", "href"],
    ["?fields=name_label,CPUs.max,CPUs.none,none", "name_label,CPUs,href"],
  ])("lists VMs with %p as %p", async (query, wanted) => {
    const [, body] = await ask(`/vms${query}`);
    const first: unknown = Array.isArray(body) ? body[0] : undefined;
    const keys = typeof first === "object" && first ? Object.keys(first).join(",") : typeof first;
    expect(keys).toBe(wanted);
  });

  test.each([
    ["0", 0],
    ["2", 2],
    ["-1", 12],
    ["1.5", 12],
    ["99", 12],
  ])("limit=%s lists %p", async (limit, count) => {
    expect(await ask(`/vms?limit=${limit}`)).toMatchObject([200, { length: count }]);
  });

  test("mints for the user who asks only, and refuses what is no JSON", async () => {
    const post = (path: string, body: string) => ask(path, { method: "POST", body });
    const [status, minted] = await post(
      "/users/u-1/authentication_tokens",
      '{"client":{"id":"c"}}',
    );
    expect([status, minted]).toMatchObject([
      201,
      { token: { user_id: "u-1", client: { id: "c" } } },
    ]);
    expect((await post("/users/u-2/authentication_tokens", "{}"))[0]).toBe(403);
    expect((await post("/users/u-1/authentication_tokens", "{bad"))[0]).toBe(500);
    expect((await ask("/users/u-1/authentication_tokens"))[1]).toHaveLength(2);
    expect((await ask("/users/u-2/authentication_tokens"))[0]).toBe(404);
  });

  test("shows users themselves, and sends /users/me there with what follows", async () => {
    expect(await ask("/users/u-1")).toMatchObject([200, { id: "u-1", name: "admin" }]);
    expect((await ask("/users/u-2"))[0]).toBe(404);
    const me = await routes.request("/rest/v0/users/me/authentication_tokens", {
      headers: { cookie: "token=t" },
    });
    expect([me.status, me.headers.get("location")]).toEqual([
      307,
      "/rest/v0/users/u-1/authentication_tokens",
    ]);
  });

  test("wants a user for all but /ping and unknown routes", async () => {
    const statuses = ["/vms", "/vms/x", "/users/me", "/users/u-1", "/ping", "/nope"].map(
      async (path) => (await routes.request(`/rest/v0${path}`)).status,
    );
    expect(await Promise.all(statuses)).toEqual([401, 401, 401, 401, 200, 404]);
  });

  test("shows nothing to who may see nothing", async () => {
    const headers = { [NON_ADMIN_HEADER]: "true" };
    expect(await ask("/vms", { headers })).toEqual([200, []]);
    const [vm] = state.list("vms");
    expect((await ask(`/vms/${vm?.id}`, { headers }))[0]).toBe(403);
  });
});
