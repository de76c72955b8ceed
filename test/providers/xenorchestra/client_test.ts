/**
 * Questions to Xen Orchestra, how often lists are read, and which answers are a clear no.
 * @module
 */
import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { COLLECTIONS, XenOrchestraApi } from "../../../lib/providers/xenorchestra/client.ts";
import { Session } from "../../../lib/providers/xenorchestra/session/session.ts";
import {
  FakeXenOrchestra,
  loadCapture,
  POOL_PARIS,
  toDeps,
  toResponse,
  toSettings,
  WORKER_1,
} from "./fake_server.ts";
import { decode, decodeList } from "../../../lib/cloud_http/decode.ts";
import { Lister } from "../../../lib/providers/xenorchestra/inventory.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const signal = new AbortController().signal;
let fake: FakeXenOrchestra;
let api: XenOrchestraApi;
let deps: ReturnType<typeof toDeps>;

describe("XenOrchestraApi", () => {
  beforeEach(() => {
    fake = new FakeXenOrchestra();
    deps = toDeps();
    api = new XenOrchestraApi(new Session(toSettings(fake.url), deps), deps.metrics);
  });
  afterEach(() => fake.stop());

  test("lists only the fields that are used", async () => {
    await Promise.all([
      api.list("vms", signal),
      api.list("hosts", signal),
      api.list("pools", signal),
      api.list("networks", signal),
      api.list("vifs", signal),
      api.listServers(signal),
    ]);
    for (const path of fake.paths) expect(path).toMatch(/\?fields=id%2C/);
    expect(fake.paths.join()).not.toContain("*");
  });

  test("C-03 says missing only to a JSON 404 for that type and ID", async () => {
    const id = "00000000-0000-0000-0000-000000000000";
    fake.answer = () => toResponse(loadCapture("err-vm-404"));
    expect(await api.read("vms", id, signal)).toEqual({ kind: "missing" });
    await expect(api.read("vms", WORKER_1, signal)).rejects.toMatchObject({ kind: "protocol" });
    await expect(api.read("pools", id, signal)).rejects.toMatchObject({ kind: "protocol" });
    fake.answer = () => toResponse(loadCapture("err-unknown-route"));
    await expect(api.read("vms", id, signal)).rejects.toMatchObject({ kind: "protocol" });
  });

  test("calls an object undecodable that has another ID than asked for", async () => {
    fake.answer = () => toResponse(loadCapture("vm-k8s-worker-1-cf91"));
    expect((await api.read("vms", POOL_PARIS, signal)).kind).toBe("undecodable");
  });

  test.each([
    ["an object", () => Response.json({})],
    ["HTML", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    [
      "JSON that breaks off",
      () => new Response("[", { headers: { "content-type": "application/json" } }),
    ],
  ])("takes %s for a list as a protocol error", async (_title, answer) => {
    fake.answer = answer;
    await expect(api.list("pools", signal)).rejects.toMatchObject({ kind: "protocol" });
  });

  /** Answers with this ETag, and 304 to every condition. */
  function name(etag: string | undefined, of304 = etag): void {
    const toHeaders = (one: string | undefined): Record<string, string> =>
      one === undefined ? {} : { etag: one };
    fake.answer = ({ headers }) =>
      headers.has("if-none-match")
        ? new Response(null, { status: 304, headers: toHeaders(of304) })
        : Response.json([], { headers: toHeaders(etag) });
  }

  test("relist() takes a 304 for unchanged, whether it names the version or not", async () => {
    for (const of304 of ['W/"1"', '"1"', undefined]) {
      name('W/"1"', of304);
      const { version: known } = await api.list("pools", signal);
      expect(await api.relist("pools", { known }, signal)).toBe("unchanged");
    }
  });

  test("relist() asks for the whole when a 304 names another version", async () => {
    name('"1"', '"2"');
    const { version: known } = await api.list("pools", signal);
    expect(await api.relist("pools", { known }, signal)).toMatchObject({ objects: [] });
    expect(fake.seen.map(({ headers }) => headers.get("if-none-match"))).toEqual([
      null,
      '"1"',
      null,
    ]);
  });

  test.each([undefined, "*", "1"])("list() has no version with %p for an ETag", async (etag) => {
    name(etag);
    expect(await api.list("pools", signal)).not.toHaveProperty("version");
  });

  test("a 304 to a question without a condition is a protocol error", async () => {
    fake.answer = () => new Response(null, { status: 304, headers: { etag: '"1"' } });
    for (const ask of [
      () => api.list("pools", signal),
      () => api.relist("pools", {}, signal),
      () => api.relist("pools", { known: { path: "/vms", etag: '"1"' } }, signal),
      () => api.listServers(signal),
      () => api.read("vms", WORKER_1, signal),
    ]) {
      await expect(ask()).rejects.toMatchObject({ kind: "protocol" });
    }
  });

  test("counts what cannot be read", async () => {
    fake.change("vms", WORKER_1, { tags: "k8s" });
    const { undecodable } = await api.list("vms", signal);
    expect([...undecodable.keys()]).toEqual([WORKER_1]);
    expect(deps.metrics.render()).toContain(
      'landfall_cloud_undecodable_objects_total{collection="vms"} 1',
    );
  });
});

const ID_A = "aaaaaaaa-1111-4111-8111-aaaaaaaaaaaa";
const ID_P = "cccccccc-1111-4111-8111-cccccccccccc";

describe("decode()", () => {
  test("needs nothing but the identity", () => {
    expect(
      decode(COLLECTIONS.vms.schema, {
        id: ID_A.toUpperCase(),
        $pool: ID_P.toUpperCase(),
        power_state: null,
        more: 1,
      }),
    ).toEqual({
      value: { id: ID_A, $pool: ID_P, power_state: null },
    });
  });

  test.each([
    ["absent", {}, {}],
    ["null", { current_operations: null }, { current_operations: null }],
    ["a map", { current_operations: { t: "start" } }, { current_operations: { t: "start" } }],
    ["text", { current_operations: "migrate_send" }, { current_operations: null }],
    ["a number", { current_operations: 7 }, { current_operations: null }],
    [
      "a map of anything",
      { current_operations: { a: "pool_migrate", b: 3, c: { d: 1 } } },
      { current_operations: { a: "pool_migrate", b: 3, c: { d: 1 } } },
    ],
  ])("takes a VM whose operations are %s", (_title, more, expected) => {
    expect(decode(COLLECTIONS.vms.schema, { id: ID_A, $pool: ID_P, ...more })).toEqual({
      value: { id: ID_A, $pool: ID_P, ...expected },
    });
  });

  test.each([
    ["no ID", { $pool: ID_P }],
    ["an empty ID", { id: "", $pool: ID_P }],
    ["half an ID", { id: ID_A.slice(0, 20), $pool: ID_P }],
    ["no pool", { id: ID_A }],
    ["no ID for its pool", { id: ID_A, $pool: "undefined" }],
    ["no ID for its host", { id: ID_A, $pool: ID_P, $container: "[object Object]" }],
    ["CPUs of another type", { id: ID_A, $pool: ID_P, CPUs: "4" }],
    ["addresses of another type", { id: ID_A, $pool: ID_P, addresses: { "0/ipv4/0": 1 } }],
    ["no object", "a"],
    ["nothing", null],
  ])("tells what is wrong with a VM that has %s", (_title, body) => {
    expect(decode(COLLECTIONS.vms.schema, body)).toEqual({
      problem: expect.stringContaining("must be"),
    });
  });
});

describe("decodeList()", () => {
  test.each([
    ["vms-ccm-fields", COLLECTIONS.vms.schema, 17],
    ["hosts-all-fields", COLLECTIONS.hosts.schema, 5],
    ["pools-all-fields", COLLECTIONS.pools.schema, 2],
    ["networks-all-fields", COLLECTIONS.networks.schema, 6],
    ["vm-controllers-all-fields", COLLECTIONS["vm-controllers"].schema, 5],
    ["servers-all-fields", COLLECTIONS.servers.schema, 2],
    ["pooldown-servers", COLLECTIONS.servers.schema, 2],
  ] as const)("reads the whole capture %s", (name, schema, count) => {
    const { body } = loadCapture(name);
    const list = decodeList<{ readonly id: string }>(schema, Array.isArray(body) ? body : []);
    expect(list.undecodable.size).toBe(0);
    expect(list.objects).toHaveLength(count);
  });

  test("reads the VIFs of the captures", () => {
    const { body } = loadCapture("vifs-all-fields");
    const list = decodeList(COLLECTIONS.vifs.schema, Array.isArray(body) ? body : []);
    expect(list.undecodable.size).toBe(0);
    expect(list.objects[0]?.device).toBeDefined();
  });
});

const { world, machines } = createDemoWorld();
const [machine] = machines.values();
const vmId = machine?.vmId ?? "";
let clock: ManualClock;
let cloud: XenOrchestraSimulator;

/** Codes of the requests of one round, in no certain order. */
async function codesOf(round: Promise<unknown>): Promise<string[]> {
  const before = new Map(cloud.requests.byRoute);
  await round;
  return [...cloud.requests.byRoute]
    .flatMap(([route, count]) =>
      Array.from({ length: count - (before.get(route) ?? 0) }, () => route),
    )
    .toSorted();
}

/** Renames one object. Returns its ID. */
function rename(collection: "hosts" | "pools" | "networks"): string {
  const [first] = cloud.state.list(collection);
  if (first) cloud.state.put(collection, { ...first, name_label: "renamed" });
  return first?.id ?? "";
}

describe("lister", () => {
  beforeEach(async () => {
    clock = new ManualClock();
    cloud = await startXenOrchestraSimulator({ clock, world: structuredClone(world) });
    const deps = toDeps();
    api = new XenOrchestraApi(
      new Session(toSettings(cloud.url, { token: cloud.token }), deps),
      deps.metrics,
    );
  });
  afterEach(() => cloud.stop());

  test("Lister asks for the VMs whole when only what surrounds them changed", async () => {
    const lister = new Lister(api, clock, undefined);
    const first = await lister.list(undefined, signal);
    const id = rename("hosts");
    const again = lister.list(undefined, signal);
    expect(await codesOf(again)).toEqual(["GET /hosts", "GET /pools", "GET /vms", "GET /vms"]);
    const second = await again;
    expect(second?.vms.objects).toEqual(first?.vms.objects ?? []);
    expect(second?.surroundings.hosts.get(id)?.name_label).toBe("renamed");
  });

  test("Lister takes a lost pool and its return as changes", async () => {
    const lister = new Lister(api, clock, undefined);
    const first = await lister.list(undefined, signal);
    const [pool] = cloud.state.list("pools");
    cloud.state.dropPool(pool?.id ?? "");
    const lost = await lister.list(undefined, signal);
    expect(lost?.surroundings.pools.has(pool?.id ?? "")).toBe(false);
    expect(await lister.list(undefined, signal)).toBeUndefined();
    cloud.state.restorePool(pool?.id ?? "");
    expect((await lister.list(undefined, signal))?.vms.objects).toEqual(first?.vms.objects ?? []);
  });

  test("Lister forgets nothing by a round that failed half-way", async () => {
    const lister = new Lister(api, clock, undefined);
    await lister.list(undefined, signal);
    const id = rename("hosts");
    const mend = cloud.faults.set({ kind: "status", status: 503 }, { route: "GET /pools" });
    await expect(lister.list(undefined, signal)).rejects.toThrow("503");
    mend();
    const after = await lister.list(undefined, signal);
    expect(after?.surroundings.hosts.get(id)?.name_label).toBe("renamed");
  });

  test("Lister asks for everything after ten minutes, in case something in between keeps old answers", async () => {
    const lister = new Lister(api, clock, undefined);
    await lister.list(undefined, signal);
    await clock.advance(300_000);
    cloud.state.setVm(vmId, { name_label: "renamed" });
    expect(await lister.list(undefined, signal)).toBeDefined();
    await clock.advance(299_999);
    expect(await lister.list(undefined, signal)).toBeUndefined();
    await clock.advance(1);
    expect(await lister.list(undefined, signal)).toBeDefined();
    expect(await lister.list(undefined, signal)).toBeUndefined();
  });

  test("Lister brings other VMs when it is asked for others, and for the same again", async () => {
    const lister = new Lister(api, clock, undefined);
    const [one = "", two = ""] = [...machines.values()].map(({ vmId }) => vmId);
    for (const ids of [[one], [two], [one, two], undefined, [one]]) {
      const shown = (await lister.list(ids, signal))?.vms.objects.map(({ id }) => id);
      expect(shown?.filter((id) => [one, two].includes(id))).toEqual(ids ?? [one, two]);
      expect(await lister.list(ids, signal)).toBeUndefined();
    }
  });

  test("Lister takes other rights of the user as changes, whoever asked before", async () => {
    const lister = new Lister(api, clock, undefined);
    const all = (await lister.list(undefined, signal))?.vms.objects.length ?? 0;
    cloud.state.forbid(vmId);
    expect((await lister.list(undefined, signal))?.vms.objects).toHaveLength(all - 1);
    cloud.state.forbid(vmId, false);
    expect((await lister.list(undefined, signal))?.vms.objects).toHaveLength(all);
    const none = cloud.faults.set({ kind: "nonAdmin" });
    expect((await lister.list(undefined, signal))?.vms.objects).toHaveLength(0);
    none();
    expect((await lister.list(undefined, signal))?.vms.objects).toHaveLength(all);
  });

  test("Lister brings everything each time when something on the way strips the ETags", async () => {
    const fake = new FakeXenOrchestra();
    const deps = toDeps();
    const bare = new XenOrchestraApi(new Session(toSettings(fake.url), deps), deps.metrics);
    const lister = new Lister(bare, clock, undefined);
    for (let round = 1; round <= 3; round += 1) {
      expect((await lister.list(undefined, signal))?.vms.objects).toHaveLength(17);
      expect(fake.seen).toHaveLength(3 * round);
    }
    expect(fake.seen.some(({ headers }) => headers.has("if-none-match"))).toBe(false);
    await fake.stop();
  });

  test("Lister keeps the condition when a connection is dropped", async () => {
    const lister = new Lister(api, clock, undefined);
    await lister.list(undefined, signal);
    cloud.faults.set({ kind: "reset" }, { route: "GET /vms", times: 1 });
    const again = lister.list(undefined, signal);
    expect(await codesOf(again)).toEqual(["GET /hosts", "GET /pools", "GET /vms", "GET /vms"]);
    expect(await again).toBeUndefined();
  });

  test("Lister brings what changed although asking for the whole failed at first", async () => {
    const lister = new Lister(api, clock, undefined);
    await lister.list(undefined, signal);
    const id = rename("hosts");
    // Only a question without a condition is asked with list().
    const whole = spyOn(api, "list").mockRejectedValueOnce(new Error("half a body"));
    await expect(lister.list(undefined, signal)).rejects.toThrow("half a body");
    whole.mockRestore();
    const after = await lister.list(undefined, signal);
    expect(after?.surroundings.hosts.get(id)?.name_label).toBe("renamed");
  });

  test.each(["hosts", "pools", "networks", "vifs"] as const)(
    "Lister takes a change of %s alone as one",
    async (collection) => {
      const [network] = cloud.state.list("networks");
      const lister = new Lister(api, clock, network?.id);
      await lister.list(undefined, signal);
      if (collection === "vifs") {
        const [vif] = cloud.state.list("vifs");
        if (vif) cloud.state.put("vifs", { ...vif, device: "7" });
      } else {
        rename(collection);
      }
      expect(await lister.list(undefined, signal)).toBeDefined();
      expect(await lister.list(undefined, signal)).toBeUndefined();
    },
  );
});
