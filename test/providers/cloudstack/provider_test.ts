/**
 * The provider on the simulated CloudStack: what it finds, what it proves, and what cannot deceive it.
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Presence, Provider } from "../../../lib/cloud/provider.ts";
import { type Clock, systemClock } from "../../../lib/core/clock.ts";
import { Fence } from "../../../lib/core/fence.ts";
import { type Logger, silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { type ChangingProvider, createChanging } from "../../support/cloud/changing_provider.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { toSighting } from "../../../lib/controllers/fleet/fleet_member.ts";
import { cloudStack } from "../../../lib/providers/cloudstack/mod.ts";
import {
  type CloudStackSimulator,
  createDemoWorld,
  createFleet,
  startCloudStackSimulator,
  type World,
} from "../../../lib/simulator/cloudstack/mod.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import type { User } from "../../../lib/simulator/cloudstack/access/accounts.ts";
import { Memory } from "../../../lib/providers/cloudstack/provider.ts";
import { DELETION } from "../../../lib/cloud/settings/sections.ts";
import { LOAD_BALANCERS } from "../../../lib/cloud/pools/settings.ts";
import { parseProviderConfig } from "../../../lib/config/provider_config.ts";
import { ConfigError } from "../../../lib/core/errors.ts";

const { world: DEMO, machines, accountIds, projectId } = createDemoWorld();
const NAMES = [...machines.keys()];
const [GONE = ""] = NAMES;
const signal = new AbortController().signal;
const UNKNOWN = { kind: "unknown" };

let simulator: CloudStackSimulator;
let stopped: AbortController;

type Settings = Parameters<typeof cloudStack.create>[0];

/** A provider for the simulator, as the settings say. */
function create(over: object = {}, clock?: Clock, log?: Logger): Provider {
  return createToChange(over, clock, log).provider;
}

function createToChange(
  over: object = {},
  clock: Clock = systemClock,
  log: Logger = silentLogger,
): ChangingProvider<Settings> {
  const { url: apiUrl, apiKey, secretKey } = simulator;
  const { settings, issues } = cloudStack.parseConfig({ apiUrl, apiKey, secretKey, ...over }, {});
  if (settings === undefined) throw new Error(`Cannot use the settings: ${JSON.stringify(issues)}`);
  return createChanging(cloudStack, settings, {
    clock,
    log,
    metrics: new MetricsRegistry(),
    signal: stopped.signal,
    fence: new Fence(),
  });
}

/** Another world, for this test. */
async function restart(world: World): Promise<void> {
  await simulator.stop();
  simulator = await startCloudStackSimulator({ clock: systemClock, world });
}

/** The ID of a Node's VM; Nodes are called like their VMs, in lower case, with or without a domain. */
function findId(node: string): string {
  const names = new Set([node, node.split(".")[0]]);
  const vm = [...simulator.state.vms.values()].find(({ name }) => names.has(name.toLowerCase()));
  if (vm === undefined) throw new Error(`Cannot find the VM of ${node}`);
  return vm.id;
}

/** The Nodes of the demo, each with its provider ID. */
function toNodes(): NodeIdentity[] {
  return NAMES.map((name) => ({ name, providerId: `external-cloudstack://${findId(name)}` }));
}

/** Takes an inventory of all Nodes, changes the world, takes another one, and reads the first Node. */
async function readAfter(
  change: (vmId: string) => unknown,
  provider: Provider = create(),
): Promise<Presence> {
  const nodes = toNodes();
  await provider.listInventory(nodes, signal);
  await change(findId(GONE));
  const inventory: Inventory = await provider.listInventory(nodes, signal);
  const [node = { name: "" }] = nodes;
  return await provider.readInstance(inventory, node, signal);
}

