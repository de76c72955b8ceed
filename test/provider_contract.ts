/**
 * What every provider keeps to, as one suite that runs on each of them.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { CloudError } from "../lib/cloud/errors.ts";
import { type Inventory, mergeInstances } from "../lib/cloud/inventory/inventory.ts";
import type { Instance, NodeIdentity } from "../lib/cloud/instance.ts";
import type { MatchedBy, Presence, Provider } from "../lib/cloud/provider.ts";
import { isLabelKey, isLabelValue } from "../lib/core/text/label.ts";

/** A cloud with at least two running instances, for one test. */
export interface ProviderHarness {
  readonly provider: Provider;
  /** What finds the instance of a Node that joins. `providerId`: nothing else does, so kubelets are given theirs. */
  readonly matchesBy: Exclude<MatchedBy, "swappedSystemUuid">;
  /** Two instances that are there: what their Nodes are called and would tell. The first has addresses. */
  readonly machines: readonly [HarnessMachine, HarnessMachine];
  /** A provider ID of another cloud. */
  readonly foreignProviderId: string;
  /** Provider IDs with this cloud's scheme that cannot be read. */
  readonly malformedProviderIds: readonly string[];
  /** Deletes an instance for good. The cloud is otherwise well. */
  remove(machine: HarnessMachine): void | Promise<void>;
  /** From now on the cloud gives no usable answer. */
  breakCloud(): void | Promise<void>;
  stop(): void | Promise<void>;
}

/** One instance of a harness. */
interface HarnessMachine {
  readonly nodeName: string;
  /** Absent: the cloud knows none. */
  readonly systemUuid?: string;
  /** What its kubelet is given, where nothing else finds it. */
  readonly providerId?: string;
}

/**
 * Runs the contract of the port.
 *
 * @param name Name of the provider, for the titles
 * @param start Starts a new cloud for each test
 */
