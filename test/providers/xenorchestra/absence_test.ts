/**
 * Only proven absence is absence: each clause of the proof, taken away.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Presence, Provider } from "../../../lib/cloud/provider.ts";
import { swapUuid } from "../../../lib/core/text/values.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { type AbsenceQuestion, proveAbsence } from "../../../lib/providers/xenorchestra/absence.ts";
import { XenOrchestraApi } from "../../../lib/providers/xenorchestra/client.ts";
import { Memory, type Stay } from "../../../lib/providers/xenorchestra/memory.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import { Session } from "../../../lib/providers/xenorchestra/session/session.ts";
import {
  createProvider,
  FakeXenOrchestra,
  HOST_PARIS_1,
  loadCapture,
  POOL_LYON,
  POOL_PARIS,
  toDeps,
  toResponse,
  toSettings,
  WORKER_1,
  NODE,
} from "./fake_server.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const signal = new AbortController().signal;

/** The master of the other pool, and its dom0. */
const HOST_LYON = "18cca4d2-25b0-4d84-aaf0-804c7783f024";
const DOM0_LYON = "4bbbee32-51ad-482c-af89-74bd07cd9ab2";

/** A VM that no list ever showed. */
const NEVER_SEEN = "0f7a2c34-0000-4000-8000-000000000001";

const JSON_TYPE = { "content-type": "application/json" };

let fake: FakeXenOrchestra;
let provider: Provider;
let inventory: Inventory;

async function read(node: NodeIdentity = NODE): Promise<string> {
  const presence = await provider.readInstance(inventory, node, signal);
  return presence.kind === "unknown" ? `unknown ${presence.reason}` : presence.kind;
}

beforeEach(async () => {
  fake = new FakeXenOrchestra();
  provider = createProvider(fake);
  // Seen once, then deleted for good.
  inventory = await provider.listInventory([NODE], signal);
  fake.remove("vms", WORKER_1);
  inventory = await provider.listInventory([NODE], signal);
  fake.seen.length = 0;
});
afterEach(() => fake.stop());

