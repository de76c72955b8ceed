/**
 * Inventory, lookup and direct reads against captures of a real Xen Orchestra; its pools and machines.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import type { Instance, NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Presence, Provider } from "../../../lib/cloud/provider.ts";
import {
  createProvider,
  FakeXenOrchestra,
  HOST_PARIS_2,
  loadCapture,
  NODE,
  NODE as OURS,
  POOL_LYON,
  POOL_PARIS,
  toDeps,
  toResponse,
  toSettings,
  WORKER_1,
  WORKER_1_SWAPPED,
} from "./fake_server.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import { createChanging } from "../../support/cloud/changing_provider.ts";
import { until } from "../../support/nodes/rig.ts";
import { listLoaded } from "../../support/sources.ts";

const signal = new AbortController().signal;
const BY_UUID: NodeIdentity = { name: "w1", systemUuid: WORKER_1.toUpperCase() };
const UEFI: NodeIdentity = { name: "w1", systemUuid: WORKER_1_SWAPPED };

let fake: FakeXenOrchestra;
let provider: Provider;

function create(more: object = {}): Provider {
  return createProvider(fake, more);
}

async function look(node: NodeIdentity, interest = [node]): Promise<[Inventory, Presence]> {
  const inventory = await provider.listInventory(interest, signal);
  return [inventory, provider.findInstance(inventory, node)];
}

/** What was asked for but connections, which are looked at behind an inventory. */
function listAsked(): string[] {
  return fake.paths.filter((path) => !path.startsWith("/servers"));
}

function summarise(presence: Presence): string {
  if (presence.kind === "present") return `present ${presence.instance.id} ${presence.matchedBy}`;
  return presence.kind === "unknown" ? `unknown ${presence.reason}` : presence.kind;
}