/** Files with the keys of the root administrator, who sees every VM. `using` removes them. */
class RootKeyFiles implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "provider-"));
  readonly settings: { readonly apiKeyFile: string; readonly secretKeyFile: string } = {
    apiKeyFile: join(this.#folder, "api"),
    secretKeyFile: join(this.#folder, "secret"),
  };

  constructor() {
    const root = [...simulator.state.users.values()].find(({ username }) => username === "admin");
    if (root === undefined) throw new Error("Cannot find the root administrator");
    this.write(root);
  }

  write({ apiKey, secretKey }: Pick<User, "apiKey" | "secretKey">): void {
    writeFileSync(this.settings.apiKeyFile, apiKey);
    writeFileSync(this.settings.secretKeyFile, secretKey);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }
}

describe("provider", () => {
  beforeEach(async () => {
    stopped = new AbortController();
    simulator = await startCloudStackSimulator({ clock: systemClock, world: DEMO });
  });
  afterEach(async () => {
    stopped.abort();
    await simulator.stop();
  });

  describe("CloudStackProvider", () => {
    test("finds every Node by its name at the cost of one list", async () => {
      const provider = create();
      const nodes = [...machines].map(([name, { systemUuid = "" }]) => ({ name, systemUuid }));
      const inventory = await provider.listInventory(nodes, signal);
      for (const node of nodes) {
        const found = provider.findInstance(inventory, node);
        expect(found).toMatchObject({ kind: "present", matchedBy: "name" });
      }
      expect(simulator.requests.entries.map(({ command }) => command)).toEqual([
        "listVirtualMachines",
      ]);
    });

    test("finds no VM by its name for a Node that is newer than the list: that may be the one before", async () => {
      const provider = create();
      const before: NodeIdentity = { name: GONE, systemUuid: "1".repeat(32) };
      const after: NodeIdentity = { name: GONE, systemUuid: "2".repeat(32) };
      const [nobody, older, newer] = [
        await provider.listInventory([], signal),
        await provider.listInventory([before], signal),
        await provider.listInventory([after], signal),
      ];
      const find = (inventory: Inventory): Presence => provider.findInstance(inventory, after);
      const tooOld = { kind: "unknown", reason: "noInventory" };
      expect(find(nobody)).toMatchObject(tooOld);
      expect(find(older)).toMatchObject(tooOld);
      expect(find(newer)).toMatchObject({ kind: "present", matchedBy: "name" });
      const providerId = `external-cloudstack://${findId(GONE)}`;
      const known = provider.findInstance(older, { ...after, providerId });
      expect(known).toMatchObject({ kind: "present", matchedBy: "providerId" });
    });

    test("of a list from before Landfall knew the Nodes, none is missing that is found by its name", async () => {
      const provider = create();
      // At a start, the first inventory usually arrives before the Nodes.
      const first = await provider.listInventory([], signal);
      const nodes = NAMES.map((name) => ({ name, providerId: "external-cloudstack" }));
      const sightings = nodes.map((node) => toSighting(provider.findInstance(first, node)));
      expect(new Set(sightings)).toEqual(new Set(["unknown"]));
      const next = await provider.listInventory(nodes, signal);
      for (const node of nodes) {
        expect(toSighting(provider.findInstance(next, node))).toBe("present");
      }
    });

    test("finds a new Node in an older list by its name if it reports the ID of that VM", async () => {
      const provider = create();
      const older = await provider.listInventory([], signal);
      const id = findId(GONE);
      for (const systemUuid of [id, id.toUpperCase()]) {
        const found = provider.findInstance(older, { name: GONE, systemUuid });
        expect(found).toMatchObject({ kind: "present", matchedBy: "name", instance: { id } });
      }
      // The ID alone finds nothing: other hypervisors report other IDs.
      const other = provider.findInstance(older, { name: "another", systemUuid: id });
      expect(other).toMatchObject({ kind: "unknown", reason: "notListed" });
      for (const systemUuid of [findId(NAMES[1] ?? ""), "", "x"]) {
        const found = provider.findInstance(older, { name: GONE, systemUuid });
        expect(found).toMatchObject({ kind: "unknown", reason: "noInventory" });
      }
    });

    test("keeps the instances, and their map, while nothing changes", async () => {
      const provider = create();
      const before = await provider.listInventory([], signal);
      const same = await provider.listInventory([], signal);
      expect(same.instances).toBe(before.instances);
      simulator.state.setState(findId(GONE), "Stopped");
      const after = await provider.listInventory([], signal);
      const changed = [...after.instances].filter(([id, one]) => before.instances.get(id) !== one);
      expect(changed.map(([id]) => id)).toEqual([findId(GONE)]);
    });

    test("takes an unchanged list of several pages for a new observation, with every zone", async () => {
      await restart(createFleet(1_200).world);
      const clock = new ManualClock(Date.now());
      const provider = create({}, clock);
      const before = await provider.listInventory([], signal);
      await clock.advance(30_000);
      const same = await provider.listInventory([], signal);
      expect(same.observedAtMs - before.observedAtMs).toBe(30_000);
      expect(same.instances).toBe(before.instances);
      expect(same.coverage).toEqual(before.coverage);
      expect(same.coverage.size).toBe(3);
      const last = [...simulator.state.vms.keys()].at(-1) ?? "";
      simulator.state.setState(last, "Stopped");
      const after = await provider.listInventory([], signal);
      const changed = [...after.instances].filter(([id, one]) => before.instances.get(id) !== one);
      expect(changed.map(([id]) => id)).toEqual([last]);
    });

    test("an unchanged list that fails or loses a page is no new observation", async () => {
      await restart(createFleet(1_200).world);
      const provider = create();
      await provider.listInventory([], signal);
      simulator.faults.set({ kind: "html", status: 502 }, { times: 1 });
      await expect(provider.listInventory([], signal)).rejects.toMatchObject({
        kind: "unreachable",
      });
      simulator.faults.set({ kind: "missingPage", page: 2 }, { times: 1 });
      const holed = await provider.listInventory([], signal);
      expect([...holed.coverage.values()].every(({ complete }) => !complete)).toBe(true);
      const whole = await provider.listInventory([], signal);
      expect(whole.instances.size).toBe(1_200);
      expect([...whole.coverage.values()].every(({ complete }) => complete)).toBe(true);
    });

    test("reads a list of several pages as one", async () => {
      await restart(createFleet(1_200).world);
      const inventory = await create().listInventory([], signal);
      expect(inventory.instances.size).toBeGreaterThanOrEqual(1_200);
      expect(simulator.requests.entries).toHaveLength(3);
    });

    test.each([{ projectId }, { projectId: "platform" }])(
      "looks into the project of %p",
      async (over) => {
        const inventory = await create(over).listInventory([], signal);
        const shown = [...inventory.instances.values()];
        expect(shown.length).toBeGreaterThan(0);
        expect(shown.every(({ details }) => details["projectId"] === projectId)).toBe(true);
        expect(inventory.instances.has(findId(GONE))).toBe(false);
      },
    );

    test("names a project that is not there", async () => {
      const list = create({ projectId: "nowhere" }).listInventory([], signal);
      await expect(list).rejects.toThrow('no project with the name "nowhere"');
    });
  });

  describe("readInstance()", () => {
    test.each<[string, (vmId: string) => unknown]>([
      ["is expunged", (vmId) => simulator.state.expunge(vmId)],
    ])("proves that a VM is gone that %s", async (_what, change) => {
      expect(await readAfter(change)).toMatchObject({ kind: "absent" });
    });

    test("proves that a VM is gone that was purged after it was removed", async () => {
      const provider = create();
      const nodes = toNodes();
      const before = await provider.listInventory(nodes, signal);
      const [node = { name: "" }] = nodes;
      simulator.state.expunge(findId(GONE));
      await provider.readInstance(before, node, signal);
      simulator.state.purge(findId(GONE));
      const inventory = await provider.listInventory(nodes, signal);
      expect(await provider.readInstance(inventory, node, signal)).toMatchObject({
        kind: "absent",
      });
    });

    test("proves nothing of a VM whose ID is forgotten at once: it may be newer than a backup", async () => {
      const said = await readAfter((vmId) => simulator.state.purge(vmId));
      expect(said).toMatchObject({ kind: "unknown", reason: "notCovered" });
      expect(JSON.stringify(said)).toContain("restored from a backup");
    });

    test("proves nothing of a VM that it never saw, and says what to do", async () => {
      simulator.state.expunge(findId(GONE));
      const said = await readAfter(() => undefined);
      expect(said).toMatchObject({ kind: "unknown", reason: "notCovered" });
      expect(JSON.stringify(said)).toContain("delete the Node");
    });

    // Each of these would look like a VM that is gone to a program that takes an empty list or a 431 for it.
    test.each<[string, (vmId: string) => unknown]>([
      ["the API answers 401", () => simulator.faults.set({ kind: "error", code: 401 })],
      [
        "the API answers 431 about something else",
        () => {
          simulator.faults.set({ kind: "error", code: 431, text: "Invalid parameter" });
        },
      ],
      ["the API answers 530", () => simulator.faults.set({ kind: "error", code: 530 })],
      ["the API answers 531", () => simulator.faults.set({ kind: "error", code: 531 })],
      ["every list is empty", () => simulator.faults.set({ kind: "emptyList" })],
      ["a proxy answers 502", () => simulator.faults.set({ kind: "html", status: 502 })],
      ["a proxy answers 404", () => simulator.faults.set({ kind: "html", status: 404 })],
      ["the answer breaks off", () => simulator.faults.set({ kind: "halfBody" })],
    ])("proves nothing while %s", async (_what, change) => {
      const nodes = toNodes();
      const provider = create();
      const inventory = await provider.listInventory(nodes, signal);
      simulator.state.expunge(findId(GONE));
      change(findId(GONE));
      const [node = { name: "" }] = nodes;
      const said = await provider.readInstance(inventory, node, signal);
      expect(said).toMatchObject(UNKNOWN);
    });

    test.each<[string, (vmId: string) => unknown]>([
      [
        "runs, while one list lacks it",
        () => simulator.faults.set({ kind: "emptyList" }, { times: 1 }),
      ],
      [
        "runs, while a page of the list is missing",
        () => simulator.faults.set({ kind: "missingPage", page: 1 }, { times: 1 }),
      ],
      ["is stopped", (vmId) => simulator.state.setState(vmId, "Stopped")],
    ])("finds a VM that %s", async (_what, change) => {
      expect(await readAfter(change)).toMatchObject({ kind: "present" });
    });

    test("proves nothing with trustEmptyAnswer: false, and says what to do", async () => {
      const provider = create({ deletion: { trustEmptyAnswer: false } });
      const said = await readAfter((vmId) => simulator.state.expunge(vmId), provider);
      expect(said).toMatchObject({ kind: "unknown", reason: "notCovered" });
      expect(JSON.stringify(said)).toContain("delete the Node");
    });

    test("proves nothing when the user sees no other Node's VM any more", async () => {
      const provider = create();
      const nodes = toNodes();
      await provider.listInventory(nodes, signal);
      for (const name of NAMES) simulator.state.assign(findId(name), accountIds.ops);
      const inventory = await provider.listInventory(nodes, signal);
      for (const node of nodes) {
        expect(await provider.readInstance(inventory, node, signal)).toMatchObject(UNKNOWN);
      }
    });

    test("proves nothing of another CloudStack, which has none of the VMs", async () => {
      const provider = create();
      const nodes = toNodes();
      const before = await provider.listInventory(nodes, signal);
      for (const name of NAMES) simulator.state.purge(findId(name));
      const [node = { name: "" }] = nodes;
      const inventory = await provider.listInventory(nodes, signal);
      expect(before.instances.size).toBeGreaterThan(inventory.instances.size);
      expect(await provider.readInstance(inventory, node, signal)).toMatchObject(UNKNOWN);
    });

    test("finds a VM that was moved to a project, and does not take it for gone", async () => {
      const [account] = [...simulator.state.projects.values()].map((one) => one.accountId);
      const said = await readAfter((vmId) => simulator.state.assign(vmId, account ?? ""));
      expect(said).not.toMatchObject({ kind: "absent" });
    });

    test.each(["user", "domainAdmin", "admin"] as const)(
      "does not find a VM by its ID in a project that project-id does not name, as the %s of the list",
      async (type) => {
        const accounts = (DEMO.accounts ?? []).map((one) =>
          one.id === accountIds.acme ? { ...one, type } : one,
        );
        await restart({ ...DEMO, accounts });
        const [account = ""] = [...simulator.state.projects.values()].map((one) => one.accountId);
        const move = (vmId: string): unknown => simulator.state.assign(vmId, account);
        const message = expect.stringContaining(
          `it is in project ${projectId} now; check project-id`,
        );
        expect(await readAfter(move)).toMatchObject({ kind: "unknown", message });
        // A process that has not seen it before, such as `landfall check`.
        const [node = { name: "" }] = toNodes();
        const fresh = create();
        const inventory = await fresh.listInventory([node], signal);
        const said = await fresh.readInstance(inventory, node, signal);
        expect(said.kind).toBe("unknown");
        const own = create({ projectId });
        const shown = await own.listInventory([node], signal);
        expect(await own.readInstance(shown, node, signal)).toMatchObject({ kind: "present" });
      },
    );

    test.each([
      ["nosuch", 1],
      ["", 0],
    ])("warns once of the network %p, in which no VM is", async (network, expected) => {
      const said: string[] = [];
      const log = { ...silentLogger, warn: (message: string) => void said.push(message) };
      const provider = create(network === "" ? {} : { addresses: { network } }, systemClock, log);
      for (let times = 0; times < 2; times += 1) await provider.listInventory(toNodes(), signal);
      expect(said.filter((text) => text.includes("no VM has a network"))).toHaveLength(expected);
    });
  });

  describe("a live machine", () => {
    test("is not taken for a destroyed VM of the same name, which the list still shows", async () => {
      const provider = create();
      const account = simulator.state.accounts.get(accountIds.acme);
      if (account) account.seesDestroyed = true;
      simulator.state.setState(findId(GONE), "Destroyed");
      const inventory = await provider.listInventory([], signal);
      const node = { name: GONE };
      expect(inventory.instances.has(findId(GONE))).toBe(true);
      expect(provider.findInstance(inventory, node)).toMatchObject(UNKNOWN);
      expect(await provider.readInstance(inventory, node, signal)).toMatchObject({
        reason: "notFound",
      });
    });

    test("of an account that the user never saw is not proven gone", async () => {
      simulator.state.assign(findId(GONE), accountIds.ops);
      expect(await readAfter(() => undefined)).toMatchObject(UNKNOWN);
    });

    test("of another CloudStack that was never seen is not proven gone by error 431", async () => {
      const provider = create();
      const elsewhere = "external-cloudstack://0a1b2c3d-0000-4000-8000-00000000000a";
      const node = { name: "worker-elsewhere", providerId: elsewhere };
      const inventory = await provider.listInventory([...toNodes(), node], signal);
      expect(await provider.readInstance(inventory, node, signal)).toMatchObject(UNKNOWN);
    });

    test("that is the only Node is not proven gone by error 431 of another CloudStack", async () => {
      const provider = create();
      const [node = { name: "" }] = toNodes();
      const inventory = await provider.listInventory([node], signal);
      for (const name of NAMES) simulator.state.purge(findId(name));
      expect(await provider.readInstance(inventory, node, signal)).toMatchObject(UNKNOWN);
    });

    test("is not proven gone by error 431 when api-url leads elsewhere since the list", async () => {
      const provider = create();
      const nodes = toNodes();
      const inventory = await provider.listInventory(nodes, signal);
      for (const name of NAMES) simulator.state.purge(findId(name));
      for (const node of nodes) {
        const said = await provider.readInstance(inventory, node, signal);
        expect(said).toMatchObject(UNKNOWN);
      }
    });

    test("that only another account may see is not proven gone after its key files changed", async () => {
      using files = new RootKeyFiles();
      const clock = new ManualClock(Date.now());
      const { provider } = createToChange({ apiKey: "", secretKey: "", ...files.settings }, clock);
      simulator.state.assign(findId(GONE), accountIds.ops);
      const nodes = toNodes();
      const [node = { name: "" }] = nodes;
      const before = await provider.listInventory(nodes, signal);
      expect(before.instances.has(findId(GONE))).toBe(true);
      files.write(simulator);
      await clock.advance(1_000);
      // Its first answer comes with the old keys' inventory, the next one after an inventory of the new keys.
      expect(await provider.readInstance(before, node, signal)).toMatchObject(UNKNOWN);
      const inventory = await provider.listInventory(nodes, signal);
      expect(inventory.instances.has(findId(GONE))).toBe(false);
      expect(await provider.readInstance(inventory, node, signal)).toMatchObject(UNKNOWN);
    });

    test("that only another account may see is not proven gone after keys and settings changed at once", async () => {
      using files = new RootKeyFiles();
      const settings = { apiUrl: simulator.url, ...files.settings };
      const clock = new ManualClock(Date.now());
      const { provider, change } = createToChange(
        { ...settings, apiKey: "", secretKey: "" },
        clock,
      );
      simulator.state.assign(findId(GONE), accountIds.ops);
      const nodes = toNodes();
      const [node = { name: "" }] = nodes;
      await provider.listInventory(nodes, signal);
      // One Secret may hold the settings and both keys: the kubelet replaces all of them at once.
      files.write(simulator);
      const parsed = cloudStack.parseConfig({ ...settings, region: "eu" }, {});
      if (parsed.settings) change(parsed.settings);
      await clock.advance(1_000);
      const inventory = await provider.listInventory(nodes, signal);
      expect(inventory.instances.has(findId(GONE))).toBe(false);
      expect(await provider.readInstance(inventory, node, signal)).toMatchObject(UNKNOWN);
    });

    test("is not proven gone for a domain's administrator while in another account, or in no project", async () => {
      const ops = simulator.state.accounts.get(accountIds.ops);
      const user = [...simulator.state.users.values()].find(
        ({ accountId }) => accountId === ops?.id,
      );
      if (ops === undefined || user === undefined) throw new Error("Cannot find the account");
      simulator.state.accounts.set(ops.id, { ...ops, type: "domainAdmin" });
      const { apiKey, secretKey } = user;
      const platform = [...simulator.state.accounts.values()].find(
        ({ type }) => type === "project",
      );
      const acme = accountIds.acme;
      for (const name of NAMES) simulator.state.assign(findId(name), platform?.id ?? "");
      const provider = create({ apiKey, secretKey, projectId });
      // To this user, projectid=-1 shows only the projects of the own account, and what is in none of them.
      const said = await readAfter((vmId) => simulator.state.assign(vmId, acme), provider);
      expect(said).toMatchObject(UNKNOWN);
      expect(JSON.stringify(said)).toContain("check project-id");
    });

    test("is not taken for a VM of its name that is off, unless it reports its ID or is an old Node", async () => {
      const provider = create();
      // The machine of the Node may be in a project that the settings do not name.
      simulator.state.setState(findId(GONE), "Stopped");
      const find = async (over: Partial<NodeIdentity>): Promise<readonly Presence[]> => {
        const node = { name: GONE, systemUuid: toUuid("other"), ...over };
        const inventory = await provider.listInventory([node], signal);
        const found = provider.findInstance(inventory, node);
        return [found, await provider.readInstance(inventory, node, signal)];
      };
      const [found, read] = await find({});
      expect(found).toMatchObject({ kind: "unknown", reason: "notListed" });
      expect(read).toMatchObject({ kind: "unknown", reason: "notCovered" });
      expect(JSON.stringify(read)).toContain("project-id");
      const known = [{ systemUuid: findId(GONE) }, { providerId: "external-cloudstack" }];
      for (const over of known) {
        for (const one of await find(over)) {
          expect(one).toMatchObject({ kind: "present", instance: { state: "stopped" } });
        }
      }
    });

    test("of a name is asked for by itself while the list is not whole", async () => {
      const provider = create();
      const node = { name: "worker-1" };
      const fault = { kind: "missingPage", page: 1 } as const;
      simulator.faults.set(fault, { command: "listVirtualMachines", times: 1 });
      const inventory = await provider.listInventory([node], signal);
      expect(provider.findInstance(inventory, node)).toMatchObject({ reason: "notListed" });
      const found = await provider.readInstance(inventory, node, signal);
      expect(found).toMatchObject({ kind: "present", instance: { id: findId("worker-1") } });
      simulator.faults.set(fault, { command: "listVirtualMachines" });
      const half = await provider.readInstance(inventory, node, signal);
      expect(half).toMatchObject({ kind: "unknown", reason: "notCovered" });
    });

    test("of a name is not matched while the list holds another one that cannot be read", async () => {
      const provider = create();
      const node = { name: "worker-1" };
      const { accountId, zoneId, offeringId } = simulator.state.vm(findId(GONE));
      const twin = { name: "Worker-1", accountId, zoneId, offeringId, id: toUuid("vm/twin") };
      simulator.state.override(simulator.state.addVm(twin), { nic: 7 });
      const inventory = await provider.listInventory([], signal);
      const found = [
        provider.findInstance(inventory, node),
        await provider.readInstance(inventory, node, signal),
      ];
      for (const one of found)
        expect(one).toMatchObject({ kind: "unknown", reason: "undecodable" });
    });

    test("is found with the old settings when a file that the new ones name cannot be read", async () => {
      const { provider, change } = createToChange();
      const { url: apiUrl, apiKey, secretKey } = simulator;
      const raw = { apiUrl, apiKey, secretKey, caFile: "/nowhere/ca.pem", refreshInterval: "90s" };
      const { settings } = cloudStack.parseConfig(raw, {});
      expect(() => settings && change(settings)).toThrow("there is no such file");
      expect(provider.refreshIntervalMs).toBe(30_000);
      const inventory = await provider.listInventory(toNodes(), signal);
      expect(inventory.instances.has(findId(GONE))).toBe(true);
    });

    test("that only another account may see is not proven gone after a change of the keys", async () => {
      const user = [...simulator.state.users.values()].find(({ username }) => username === "admin");
      const root = { apiKey: user?.apiKey, secretKey: user?.secretKey };
      const { provider, change } = createToChange(root);
      simulator.state.assign(findId(GONE), accountIds.ops);
      const nodes = toNodes();
      const before = await provider.listInventory(nodes, signal);
      expect(before.instances.has(findId(GONE))).toBe(true);
      const { url: apiUrl, apiKey, secretKey } = simulator;
      const { settings } = cloudStack.parseConfig({ apiUrl, apiKey, secretKey }, {});
      if (settings) change(settings);
      const inventory = await provider.listInventory(nodes, signal);
      const [node = { name: "" }] = nodes;
      expect(await provider.readInstance(inventory, node, signal)).toMatchObject(UNKNOWN);
    });
  });

  test("toPage() leads to the page of a VM in CloudStack, which a simulated one answers, too", async () => {
    const page = create().toPage?.({ id: "a/b" }) ?? "";
    expect(page).toMatch(/\/client\/#\/vm\/a%2Fb$/);
    const reply = await fetch(page);
    expect([reply.status, await reply.text()]).toEqual([
      200,
      expect.stringContaining("is simulated"),
    ]);
  });
});

const LIST = {
  objects: [{ id: "vm", state: "Running", zoneid: "zone", zonename: "paris" }],
  undecodable: new Map(),
};

describe("Memory", () => {
  test("keeps no VMs for load balancers until they are followed", () => {
    const memory = new Memory();
    memory.noteList(LIST, 5);
    expect([memory.backends, memory.lacksBackends]).toEqual([undefined, false]);
    expect(memory.zones).toEqual(new Map([["zone", "paris"]]));
  });

  test("keeps the VMs of each list once they are followed", () => {
    const memory = new Memory();
    memory.followBackends();
    expect(memory.lacksBackends).toBe(true);
    memory.noteList(LIST, 5);
    expect(memory.lacksBackends).toBe(false);
    expect([...(memory.backends?.vms.keys() ?? [])]).toEqual(["vm"]);
    memory.noteList({ ...LIST, objects: [] }, 6);
    expect(memory.backends).toMatchObject({ observedAtMs: 6, vms: new Map() });
    memory.renewList(7);
    expect(memory.backends).toMatchObject({ observedAtMs: 7, vms: new Map() });
  });

  test("knows the VMs of Nodes from the first inventory on", () => {
    const memory = new Memory();
    expect(memory.hasInventory).toBe(false);
    memory.renewList(1);
    memory.noteInventory(
      { instances: new Map(), observedAtMs: 0, coverage: new Map(), undecodable: new Map() },
      new Set(["vm"]),
    );
    expect([memory.hasInventory, memory.nodeVmIds]).toEqual([true, new Set(["vm"])]);
    expect(memory.backends).toBeUndefined();
  });
});

describe("cloudStack", () => {
  test("the example of the manifests, and that of the documents, can be used", async () => {
    const options = { path: "FILE", env: {}, definition: cloudStack, sections: [DELETION] };
    const text = cloudStack.install?.example ?? "";
    const { settings, warnings, syntax } = await parseProviderConfig(text, options);
    expect(settings).toMatchObject({ url: "https://cloudstack.example.com/client/api" });
    expect([warnings, syntax]).toEqual([[], "INI"]);
    const { issues } = cloudStack.parseConfig(cloudStack.docs.example, {});
    expect(issues).toEqual([]);
  });
});

describe("address pools", () => {
  const files: readonly [string, number][] = [
    [
      "apiUrl: https://cs.example.org\nloadBalancers: { pools: [{ name: a, addresses: [192.0.2.1] }] }\n",
      2,
    ],
    ["[Global]\napi-url = https://cs.example.org\n[LoadBalancers]\npools = a\n", 4],
  ];
  test.each(files)("are refused, because CloudStack has load balancers: %j", async (text, line) => {
    const sections = [DELETION, LOAD_BALANCERS];
    const options = { path: "FILE", env: {}, definition: cloudStack, sections };
    const error: unknown = await parseProviderConfig(text, options).catch(
      (cause: unknown) => cause,
    );
    const issues = error instanceof ConfigError ? error.issues : [];
    const found = issues.filter(({ message }) =>
      message.startsWith("CloudStack has load balancers"),
    );
    expect(found.map((one) => one.line)).toEqual([line]);
  });
});

test("the definition says which Lease the Apache provider holds beside Landfall, and who needs more rights", () => {
  expect(cloudStack.install).toMatchObject({
    serviceLease: "cloudstack-service-controller",
    controllers: ["service"],
  });
});