describe("proveAbsence()", () => {
  test("C-03 says absent when everything around the VM answers, asked in order", async () => {
    const presence = await provider.readInstance(inventory, NODE, signal);
    expect(presence).toMatchObject({ kind: "absent", evidence: expect.stringContaining("404") });
    expect(fake.paths.map((path) => path.split("?")[0])).toEqual([
      `/vms/${WORKER_1}`,
      `/pools/${POOL_PARIS}`,
      `/hosts/${HOST_PARIS_1}`,
      "/vm-controllers/8f27b71a-81c1-4246-ac86-d996c5eb33ce",
      "/servers",
      `/pools/${POOL_LYON}`,
      `/hosts/${HOST_LYON}`,
      `/vm-controllers/${DOM0_LYON}`,
      `/vm-templates/${WORKER_1}`,
      `/vms/${WORKER_1}`,
      `/pools/${POOL_PARIS}`,
      `/pools/${POOL_LYON}`,
    ]);
  });

  test("takes another VM of the pool as proof when the dom0 is not shown, or may not be seen", async () => {
    fake.answer = ({ path }) =>
      path.startsWith("/vm-controllers/") ? toResponse(loadCapture("nonadmin-vm-403")) : undefined;
    expect(await read()).toBe("absent");
    fake.answer = () => undefined;
    fake.collections["vm-controllers"] = [];
    expect(await read()).toBe("absent");
  });

  test.each([
    ["a 404 for a host", () => toResponse(loadCapture("host-id-of-pool")), "unknown protocol"],
    ["a 404 for another VM", () => toResponse(loadCapture("err-vm-404")), "unknown protocol"],
    ["a 404 for its ID as a host", () => toMissing(WORKER_1, "host"), "unknown protocol"],
    ["a 404 for another ID", () => toMissing(POOL_PARIS, "VM"), "unknown protocol"],
    ["a 404 of other data", () => toJson404({ data: WORKER_1 }), "unknown protocol"],
    ["a JSON 404 called HTML", () => toMissing(WORKER_1, "VM", "text/html"), "unknown protocol"],
    ["a 304 unasked", () => new Response(null, { status: 304 }), "unknown protocol"],
  ])("C-03 takes %s for the VM as no answer", async (_title, answer, expected) => {
    fake.answer = ({ path }) => (path === `/vms/${WORKER_1}` ? answer() : undefined);
    expect(await read()).toBe(expected);
  });

  test("is unsure while the pool is not shown", async () => {
    fake.answer = ({ path }) =>
      path === `/pools/${POOL_PARIS}` ? toResponse(loadCapture("pooldown-pool-404")) : undefined;
    expect(await read()).toBe("unknown notCovered");
    // So it said that the pool is away, and asked for nothing more.
    expect(fake.paths).toHaveLength(2);
  });

  test.each([
    `/vms/${WORKER_1}`,
    `/pools/${POOL_PARIS}`,
    `/hosts/${HOST_PARIS_1}`,
    "/vm-controllers/",
    "/servers",
    "/vm-templates/",
  ])(
    "is unsure when %s alone is answered with a 401, an error or a 404 of something else",
    async (part) => {
      const answers: [() => Response, string][] = [
        [() => Response.json({ error: "boom" }, { status: 500 }), "unknown unreachable"],
        [() => new Response("{", { headers: JSON_TYPE }), "unknown protocol"],
        [() => toResponse(loadCapture("auth-badtoken")), "unknown denied"],
      ];
      answers.unshift([() => toJson404({ error: "not found" }), "unknown protocol"]);
      answers.unshift([() => toHtml404("/rest/v0/nope"), "unknown protocol"]);
      answers.unshift([() => toHtml404("/"), "unknown protocol"]);
      for (const [answer, expected] of answers) {
        fake.answer = ({ path }) => (path.startsWith(part) ? answer() : undefined);
        expect(await read()).toBe(expected);
      }
    },
  );

  /** Answers requests whose path begins so. */
  function answer(part: string, response: () => Response): void {
    fake.answer = ({ path }) => (path.startsWith(part) ? response() : undefined);
  }

  /** Changes the connection to a pool. */
  function connect(poolId: string, to: object): void {
    fake.change("servers", (one) => one["poolId"] === poolId, to);
  }

  /** The pool shows no dom0, and this as its VMs. */
  function showVms(...vms: readonly object[]): void {
    fake.collections["vm-controllers"] = [];
    answer("/vms?", () => Response.json(vms));
  }

  const DENIED = (): Response => toResponse(loadCapture("nonadmin-vm-403"));
  test.each<[string, () => void, string?]>([
    ["the pool may not be seen", () => answer("/pools/", DENIED), "unknown denied"],
    [
      "the answer for the pool is of another pool",
      () => answer("/pools/", () => Response.json({ id: POOL_LYON, master: HOST_PARIS_1 })),
    ],
    ["the pool names no master host", () => fake.change("pools", POOL_PARIS, { master: null })],
    [
      "the master host is of another pool",
      () => fake.change("hosts", HOST_PARIS_1, { $pool: POOL_LYON }),
    ],
    [
      "the dom0 is of another pool",
      () => fake.change("vm-controllers", () => true, { $pool: POOL_LYON }),
    ],
    ["the pool shows neither its dom0 nor any VM", () => showVms()],
    ["the pool shows a VM of another pool", () => showVms({ id: HOST_PARIS_1, $pool: POOL_LYON })],
    ["the pool shows nothing but the VM", () => showVms({ id: WORKER_1, $pool: POOL_PARIS })],
    ["the pool shows a VM without a pool", () => showVms({ id: HOST_PARIS_1 })],
    [
      "the VM is a template now",
      () => fake.list("vm-templates").push({ id: WORKER_1, $pool: POOL_PARIS }),
      "unknown notListed",
    ],
    ["the VM may be a template now", () => answer("/vm-templates/", DENIED), "unknown denied"],
    [
      "a page says that the connections may not be seen",
      () => answer("/servers", () => new Response("<html>", { status: 403 })),
      "unknown denied",
    ],
    [
      "the list of connections fails",
      () => answer("/servers", () => new Response("", { status: 502 })),
      "unknown unreachable",
    ],
    ["a connection is up without a pool", () => connect(POOL_LYON, { poolId: undefined })],
    [
      "a connection is up, but its pool is not loaded",
      () => connect(POOL_LYON, { poolId: HOST_LYON }),
    ],
    [
      "a connection is not up although its pool still shows",
      () => connect(POOL_LYON, { status: "connecting" }),
    ],
    [
      "the connection to the pool itself is disabled",
      () => connect(POOL_PARIS, { enabled: false }),
    ],
    [
      "a connection cannot be read",
      () => fake.list("servers").push({ id: HOST_PARIS_1, enabled: "yes" }),
    ],
  ])("is unsure when %s", async (_title, change, expected = "unknown notCovered") => {
    change();
    expect(await read()).toBe(expected);
  });

  test.each([
    ["the second look at the VM", `/vms/${WORKER_1}`],
    ["the second look at the pool", `/pools/${POOL_PARIS}`],
  ])("is unsure when %s fails", async (_title, part) => {
    let asked = 0;
    fake.answer = ({ path }) => {
      if (path !== part) return undefined;
      asked += 1;
      return asked === 2 ? toResponse(loadCapture("auth-badtoken")) : undefined;
    };
    expect(await read()).toBe("unknown denied");
  });

  test("is unsure when the pool is gone at the end: the second 404 may come of its loss", async () => {
    let asked = 0;
    fake.answer = ({ path }) => {
      asked += Number(path === `/vms/${WORKER_1}`);
      if (asked === 2) fake.dropPool(POOL_PARIS);
      return undefined;
    };
    expect(await read()).toBe("unknown notCovered");
    expect(fake.paths.at(-1)).toBe(`/pools/${POOL_PARIS}`);
  });

  test("is unsure while the pool's master host is not shown, alone or in the list", async () => {
    const hosts = fake.list("hosts");
    fake.remove("hosts", HOST_PARIS_1);
    expect(await read()).toBe("unknown notCovered");
    inventory = await provider.listInventory([NODE], signal);
    fake.collections["hosts"] = hosts;
    expect(await read()).toBe("unknown notCovered");
  });

  test("is unsure while another pool hides its VMs: the VM may have moved there, unseen", async () => {
    const controllers = fake.list("vm-controllers");
    fake.collections["vm-controllers"] = controllers.filter((one) => one["$pool"] !== POOL_LYON);
    fake.collections["vms"] = fake.list("vms").filter((one) => one["$pool"] !== POOL_LYON);
    expect(await read()).toBe("unknown notCovered");
    fake.collections["vm-controllers"] = controllers;
    expect(await read()).toBe("absent");
  });

  test("does not mind that the VMs of another pool may not be seen", async () => {
    fake.collections["vms"] = fake.list("vms").filter((one) => one["$pool"] !== POOL_LYON);
    fake.answer = ({ path }) =>
      path.endsWith(DOM0_LYON) ? toResponse(loadCapture("nonadmin-vm-403")) : undefined;
    expect(await read()).toBe("absent");
  });

  test("is unsure when another pool is gone at the end: the second 404 may come of its loss", async () => {
    let asked = 0;
    fake.answer = ({ path }) => {
      asked += Number(path === `/vms/${WORKER_1}`);
      if (asked === 2) fake.dropPool(POOL_LYON);
      return undefined;
    };
    expect(await read()).toBe("unknown notCovered");
  });

  test("does without a collection that the server does not have: another VM of the pool proves it", async () => {
    for (const collection of ["vm-templates", "vm-controllers"]) {
      fake.answer = ({ path }) => toUnknownRoute(path, collection);
      expect(await read()).toBe("absent");
    }
    // Nobody but the dom0 could have told that these VMs are loaded.
    fake.collections["vms"] = fake.list("vms").filter((one) => one["$pool"] !== POOL_LYON);
    const presence = await provider.readInstance(inventory, NODE, signal);
    expect(presence).toMatchObject({ kind: "unknown", reason: "notCovered" });
    expect(presence).toHaveProperty("message", expect.stringContaining("update it to 5.112"));
  });

  test("is unsure when the last list still shows the VM", async () => {
    const id = "b29d32a0";
    const vm = fake.list("vms").find((one) => one.id.startsWith(id))?.id ?? "";
    inventory = await provider.listInventory([], signal);
    fake.remove("vms", vm);
    const node = { name: "w2", providerId: `xenorchestra://${POOL_PARIS}/${vm}` };
    expect(await read(node)).toBe("unknown notListed");
  });

  test("is unsure, and asks no more, when the VM was being migrated as it was shown last", async () => {
    const vm = fake.list("vms").find((one) => one.id.startsWith("b29d32a0"))?.id ?? "";
    fake.change("vms", vm, { current_operations: { "OpaqueRef:1": "migrate_send" } });
    const node = { name: "w2", providerId: `xenorchestra://${POOL_PARIS}/${vm}` };
    await provider.listInventory([node], signal);
    fake.remove("vms", vm);
    inventory = await provider.listInventory([node], signal);
    fake.seen.length = 0;
    expect(await read(node)).toBe("unknown notCovered");
    expect(fake.paths).toEqual([`/vms/${vm}`]);
  });

  test("is unsure when the last list shows the VM in a form that cannot be read", async () => {
    fake.list("vms").push({ id: WORKER_1, $pool: 7 });
    inventory = await provider.listInventory([NODE], signal);
    fake.remove("vms", WORKER_1);
    expect(await read()).toBe("unknown notListed");
  });

  test("is unsure while the last list shows a VM, or a pool, that nobody can tell which it is", async () => {
    fake.list("vms").push({ id: WORKER_1.slice(0, 20) });
    inventory = await provider.listInventory([], signal);
    expect(await read()).toBe("unknown undecodable");
    fake.list("vms").pop();
    fake.list("pools").push({ id: "" });
    inventory = await provider.listInventory([], signal);
    expect(await read()).toBe("unknown notCovered");
    fake.list("pools").pop();
    inventory = await provider.listInventory([], signal);
    expect(await read()).toBe("absent");
  });

  test("is unsure while another pool that was seen before is lost: the VM may have moved there", async () => {
    fake.dropPool(POOL_LYON);
    fake.collections["servers"] = [];
    inventory = await provider.listInventory([NODE], signal);
    expect(await read()).toBe("unknown partLost");
  });

  test("is unsure after a start while a connection is not up", async () => {
    fake.dropPool(POOL_LYON);
    fake.collections["servers"] = servers("pooldown-servers");
    provider = createProvider(fake);
    inventory = await provider.listInventory([NODE], signal);
    expect(inventory.coverage.has(POOL_LYON)).toBe(false);
    expect(await read()).toBe("unknown partLost");
  });

  test("does not mind a disabled connection, or one that may not be seen, of a VM that it saw", async () => {
    fake.change("servers", (one) => one["poolId"] === POOL_LYON, {
      enabled: false,
      status: "disconnected",
      poolId: undefined,
    });
    expect(await read()).toBe("absent");
    fake.answer = ({ path }) =>
      path.startsWith("/servers") ? toResponse(loadCapture("nonadmin-vm-403")) : undefined;
    expect(await read()).toBe("absent");
  });

  test("asks for the VM again at the end, for the first 404 may be older than the pool's loading", async () => {
    let asked = 0;
    const worker = loadCapture("vm-k8s-worker-1-cf91").body;
    fake.answer = ({ path }) => {
      if (path !== `/vms/${WORKER_1}`) return undefined;
      asked += 1;
      return asked === 2 ? Response.json(worker) : undefined;
    };
    expect(await read()).toBe("unknown notListed");
  });

  test("a VM that moved is looked for in its new pool too", async () => {
    const moved = { ...fake.list("vms")[0], id: WORKER_1, $pool: POOL_LYON };
    fake.list("vms").push(moved);
    inventory = await provider.listInventory([NODE], signal);
    expect(inventory.instances.get(WORKER_1)?.region).toBe(POOL_LYON);
    fake.remove("vms", WORKER_1);
    inventory = await provider.listInventory([NODE], signal);
    expect(await read()).toBe("absent");
    fake.dropPool(POOL_LYON);
    fake.collections["servers"] = [];
    // The list is from before the loss.
    expect(await read()).toBe("unknown notCovered");
  });

  test("C-09 a VM that was listed and now answers 404 is never present, by whatever it was known", async () => {
    const vm = fake.list("vms").find(({ id }) => id.startsWith("b29d32a0"))?.id ?? "";
    const node = { name: "w2", providerId: `xenorchestra://${POOL_PARIS}/${vm}` };
    const swapped = { name: "w2", systemUuid: swapUuid(vm) };
    const listed = await provider.listInventory([node, swapped], signal);
    await provider.readInstance(listed, swapped, signal);
    for (const one of [node, swapped]) {
      expect(provider.findInstance(listed, one).kind).toBe("present");
    }
    fake.remove("vms", vm);
    // The list still shows it: what was just answered counts, but against the list it proves nothing.
    expect((await provider.readInstance(listed, node, signal)).kind).toBe("unknown");
    inventory = await provider.listInventory([node, swapped], signal);
    // That one was matched before is remembered, and makes nothing present that is not listed.
    for (const one of [node, swapped]) {
      expect(provider.findInstance(inventory, one).kind).toBe("unknown");
    }
    expect(await read(node)).toBe("absent");
    expect(await read(swapped)).toBe("unknown notFound");
  });

  test("looks at the pool that the labels name too, so that a restart of Landfall loses nothing", async () => {
    expect(await read({ ...NODE, region: POOL_LYON })).toBe("absent");
    expect(fake.paths).toContain(`/pools/${POOL_LYON}`);
    expect(await read({ ...NODE, region: "eu-west-1" })).toBe("absent");
    fake.dropPool(POOL_LYON);
    // Nobody says that there is a connection to it: it was removed, or the user may not see it.
    fake.collections["servers"] = fake
      .list("servers")
      .filter(({ poolId }) => poolId === POOL_PARIS);
    provider = createProvider(fake);
    inventory = await provider.listInventory([NODE], signal);
    expect(await read({ ...NODE, region: POOL_LYON })).toBe("unknown notCovered");
    expect(await read()).toBe("absent");
  });

  test("looks at the pool of the label that no setting changes, where the region has a label of its own", async () => {
    const regions = { [POOL_PARIS]: "paris-dc", "pool-lyon": "lyon-dc" };
    const labels = { "topology.k8s.xenorchestra/pool_id": POOL_LYON };
    const moved = { ...NODE, region: "lyon-dc", labels };
    provider = createProvider(fake, { regions });
    inventory = await provider.listInventory([moved], signal);
    expect(await read(moved)).toBe("absent");
    expect(fake.paths).toContain(`/pools/${POOL_LYON}`);
    fake.dropPool(POOL_LYON);
    fake.collections["servers"] = fake
      .list("servers")
      .filter(({ poolId }) => poolId === POOL_PARIS);
    for (const settings of [{ regions }, {}]) {
      provider = createProvider(fake, settings);
      inventory = await provider.listInventory([moved], signal);
      expect(await read(moved)).toBe("unknown notCovered");
      // Also when the region label is from before the setting, or from before the move.
      for (const region of [POOL_PARIS, POOL_LYON]) {
        expect(await read({ ...moved, region })).toBe("unknown notCovered");
        expect(await read({ ...NODE, region })).toBe(
          region === POOL_LYON ? "unknown notCovered" : "absent",
        );
      }
    }
  });

  test("looks at both pools when the labels contradict each other", async () => {
    const labels = { "topology.k8s.xenorchestra/pool_id": POOL_PARIS };
    const node = { ...NODE, region: POOL_LYON, labels };
    expect(await read(node)).toBe("absent");
    fake.dropPool(POOL_LYON);
    fake.collections["servers"] = fake
      .list("servers")
      .filter(({ poolId }) => poolId === POOL_PARIS);
    provider = createProvider(fake);
    inventory = await provider.listInventory([node], signal);
    expect(await read(node)).toBe("unknown notCovered");
  });

  test("needs every pool loaded that may hold the VM, not only shown, and still shown at the end", async () => {
    const node = { ...NODE, region: POOL_LYON };
    const hosts = fake.list("hosts");
    for (const pool of [POOL_PARIS, POOL_LYON]) {
      fake.collections["hosts"] = hosts.filter((one) => one["$pool"] !== pool);
      expect(await read(node)).toBe("unknown notCovered");
    }
    fake.collections["hosts"] = hosts;
    expect(await read(node)).toBe("absent");
    fake.answer = ({ path }) => {
      if (path.startsWith("/vm-templates/")) fake.dropPool(POOL_LYON);
      return undefined;
    };
    expect(await read(node)).toBe("unknown notCovered");
  });

  test("one of two pools that is lost does not keep the other from answering again, once it is back", async () => {
    const before = structuredClone(fake.collections);
    fake.dropPool(POOL_LYON);
    inventory = await provider.listInventory([NODE], signal);
    expect(await read()).toBe("unknown partLost");
    Object.assign(fake.collections, before);
    inventory = await provider.listInventory([NODE], signal);
    expect(await read()).toBe("absent");
  });

  test("cannot prove anything for a provider ID without a pool, wherever the VM was seen", async () => {
    const node = { name: "w1", providerId: `xenorchestra:///${WORKER_1}` };
    expect(await read(node)).toBe("unknown notCovered");
    expect(await read({ ...node, region: POOL_PARIS })).toBe("unknown notCovered");
    fake.list("vms").push({ id: WORKER_1, $pool: POOL_PARIS });
    expect(await read(node)).toBe("present");
    fake.remove("vms", WORKER_1);
    expect(await read(node)).toBe("unknown notCovered");
  });

  test("never says absent while every list is empty, as after a restart with slow pools", async () => {
    for (const name of Object.keys(fake.collections)) fake.collections[name] = [];
    inventory = await provider.listInventory([NODE], signal);
    expect(await read()).toBe("unknown notCovered");
  });
});