describe("provider", () => {
  beforeEach(() => {
    fake = new FakeXenOrchestra();
    provider = create();
  });
  afterEach(() => fake.stop());

  describe("readInstances()", () => {
    const read = (...ids: string[]): Promise<ReadonlyMap<string, Instance>> => {
      if (!provider.changes?.readInstances) throw new Error("Cannot test: there is none");
      return provider.changes.readInstances(new Set(ids), signal);
    };

    test("asks once for all, and gives what an inventory would", async () => {
      const [inventory] = await look(OURS);
      fake.seen.length = 0;
      const shown = await read(WORKER_1, WORKER_1_SWAPPED);
      expect(shown).toEqual(inventory.instances);
      expect(listAsked()).toHaveLength(1);
      expect(new URLSearchParams(listAsked()[0]?.split("?")[1]).get("filter")).toBe(
        `id:|(${WORKER_1_SWAPPED} ${WORKER_1})`,
      );
    });

    test("asks for the interfaces too when addresses are chosen by network", async () => {
      provider = create({ addresses: { network: "Pool-wide network associated with eth0" } });
      const [inventory] = await look(OURS);
      fake.seen.length = 0;
      expect((await read(WORKER_1)).get(WORKER_1)).toEqual(inventory.instances.get(WORKER_1));
      expect(
        listAsked()
          .map((path) => path.split("?")[0])
          .sort(),
      ).toEqual(["/vifs", "/vms"]);
    });

    test("shows no VM on a host or in a pool that the last inventory lacked", async () => {
      const unknown = WORKER_1_SWAPPED;
      await look(OURS);
      fake.change("vms", WORKER_1, { $container: unknown });
      expect((await read(WORKER_1)).size).toBe(0);
      fake.change("vms", WORKER_1, { $container: unknown, $pool: unknown });
      expect((await read(WORKER_1)).size).toBe(0);
      fake.change("vms", WORKER_1, { $container: HOST_PARIS_2, $pool: POOL_PARIS });
      expect((await read(WORKER_1)).size).toBe(1);
    });

    test("shows no VM that was not asked for, nor one that cannot be read", async () => {
      await look(OURS);
      fake.answer = () => Response.json(fake.list("vms"));
      expect([...(await read(WORKER_1)).keys()]).toEqual([WORKER_1]);
      fake.answer = () => undefined;
      fake.change("vms", WORKER_1, { memory: "much" });
      expect((await read(WORKER_1)).size).toBe(0);
    });

    test("remembers that a VM is in another pool now, which the next list may lack", async () => {
      await look(OURS);
      fake.change("vms", WORKER_1, { $pool: POOL_LYON, $container: POOL_LYON });
      await read(WORKER_1);
      fake.dropPool(POOL_LYON);
      const [, presence] = await look(OURS);
      expect(summarise(presence)).toBe("unknown notCovered");
    });

    test("remembers so, too, when the VM was read by itself", async () => {
      const [inventory] = await look(OURS);
      fake.change("vms", WORKER_1, { $pool: POOL_LYON, $container: POOL_LYON });
      await provider.readInstance(inventory, OURS, signal);
      fake.dropPool(POOL_LYON);
      const [, presence] = await look(OURS);
      expect(summarise(presence)).toBe("unknown notCovered");
    });

    test("remembers that a VM was being migrated, which the next list may lack", async () => {
      await look(OURS);
      fake.change("vms", WORKER_1, { current_operations: { task: "migrate_send" } });
      await read(WORKER_1);
      fake.remove("vms", WORKER_1);
      const [, presence] = await look(OURS);
      expect(summarise(presence)).toBe("unknown notCovered");
    });
  });

  describe("listInventory()", () => {
    test("takes three requests for all Nodes, filtered by both forms of their IDs", async () => {
      const inventory = await provider.listInventory(
        [OURS, { name: "x", systemUuid: UEFI.systemUuid ?? "" }],
        signal,
      );
      expect(fake.paths.map((path) => path.split("?")[0]).sort()).toEqual([
        "/hosts",
        "/pools",
        "/vms",
      ]);
      const vms = fake.paths.find((path) => path.startsWith("/vms")) ?? "";
      expect(new URLSearchParams(vms.split("?")[1]).get("filter")).toBe(
        `id:|(${WORKER_1_SWAPPED} ${WORKER_1})`,
      );
      expect(vms).not.toContain("%20");
      expect(vms).toContain("fields=id%2Cname_label%2Cpower_state");
      expect([...inventory.instances.keys()]).toEqual([WORKER_1]);
    });

    test("asks the same question whatever the order of the Nodes", async () => {
      const nodes = [OURS, { name: "x", systemUuid: POOL_LYON }];
      await provider.listInventory(nodes, signal);
      await provider.listInventory(nodes.toReversed(), signal);
      expect(new Set(fake.paths.filter((path) => path.startsWith("/vms"))).size).toBe(1);
    });

    test.each([0, 201])("lists all VMs when %d Nodes are cared about", async (count) => {
      const many = Array.from({ length: count }, (_, at) => ({
        name: `n${at}`,
        systemUuid: `cf910379-9c51-46ef-af3f-${String(at).padStart(12, "0")}`,
      }));
      const inventory = await provider.listInventory(many, signal);
      expect(fake.paths.find((path) => path.startsWith("/vms"))).not.toContain("filter");
      expect(inventory.instances.size).toBe(17);
      expect(fake.seen).toHaveLength(3);
    });

    test("filters for 200 Nodes within the 16 KiB that the server takes", async () => {
      const many = Array.from({ length: 200 }, (_, at) => ({
        name: `n${at}`,
        systemUuid: `cf910379-9c51-46ef-af3f-${String(at).padStart(12, "0")}`,
      }));
      await provider.listInventory(many, signal);
      const path = fake.paths.find((one) => one.startsWith("/vms")) ?? "";
      expect(path).toContain("filter");
      expect(path.length).toBeLessThan(15_800);
    });

    test("tells each pool's coverage, and keeps telling of a pool that is lost", async () => {
      const [before] = await look(OURS);
      expect(before.coverage.get(POOL_PARIS)).toEqual({ complete: true, name: "pool-paris" });
      fake.dropPool(POOL_PARIS);
      const [after, presence] = await look(OURS);
      expect(after.coverage.get(POOL_LYON)?.complete).toBe(true);
      expect(after.coverage.get(POOL_PARIS)).toMatchObject({ complete: false, name: "pool-paris" });
      expect(summarise(presence)).toBe("unknown notCovered");
    });

    test("does not count a pool as covered whose master host is not listed", async () => {
      fake.remove("hosts", "542f1cb1-a19f-4d16-a9da-6d7d791ca664");
      const [inventory] = await look(OURS);
      expect(inventory.coverage.get(POOL_PARIS)?.complete).toBe(false);
    });

    test("survives one VM that cannot be read, and says which", async () => {
      fake.change("vms", WORKER_1, { CPUs: "many" });
      const [inventory, presence] = await look(OURS, []);
      expect(inventory.instances.size).toBe(16);
      expect(inventory.undecodable.get(WORKER_1)).toContain("CPUs");
      expect(summarise(presence)).toBe("unknown undecodable");
    });

    test("rejects with a CloudError when one of the lists fails", async () => {
      fake.answer = ({ path }) =>
        path.startsWith("/pools") ? toResponse(loadCapture("auth-badtoken")) : undefined;
      await expect(provider.listInventory([], signal)).rejects.toMatchObject({ kind: "denied" });
    });

    test("picks addresses by network name with five requests", async () => {
      provider = create({ addresses: { network: "k8s-nodes" } });
      const [inventory] = await look(OURS);
      expect(fake.seen).toHaveLength(5);
      expect(inventory.instances.get(WORKER_1)?.addresses.map(({ address }) => address)).toEqual(
        expectedOnNetwork(),
      );
      const read = await provider.readInstance(inventory, OURS, signal);
      expect(read.kind === "present" && read.instance.addresses).toEqual(
        inventory.instances.get(WORKER_1)?.addresses ?? [],
      );
    });

    /** Which devices of the worker are in the network is the captures' business. */
    function expectedOnNetwork(): string[] {
      const network = fake
        .list("networks")
        .find((one) => one["name_label"] === "k8s-nodes" && one["$pool"] === POOL_PARIS);
      const vif = fake
        .list("vifs")
        .find((one) => one["$VM"] === WORKER_1 && one["$network"] === network?.id);
      return vif?.["device"] === "1"
        ? ["10.100.0.21", "2001:db8:100::21"]
        : vif?.["device"] === "0"
          ? ["10.0.0.51"]
          : [];
    }
  });

  describe("findInstance()", () => {
    test("takes no byte-swapped hit any more once there is a VM as reported", async () => {
      let [inventory] = await look(UEFI);
      await provider.readInstance(inventory, UEFI, signal);
      expect(summarise(provider.findInstance(inventory, UEFI))).toBe(
        `present ${WORKER_1} swappedSystemUuid`,
      );
      const vm = fake.list("vms").find(({ id }) => id === WORKER_1);
      fake.list("vms").push({ ...vm, id: WORKER_1_SWAPPED });
      await provider.readInstance(inventory, UEFI, signal);
      // As when its pool is lost.
      fake.remove("vms", WORKER_1_SWAPPED);
      inventory = await provider.listInventory([UEFI], signal);
      expect(summarise(provider.findInstance(inventory, UEFI))).toBe("unknown notListed");
    });

    test.each([
      ["C-02 finds by provider ID", OURS, `present ${WORKER_1} providerId`],
      ["C-02 finds by system UUID in any case", BY_UUID, `present ${WORKER_1} systemUuid`],
      ["does not take a byte-swapped hit from the list alone", UEFI, "unknown notListed"],
      [
        "accepts a VM that moved to another pool",
        { name: "w1", providerId: `xenorchestra://${POOL_LYON}/${WORKER_1}` },
        `present ${WORKER_1} providerId`,
      ],
      [
        "C-02 never says absent",
        {
          name: "w1",
          providerId: `xenorchestra://${POOL_PARIS}/11111111-9c51-46ef-af3f-4a51129ecb9e`,
        },
        "unknown notListed",
      ],
      [
        "C-01 knows a malformed provider ID",
        { name: "w1", providerId: "xenorchestra://x" },
        "unknown malformedProviderId",
      ],
      ["leaves a foreign provider ID alone", { name: "w1", providerId: "rke2://w1" }, "foreign"],
      ["needs something to look up by", { name: "w1" }, "unknown noIdentity"],
      [
        "refuses a system UUID that is none",
        { name: "w1", systemUuid: "Not Settable" },
        "unknown noIdentity",
      ],
    ] as const)("%s", async (_title, node: NodeIdentity, expected) => {
      const [, presence] = await look(node);
      expect(summarise(presence)).toBe(expected);
      expect(fake.seen).toHaveLength(3);
    });

    test("C-05 two VMs with one name are no matter: names are never looked up", async () => {
      const [, presence] = await look({ name: "dup-name" });
      expect(summarise(presence)).toBe("unknown noIdentity");
    });

    test("C-04 shows labels, zone, type and details of a running VM", async () => {
      const [, presence] = await look(OURS);
      expect(presence.kind === "present" && presence.instance).toMatchObject({
        providerId: OURS.providerId,
        name: "k8s-worker-1",
        state: "running",
        region: POOL_PARIS,
        zone: HOST_PARIS_2,
        instanceType: "16vCPU-16GB",
        labels: {
          "vm.k8s.xenorchestra/name_label": "k8s-worker-1",
          "topology.k8s.xenorchestra/pool_id": POOL_PARIS,
          "topology.k8s.xenorchestra/pool_name_label": "pool-paris",
          "topology.k8s.xenorchestra/host_id": HOST_PARIS_2,
          "topology.k8s.xenorchestra/host_name_label": "xcp-par-2",
        },
        details: {
          vmName: "k8s-worker-1",
          powerState: "Running",
          hostName: "xcp-par-2",
          cpus: "16",
          memory: "16 GiB",
        },
      });
    });

    test("leads to the page of a VM in Xen Orchestra", async () => {
      const [, presence] = await look(OURS);
      if (presence.kind !== "present") throw new Error("the VM is present");
      expect(provider.toPage?.(presence.instance)).toMatch(
        new RegExp(`^http://127\\.0\\.0\\.1:\\d+/#/vms/${presence.instance.id}/general$`),
      );
    });
  });

  describe("readInstance()", () => {
    test("C-02 reads by provider ID a VM that the list lacked", async () => {
      const inventory = await provider.listInventory([BY_UUID], signal);
      const presence = await provider.readInstance(inventory, OURS, signal);
      expect(summarise(presence)).toBe(`present ${WORKER_1} providerId`);
    });

    test("accepts the byte-swapped UUID only after a 404 for the other, and remembers it", async () => {
      const [inventory] = await look(UEFI);
      const before = listAsked().length;
      const read = await provider.readInstance(inventory, UEFI, signal);
      expect(summarise(read)).toBe(`present ${WORKER_1} swappedSystemUuid`);
      expect(listAsked().slice(before)).toEqual([`/vms/${WORKER_1_SWAPPED}`]);
      expect(summarise(provider.findInstance(inventory, UEFI))).toBe(
        `present ${WORKER_1} swappedSystemUuid`,
      );
    });

    test("asks for the byte-swapped UUID when the list does not show it", async () => {
      fake.collections["vms"] = fake.list("vms").filter(({ id }) => id !== WORKER_1);
      const [inventory] = await look(UEFI);
      const worker = loadCapture("vm-k8s-worker-1-cf91").body;
      fake.answer = ({ path }) => (path === `/vms/${WORKER_1}` ? Response.json(worker) : undefined);
      const read = await provider.readInstance(inventory, UEFI, signal);
      expect(summarise(read)).toBe(`present ${WORKER_1} swappedSystemUuid`);
    });

    test.each([401, 403, 500, 404] as const)(
      "C-03 does not try the byte-swapped UUID after an answer %d that is not about the VM",
      async (status) => {
        const [inventory] = await look(UEFI);
        fake.answer = () =>
          new Response("<html>", { status, headers: { "content-type": "text/html" } });
        const read = await provider.readInstance(inventory, UEFI, signal);
        expect(read.kind).toBe("unknown");
        expect(summarise(provider.findInstance(inventory, UEFI))).toBe("unknown notListed");
      },
    );

    test("C-02 says notFound when neither UUID is known, and notCovered while a pool is away", async () => {
      const node = { name: "w1", systemUuid: "12345678-2222-3333-4444-555555555555" };
      const [inventory] = await look(node);
      expect(await provider.readInstance(inventory, node, signal)).toMatchObject({
        reason: "notFound",
        message: expect.stringMatching(
          /system UUID 12345678-.*, nor with 78563412-.*byte order.*; check/,
        ),
      });
      fake.dropPool(POOL_LYON);
      const [later] = await look(node);
      expect(await provider.readInstance(later, node, signal)).toMatchObject({
        reason: "notCovered",
        message: expect.stringContaining("it may be in pool pool-lyon: the pool is disconnected"),
      });
    });

    test("names both VMs when the kubelet reports another than the provider ID, which is gone", async () => {
      const gone = { name: "w1", providerId: `xenorchestra://${POOL_PARIS}/${POOL_LYON}` };
      const node = { ...gone, systemUuid: WORKER_1 };
      const [inventory] = await look(node);
      const message = `names VM ${POOL_LYON}, but the kubelet reports the system UUID of VM ${WORKER_1}`;
      expect(await provider.readInstance(inventory, node, signal)).toMatchObject({
        reason: "ambiguous",
        message: expect.stringContaining(message),
      });
    });

    test("asks nothing for foreign and malformed provider IDs", async () => {
      const inventory = await provider.listInventory([], signal);
      const before = fake.seen.length;
      const foreign = { name: "n", providerId: "aws:///i-1" };
      expect(summarise(await provider.readInstance(inventory, foreign, signal))).toBe("foreign");
      const malformed = { name: "n", providerId: `xenorchestra://${WORKER_1}` };
      expect(summarise(await provider.readInstance(inventory, malformed, signal))).toBe(
        "unknown malformedProviderId",
      );
      expect(fake.seen).toHaveLength(before);
    });

    test("rejects only when the signal aborts", async () => {
      const inventory = await provider.listInventory([], signal);
      const stop = new AbortController();
      fake.answer = () => new Promise<Response>(() => {});
      const read = provider.readInstance(inventory, OURS, stop.signal);
      stop.abort(new Error("stop"));
      await expect(read).rejects.toThrow("stop");
    });
  });
});