export function describeProviderContract(
  name: string,
  start: () => Promise<ProviderHarness>,
): void {
  describe(`${name} provider`, () => {
    let harness: ProviderHarness;
    const signal = new AbortController().signal;
    const list = (
      interest: readonly NodeIdentity[] = harness.machines.map(toJoining),
    ): Promise<Inventory> => harness.provider.listInventory(interest, signal);
    /** An inventory, and what finds the first machine in it by its provider ID. */
    const takeStock = async (): Promise<{
      inventory: Inventory;
      first: Instance;
      node: NodeIdentity;
    }> => {
      const [machine] = harness.machines;
      const joining = toJoining(machine);
      const inventory = await list([joining]);
      const first = expectPresent(harness.provider.findInstance(inventory, joining));
      return { inventory, first, node: { name: machine.nodeName, providerId: first.providerId } };
    };

    beforeEach(async () => {
      harness = await start();
    });
    afterEach(async () => {
      await harness.stop();
    });

    test("toInstanceId() tells the machine of its own provider IDs, and of no other", async () => {
      const { first } = await takeStock();
      const { provider } = harness;
      expect(provider.toInstanceId?.(first.providerId)).toBe(first.id);
      expect(provider.toInstanceId?.("aws:///eu-west-3a/i-0abc")).toBeUndefined();
      expect(provider.toInstanceId?.("")).toBeUndefined();
    });

    test("findInstance() finds a Node that joins, a system UUID in any case", async () => {
      const { provider, machines, matchesBy } = harness;
      const inventory = await list();
      const { systemUuid, ...node } = toJoining(machines[0]);
      const uuids = systemUuid && [systemUuid.toLowerCase(), systemUuid.toUpperCase()];
      const forms = uuids ? uuids.map((uuid) => ({ ...node, systemUuid: uuid })) : [node];
      for (const form of forms) {
        const found = provider.findInstance(inventory, form);
        expect(found).toMatchObject({ kind: "present", matchedBy: matchesBy });
      }
    });

    test("findInstance() finds by provider ID, whatever else the Node tells", async () => {
      const { inventory, first, node } = await takeStock();
      const other = { ...toJoining(harness.machines[1]), ...node, name: "renamed" };
      const found = harness.provider.findInstance(inventory, other);
      expect(found).toMatchObject({ kind: "present", matchedBy: "providerId" });
      expect(expectPresent(found).id).toBe(first.id);
    });

    test("findInstance() and readInstance() tell a foreign provider ID", async () => {
      const { inventory } = await takeStock();
      const node = { ...toJoining(harness.machines[0]), providerId: harness.foreignProviderId };
      const foreign: Presence = { kind: "foreign", providerId: harness.foreignProviderId };
      expect(harness.provider.findInstance(inventory, node)).toEqual(foreign);
      expect(await harness.provider.readInstance(inventory, node, signal)).toEqual(foreign);
    });

    test("findInstance() and readInstance() report a malformed provider ID of this cloud", async () => {
      const { inventory } = await takeStock();
      for (const providerId of harness.malformedProviderIds) {
        const node = { ...toJoining(harness.machines[0]), providerId };
        const malformed = { kind: "unknown", reason: "malformedProviderId" };
        expect(harness.provider.findInstance(inventory, node)).toMatchObject(malformed);
        expect(await harness.provider.readInstance(inventory, node, signal)).toMatchObject(
          malformed,
        );
      }
    });

    test("readInstances() shows what an inventory shows, says nothing of others, and breaks as a list", async () => {
      const { changes } = harness.provider;
      if (!changes?.readInstances) return;
      const { inventory, first } = await takeStock();
      expect(await changes.readInstances(new Set([first.id, "none"]), signal)).toEqual(
        new Map([[first.id, first]]),
      );
      expect(inventory.instances.get(first.id)).toEqual(first);
      await harness.remove(harness.machines[0]);
      expect(await changes.readInstances(new Set([first.id]), signal)).toEqual(new Map());
      await harness.breakCloud();
      const broken = changes.readInstances(new Set([first.id]), signal);
      expect(await broken.catch((error: unknown) => error)).toBeInstanceOf(CloudError);
    });

    test("findInstance() says the same of a Node when another's instance was read by itself", async () => {
      const { provider, machines } = harness;
      const inventory = await list();
      const find = (machine: HarnessMachine, among: Inventory): Instance =>
        expectPresent(provider.findInstance(among, toJoining(machine)));
      const other = find(machines[0], inventory);
      const own = find(machines[1], inventory);
      expect(inventory.instances.get(own.id) === own).toBe(true);
      if (provider.changes?.readInstances === undefined) return;
      const changed: Instance = { ...other, state: "stopped", zone: "elsewhere", addresses: [] };
      const merged = mergeInstances(inventory, new Map([[other.id, changed]])).inventory;
      expect(find(machines[1], merged)).toBe(own);
    });

    test("watchChanges() goes on through a broken cloud, and returns when its signal aborts", async () => {
      await harness.breakCloud();
      const stop = new AbortController();
      const following = harness.provider.changes?.watchChanges(() => {}, stop.signal);
      await Bun.sleep(20);
      stop.abort(new Error("the test is over"));
      expect(await following).toBeUndefined();
    });

    test("findInstance() and readInstance() say when a Node tells nothing to look it up by", async () => {
      const { inventory } = await takeStock();
      const nothing = { kind: "unknown", reason: "noIdentity" };
      expect(harness.provider.findInstance(inventory, { name: "" })).toMatchObject(nothing);
      const read = await harness.provider.readInstance(inventory, { name: "" }, signal);
      expect(read).toMatchObject(nothing);
    });

    test("readInstance() finds what is there", async () => {
      const { inventory, first, node } = await takeStock();
      const found = await harness.provider.readInstance(inventory, node, signal);
      expect(found).toMatchObject({ kind: "present", matchedBy: "providerId" });
      expect(expectPresent(found)).toEqual(first);
    });

    test("C-03 readInstance() alone proves that an instance is gone", async () => {
      const { node } = await takeStock();
      const joining = toJoining(harness.machines[1]);
      const other = expectPresent(harness.provider.findInstance(await list(), joining));
      const nodes = [node, { ...joining, providerId: other.providerId }];
      // A cloud that hides what the user may not see proves only what it showed, and only beside another instance.
      await list(nodes);
      await harness.remove(harness.machines[0]);
      const after = await list(nodes);
      expect(harness.provider.findInstance(after, node)).toMatchObject({
        kind: "unknown",
        reason: "notListed",
      });
      const read = await harness.provider.readInstance(after, node, signal);
      expect(read.kind).toBe("absent");
      expect(read.kind === "absent" && read.evidence).not.toBe("");
    });

    test("readInstance() never takes a Node without a provider ID for gone", async () => {
      const { inventory } = await takeStock();
      await harness.remove(harness.machines[0]);
      const { providerId: _, ...node } = toJoining(harness.machines[0]);
      const read = await harness.provider.readInstance(inventory, node, signal);
      const reason = harness.matchesBy === "providerId" ? "noIdentity" : "notFound";
      expect(read).toMatchObject({ kind: "unknown", reason });
    });

    test("C-02 C-03 a cloud that cannot answer makes listInventory() reject and readInstance() unknown", async () => {
      const { inventory, node } = await takeStock();
      await harness.remove(harness.machines[0]);
      await harness.breakCloud();
      await expect(list([node])).rejects.toMatchObject({ name: "CloudError" });
      const read = await harness.provider.readInstance(inventory, node, signal);
      expect(read.kind).toBe("unknown");
    });

    test("listInventory() and readInstance() reject with the reason of an aborted signal", async () => {
      const { inventory, node } = await takeStock();
      const reason = new Error("enough");
      const aborted = AbortSignal.abort(reason);
      await expect(harness.provider.listInventory([node], aborted)).rejects.toBe(reason);
      await expect(harness.provider.readInstance(inventory, node, aborted)).rejects.toBe(reason);
    });

    test("listInventory() covers every part, and knows both instances by their IDs", async () => {
      const inventory = await list();
      expect(inventory.coverage.size).toBeGreaterThan(0);
      expect([...inventory.coverage.values()].every(({ complete }) => complete)).toBe(true);
      expect(inventory.undecodable.size).toBe(0);
      for (const [id, instance] of inventory.instances) expect(instance.id).toBe(id);
      for (const machine of harness.machines) {
        const found = harness.provider.findInstance(inventory, toJoining(machine));
        expect(expectPresent(found).state).toBe("running");
      }
    });

    test("N-10 every instance carries a provider ID of this cloud that finds it again", async () => {
      const inventory = await list();
      expect(inventory.instances.size).toBeGreaterThan(1);
      for (const { id, name, providerId } of inventory.instances.values()) {
        const found = harness.provider.findInstance(inventory, { name, providerId });
        expect([expectPresent(found).id, providerId === ""]).toEqual([id, false]);
      }
    });

    test("instances are frozen, all the way down", async () => {
      const { first } = await takeStock();
      const parts = [first, first.addresses, first.labels, first.details, ...first.addresses];
      for (const part of parts) expect(Object.isFrozen(part)).toBe(true);
    });

    test("C-07 addresses come in the same order each time, each once", async () => {
      const { first } = await takeStock();
      const again = (await takeStock()).first;
      expect(first.addresses.length).toBeGreaterThan(0);
      expect(again.addresses).toEqual(first.addresses);
      const texts = first.addresses.map(({ type, address }) => `${type} ${address}`);
      expect(new Set(texts).size).toBe(texts.length);
    });

    test("labelKeys has the keys of all labels that instances ask for", async () => {
      const inventory = await list();
      const asked = [...inventory.instances.values()].flatMap(({ labels }) => Object.keys(labels));
      const known = harness.provider.labelKeys ?? new Set();
      // A cloud without labels of its own names no keys.
      expect(asked.length > 0).toBe(known.size > 0);
      expect(asked.filter((key) => !known.has(key))).toEqual([]);
    });

    test("C-06 labels, zone, region and type are valid label values, and no placeholder", async () => {
      const inventory = await list();
      for (const { labels, zone, region, instanceType } of inventory.instances.values()) {
        for (const key of Object.keys(labels)) expect(isLabelKey(key)).toBe(true);
        const known = [zone, region, instanceType].filter((value) => value !== undefined);
        for (const value of [...Object.values(labels), ...known]) {
          expect(isLabelValue(value)).toBe(true);
          expect(value).not.toBe("unknown");
        }
      }
    });
  });
}

/** What a Node tells before it was ever matched. */
function toJoining({ nodeName, systemUuid, providerId }: HarnessMachine): NodeIdentity {
  return { name: nodeName, ...(systemUuid && { systemUuid }), ...(providerId && { providerId }) };
}

function expectPresent(presence: Presence): Instance {
  if (presence.kind !== "present") throw new Error(`Cannot go on: ${JSON.stringify(presence)}`);
  return presence.instance;
}