describe("proveAbsence() of a VM that this process never saw", () => {
  /** Landfall starts after the VM has left. */
  async function restart(): Promise<void> {
    provider = createProvider(fake);
    inventory = await provider.listInventory([NODE], signal);
  }

  test("says absent when the list of connections names every pool that is shown", async () => {
    await restart();
    expect(await read()).toBe("absent");
  });

  const noList: [string, () => Response | undefined][] = [
    ["is empty", () => Response.json([])],
    ["is refused", () => toResponse(loadCapture("nonadmin-vm-403"))],
    ["does not exist on this server", () => toHtml404("/rest/v0/servers")],
    [
      "names the connection to its pool alone",
      () => Response.json(fake.list("servers").filter((one) => one["poolId"] === POOL_PARIS)),
    ],
    [
      "names the connection to another pool alone",
      () => Response.json(fake.list("servers").filter((one) => one["poolId"] === POOL_LYON)),
    ],
  ];

  test.each(noList)(
    "is unsure when the list of connections %s, and says which right to give",
    async (_title, answer) => {
      fake.answer = ({ path }) => (path.startsWith("/servers") ? answer() : undefined);
      await restart();
      const presence = await provider.readInstance(inventory, NODE, signal);
      expect(presence).toMatchObject({ kind: "unknown", reason: "notCovered" });
      expect(presence).toMatchObject({ message: expect.stringContaining('"read" on "server"') });
    },
  );

  test.each(noList)(
    "says absent of a VM that it saw, when the list of connections %s",
    async (_title, answer) => {
      fake.answer = ({ path }) => (path.startsWith("/servers") ? answer() : undefined);
      expect(await read()).toBe("absent");
    },
  );

  test("is unsure while another pool shows no VM and its dom0 may not be seen", async () => {
    fake.collections["vms"] = fake.list("vms").filter((one) => one["$pool"] !== POOL_LYON);
    fake.answer = ({ path }) =>
      path.endsWith(DOM0_LYON) ? toResponse(loadCapture("nonadmin-vm-403")) : undefined;
    expect(await read()).toBe("absent");
    await restart();
    expect(await read()).toBe("unknown notCovered");
  });
});