const PARIS: NodeIdentity = { name: "w1", providerId: `xenorchestra://${POOL_PARIS}/${WORKER_1}` };

function createWithPools(pools?: readonly string[]): Provider {
  return xenOrchestra.create(toSettings(fake.url, pools && { pools }), toDeps());
}

/** What an inventory, and then the cloud itself, say of a Node. */
async function ask(provider: Provider, node: NodeIdentity): Promise<string[]> {
  const inventory = await provider.listInventory([node], signal);
  const found = provider.findInstance(inventory, node);
  const read = await provider.readInstance(inventory, node, signal);
  return [found.kind, read.kind];
}

describe("XenOrchestraProvider with the setting pools", () => {
  beforeEach(() => {
    fake = new FakeXenOrchestra();
  });
  afterEach(() => fake.stop());

  const POOLLESS = { name: "w1", providerId: `xenorchestra:///${WORKER_1}` };
  const BY_UUID = { name: "w1", systemUuid: WORKER_1 };
  test.each<[string, readonly string[] | undefined, boolean]>([
    ["all without the setting", undefined, true],
    ["by UUID", [POOL_PARIS], true],
    ["by UUID in another form", [POOL_PARIS.toUpperCase()], true],
    ["by name", ["pool-paris"], true],
    ["by name and UUID", [POOL_LYON, "pool-paris"], true],
    ["not those of another pool", [POOL_LYON], false],
    ["none by a name that no pool has", ["no such pool"], false],
    ["none by part of a name", ["pool-par"], false],
  ])("chooses Nodes %s", async (_title, pools, isOurs) => {
    const provider = createWithPools(pools);
    for (const node of [PARIS, POOLLESS, BY_UUID]) {
      expect(await ask(provider, node)).toEqual(Array(2).fill(isOurs ? "present" : "foreign"));
    }
  });

  test("knows a UUID before any pool is shown, and a name only afterwards", async () => {
    fake.dropPool(POOL_PARIS);
    expect(await ask(createWithPools([POOL_PARIS]), PARIS)).toEqual(["unknown", "unknown"]);
    expect(await ask(createWithPools(["pool-paris"]), PARIS)).toEqual(["foreign", "foreign"]);
  });

  test("never calls a VM gone whose Node is not ours", async () => {
    for (const pools of [[POOL_LYON], ["no such pool"]]) {
      const provider = createWithPools(pools);
      await provider.listInventory([PARIS], signal);
      fake.remove("vms", WORKER_1);
      expect(await ask(provider, PARIS)).toEqual(["foreign", "foreign"]);
      // Without a pool nothing tells whose it is.
      const node = { name: "w1", providerId: `xenorchestra:///${WORKER_1}` };
      expect(await ask(provider, node)).toEqual(["foreign", "foreign"]);
    }
  });

  test("looks at every pool for the VM of a Node of ours, and keeps one that is elsewhere", async () => {
    const provider = createWithPools([POOL_PARIS]);
    await provider.listInventory([PARIS], signal);
    const moved = { ...fake.list("vms").find(({ id }) => id === WORKER_1), id: WORKER_1 };
    fake.remove("vms", WORKER_1);
    fake.list("vms").push({ ...moved, $pool: POOL_LYON });
    const inventory = await provider.listInventory([PARIS], signal);
    expect(provider.findInstance(inventory, PARIS)).toMatchObject({
      kind: "present",
      instance: { region: POOL_LYON },
      caution: expect.stringContaining("pools"),
    });
    // It vanishes there while that pool is lost.
    fake.dropPool(POOL_LYON);
    expect(await ask(provider, PARIS)).toEqual(["unknown", "unknown"]);
  });

  test("is sure that a VM is gone only when the pools of others answer, too", async () => {
    const provider = createWithPools([POOL_PARIS]);
    await provider.listInventory([PARIS], signal);
    fake.remove("vms", WORKER_1);
    expect(await ask(provider, PARIS)).toEqual(["unknown", "absent"]);
    fake.dropPool(POOL_LYON);
    expect(await ask(provider, PARIS)).toEqual(["unknown", "unknown"]);
  });

  test("shows what it cannot find as a part that is not covered, and others as they are", async () => {
    const provider = createWithPools(["no such pool", POOL_PARIS]);
    const { coverage } = await provider.listInventory([PARIS], signal);
    expect(coverage.get("no such pool")).toMatchObject({ complete: false });
    expect(coverage.get(POOL_PARIS)?.complete).toBe(true);
    expect(coverage.get(POOL_LYON)?.complete).toBe(true);
    const inspection = await provider.inspect?.(signal);
    expect(inspection?.findings).toContainEqual(
      expect.objectContaining({
        level: "warning",
        message: expect.stringContaining("no such pool"),
      }),
    );
  });

  test("does not name a pool that is not ours because a Node of others does", async () => {
    const provider = createWithPools([POOL_LYON]);
    fake.dropPool(POOL_PARIS);
    const { coverage } = await provider.listInventory([PARIS], signal);
    expect(coverage.has(POOL_PARIS)).toBe(false);
  });

  test("takes other pools while it works, without a new connection", async () => {
    const deps = toDeps();
    const first = toSettings(fake.url, { pools: [POOL_LYON] });
    const { provider, change } = createChanging(xenOrchestra, first, deps);
    expect(await ask(provider, PARIS)).toEqual(["foreign", "foreign"]);
    const changed = toSettings(fake.url, { pools: [POOL_PARIS] });
    expect(change(changed)).toBe("sameCloud");
    expect(await ask(provider, PARIS)).toEqual(["present", "present"]);
  });

  test("keeps Nodes of a pool that is named by its name and was removed, through a change of settings", async () => {
    const deps = toDeps();
    const first = toSettings(fake.url, { pools: ["pool-lyon"] });
    const changing = createChanging(xenOrchestra, first, deps);
    const { provider } = changing;
    const vm = fake.list("vms").find((one) => one["$pool"] === POOL_LYON);
    const node = { name: "n", providerId: `xenorchestra://${POOL_LYON}/${vm?.id}` };
    expect(await ask(provider, node)).toEqual(["present", "present"]);
    await until("connections were read", () =>
      fake.paths.some((one) => one.startsWith("/servers")),
    );
    fake.dropPool(POOL_LYON);
    fake.collections["servers"] = fake.list("servers").filter((one) => one["poolId"] !== null);
    await until("the pool is removed", async () => {
      await deps.clock.advance(60_000);
      return !(await provider.listInventory([node], signal)).coverage.has(POOL_LYON);
    });
    const isForeign = async (): Promise<boolean> => (await ask(provider, node)).includes("foreign");
    expect(await isForeign()).toBe(false);
    const change = (more: object): unknown => changing.change(toSettings(fake.url, more));
    change({ pools: ["pool-lyon"], zoneLabelFrom: "pool" });
    expect(await isForeign()).toBe(false);
    change({ pools: ["another name"] });
    expect(await isForeign()).toBe(true);
    change({ pools: ["pool-lyon"] });
    expect(await isForeign()).toBe(false);
  });
});