describe("proveAbsence() while another pool is removed for good", () => {
  const clock = new ManualClock();
  const log = silentLogger;

  /** For so many minutes a VM must be seen in its own pool after another was removed. */
  const STAYED = 4;

  /** Lyon is removed; the VM was seen in Paris for `minutes` after that, and is gone. */
  async function removeLyon(minutes: number): Promise<void> {
    const { body } = loadCapture("vms-ccm-fields");
    fake.collections["vms"] = Array.isArray(body) ? body : [];
    const deps = { ...toDeps(), clock };
    const settings = toSettings(fake.url);
    const session = new Session(settings, deps);
    const api = new XenOrchestraApi(session, deps.metrics);
    const memory = new Memory();
    const rest = (): Promise<void> => Promise.resolve();
    const behind = { events: { run: rest }, tokenWatch: { look: rest } };
    const connection = { session, api, ...behind };
    provider = xenOrchestra.create(settings, deps, {
      change: "sameUser",
      from: { memory, connection },
    });
    const refresh = async (times: number): Promise<void> => {
      for (let at = 0; at < times; at += 1) {
        inventory = await provider.listInventory([NODE], signal);
        await memory.pools.look(inventory.coverage, { api, clock, log }, signal);
        await clock.advance(60_000);
      }
    };
    await refresh(1);
    fake.dropPool(POOL_LYON);
    fake.collections["servers"] = fake.list("servers").filter((one) => one["poolId"] !== null);
    await refresh(minutes);
    fake.remove("vms", WORKER_1);
    await refresh(15 - minutes);
    fake.seen.length = 0;
  }

  test("says absent of a VM that stayed in its own pool after that, and asks for the removed one", async () => {
    await removeLyon(STAYED);
    expect(await read()).toBe("absent");
    expect(fake.paths.at(-1)).toBe(`/pools/${POOL_LYON}`);
    expect(fake.paths).not.toContain(`/hosts/${HOST_LYON}`);
  });

  test.each([0, 1, STAYED - 1])(
    "is unsure of a VM that was seen for %d minutes only: it may have gone there before",
    async (minutes) => {
      await removeLyon(minutes);
      expect(await read()).toBe("unknown notCovered");
    },
  );

  test("is unsure of a VM that was last seen there", async () => {
    await removeLyon(STAYED);
    const node = { name: "w1", providerId: `xenorchestra://${POOL_LYON}/${NEVER_SEEN}` };
    expect(await read(node)).toBe("unknown notCovered");
    inventory = await provider.listInventory([node], signal);
    expect(provider.findInstance(inventory, node)).toMatchObject({
      reason: "notCovered",
      message: expect.stringMatching(
        /pool pool-lyon: .* was removed from Xen Orchestra.*delete the Node/,
      ),
    });
  });

  test("does not look there for a VM that was made there, and was last seen in its own pool", async () => {
    await removeLyon(STAYED);
    const node = { name: "w1", providerId: `xenorchestra://${POOL_LYON}/${WORKER_1}` };
    expect(await read(node)).toBe("absent");
  });

  test("is unsure when a connection names no pool any more, and after it is added again", async () => {
    await removeLyon(STAYED);
    fake.list("servers").push({ id: "new", status: "disconnected", enabled: false });
    expect(await read()).toBe("unknown notCovered");
  });

  test.each<[string, () => Response, string]>([
    ["is there", () => Response.json({ id: POOL_LYON }), "unknown notCovered"],
    ["may not be seen", () => toResponse(loadCapture("nonadmin-vm-403")), "unknown denied"],
  ])("is unsure when the pool %s after all", async (_title, answer, expected) => {
    await removeLyon(STAYED);
    fake.answer = ({ path }) => (path === `/pools/${POOL_LYON}` ? answer() : undefined);
    expect(await read()).toBe(expected);
  });
});

describe("proveAbsence() while another pool is lost", () => {
  const STAY: Stay = { sinceMs: 0, untilMs: 600_000, isMoving: false };
  /** Lyon was last shown in the middle of that. */
  const QUESTION = {
    vmId: WORKER_1,
    poolIds: [POOL_PARIS],
    isMoving: false,
    isSeen: true,
    removed: [],
    stay: STAY,
    sinceMs: 300_000,
    findShownMs: () => 300_000,
    mayPartsBeLost: true,
  };

  /** Asks about the VM once Lyon is lost. */
  async function ask(over: Partial<AbsenceQuestion> = {}): Promise<Presence> {
    const deps = toDeps();
    const api = new XenOrchestraApi(new Session(toSettings(fake.url), deps), deps.metrics);
    return await proveAbsence(api, { ...QUESTION, inventory, ...over }, signal);
  }

  beforeEach(async () => {
    fake.dropPool(POOL_LYON);
    inventory = await provider.listInventory([NODE], signal);
  });

  test("says absent of a VM that stayed in its own pool, and asks for the lost one in the end", async () => {
    fake.seen.length = 0;
    expect(await ask()).toMatchObject({
      kind: "absent",
      evidence: expect.stringContaining(`pool ${POOL_LYON} is lost`),
    });
    expect(fake.paths.at(-1)).toBe(`/pools/${POOL_LYON}`);
  });

  test.each<[string, Partial<AbsenceQuestion>, string]>([
    ["nobody allowed it", { mayPartsBeLost: false }, "it may be in pool"],
    ["the VM was never seen in its pool", { stay: undefined }, "Landfall did not see when it left"],
    ["the VM left its pool too soon", { findShownMs: () => 500_000 }, "without a break"],
  ])("only a lost part speaks against it when %s", async (_title, over, words) => {
    expect(await ask(over)).toMatchObject({
      kind: "unknown",
      reason: "partLost",
      message: expect.stringContaining(words),
    });
  });

  test.each<[string, () => unknown]>([
    [
      "the lost pool is there again",
      () => fake.collections["pools"]?.push({ id: POOL_LYON, master: HOST_LYON }),
    ],
    [
      "its own pool has no connection that is up",
      () =>
        fake.change("servers", (one) => one["poolId"] === POOL_PARIS, {
          poolId: null,
          status: "connecting",
        }),
    ],
    [
      "a connection is up whose pool is not loaded",
      () => fake.change("servers", () => true, { status: "connected" }),
    ],
    ["a pool that is shown has no master", () => fake.remove("hosts", HOST_PARIS_1)],
  ])("is unsure for more than that when %s", async (_title, change) => {
    change();
    expect(await ask()).toMatchObject({ kind: "unknown", reason: "notCovered" });
  });

  test("does so after a start, too, when the connection alone tells that a pool is lost", async () => {
    provider = createProvider(fake);
    inventory = await provider.listInventory([NODE], signal);
    expect(inventory.coverage.has(POOL_LYON)).toBe(false);
    expect((await ask()).kind).toBe("absent");
    expect(await ask({ sinceMs: 500_000 })).toMatchObject({
      reason: "partLost",
      message: expect.stringContaining("without a break"),
    });
    expect(await ask({ mayPartsBeLost: false })).toMatchObject({ reason: "partLost" });
  });
});

function toJson404(body: object): Response {
  return Response.json(body, { status: 404 });
}

/** What Xen Orchestra says of a path of a collection that it does not have. */
function toUnknownRoute(path: string, collection: string): Response | undefined {
  return path.startsWith(`/${collection}/`) ? toHtml404(`/rest/v0${path}`) : undefined;
}

/** The page of a server that has no route for a path. */
function toHtml404(path: string): Response {
  const captured = loadCapture("err-unknown-route");
  const text = captured.text?.replace("/rest/v0/nope", path) ?? "";
  return toResponse({ ...captured, text });
}

/** Xen Orchestra's own 404. */
function toMissing(id: string, type: string, contentType = "application/json"): Response {
  const body = JSON.stringify({ error: `no such ${type} ${id}`, data: { id, type } });
  return new Response(body, { status: 404, headers: { "content-type": contentType } });
}

function servers(name: string): FakeXenOrchestra["collections"][string] {
  const { body } = loadCapture(name);
  if (!Array.isArray(body)) throw new TypeError("not a list");
  // The capture lost pool Paris; here it is Lyon.
  return body.map((one) => ({
    ...one,
    poolId: one.status === "connected" ? POOL_PARIS : undefined,
  }));
}