describe("xenOrchestra", () => {
  test("turns a file into a provider without asking the cloud", () => {
    const file = { url: "https://127.0.0.1:1", token: "t", refreshInterval: "10s" };
    const { settings } = xenOrchestra.parseConfig(file, {});
    if (settings === undefined) throw new Error("no settings");
    const provider = xenOrchestra.create(settings, toDeps());
    expect(provider).toMatchObject({
      name: xenOrchestra.name,
      refreshIntervalMs: 10_000,
      providedNodeIps: "trusted",
    });
  });
});

function listPaths(): string[] {
  return fake.paths.map((path) => decodeURIComponent(path));
}

async function followed(provider: Provider): Promise<Provider> {
  provider.machines?.follow();
  await provider.listInventory([NODE], signal);
  return provider;
}

describe("lazy machines", () => {
  beforeEach(() => {
    fake = new FakeXenOrchestra();
  });
  afterEach(() => fake.stop());

  test("no file of the provider imports machines before they are followed", async () => {
    const values = await listLoaded("lib/providers/xenorchestra/mod.ts");
    expect(values.filter((file) => file.includes("/machines/"))).toEqual([]);
    expect(values).toContain("lib/providers/xenorchestra/inventory.ts");
  });

  test("follow() asks for our machines beside those of Nodes, and for the fields that they need", async () => {
    await followed(createProvider(fake));
    const vms = listPaths().find((path) => path.startsWith("/vms?"));
    expect(vms).toContain("name_label:/^vino-/");
    expect(vms).toContain("blockedOperations");
    expect(listPaths().find((path) => path.startsWith("/hosts?"))).toContain("enabled");
  });

  test("without it lists stay as they were", async () => {
    await createProvider(fake).listInventory([NODE], signal);
    expect(listPaths().join(" ")).not.toMatch(/vino|blockedOperations|enabled/);
  });

  test("observe() waits for an inventory that shows machines", async () => {
    const provider = createProvider(fake);
    await provider.listInventory([NODE], signal);
    const look = (): unknown => provider.machines?.observe({ isForChange: false }, signal);
    await expect(look()).rejects.toThrow("Waiting for the first inventory");
    await followed(provider);
    expect(await look()).toMatchObject({ isForChange: false });
  });

  test("new settings follow machines, too", async () => {
    const deps = toDeps();
    const settings = toSettings(fake.url);
    const { provider, change } = createChanging(xenOrchestra, settings, deps);
    await followed(provider);
    change(toSettings(fake.url, { token: "other" }));
    fake.seen.length = 0;
    await provider.listInventory([NODE], signal);
    expect(listPaths().find((path) => path.startsWith("/vms?"))).toContain("name_label:/^vino-/");
  });
});
