/**
 * Releasing an address: only one that is ours, with nothing on it at the last moment.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { toTags } from "../../../../../lib/providers/cloudstack/load_balancers/words.ts";
import { CLUSTER_ID, OWNER, useApply } from "./apply_rig.ts";

const rig = useApply();

/** An address that is ours, in a look. */
async function takeOurs(): Promise<string> {
  await rig.look();
  await rig.apply({ kind: "takeAddress", place: { networkId: rig.networkId } });
  rig.simulator.requests.reset();
  return rig.ipId("192.0.2.12");
}

function isTaken(): boolean {
  return rig.ip("192.0.2.12")?.state !== "Free";
}

const OTHERS: readonly [string, (id: string) => Promise<unknown> | void, boolean][] = [
  [
    "a load-balancer rule",
    (publicipid) =>
      rig.change("createLoadBalancerRule", {
        publicipid,
        name: "mine",
        algorithm: "source",
        privateport: "1",
        publicport: "2",
        openfirewall: "false",
      }),
    false,
  ],
  [
    "a firewall rule",
    (ipaddressid) =>
      rig.change("createFirewallRule", {
        ipaddressid,
        protocol: "tcp",
        startport: "1",
        endport: "2",
      }),
    false,
  ],
  [
    "a static NAT",
    (id) =>
      void Object.assign(rig.ip("192.0.2.12") ?? {}, { staticNatVmId: rig.idOf("worker-1"), id }),
    true,
  ],
  [
    "somebody's tags instead of ours",
    (id) => {
      const { tags } = rig.simulator.state;
      for (const { key } of tags.of(id)) tags.remove(id, key);
    },
    false,
  ],
  [
    "the tags of another Service",
    (id) => {
      const { tags } = rig.simulator.state;
      const others = toTags(CLUSTER_ID, { ...OWNER, uid: CLUSTER_ID });
      const [{ accountId, resourceType } = { accountId: "", resourceType: "" }] = tags.of(id);
      for (const { key } of tags.of(id)) tags.remove(id, key);
      for (const [key, value] of others) {
        tags.add({ key, value, accountId, resourceType, resourceId: id });
      }
    },
    false,
  ],
];

describe("releaseAddress", () => {
  test("releases an address that is ours, with one question before", async () => {
    const addressId = await takeOurs();
    expect(await rig.apply({ kind: "releaseAddress", addressId })).toBeUndefined();
    expect(isTaken()).toBe(false);
    expect(rig.store.isValid).toBe(true);
    expect(rig.store.view?.addresses.has(addressId)).toBe(false);
    expect([...rig.simulator.requests.byCommand]).toEqual([
      ["listPublicIpAddresses", 1],
      ["disassociateIpAddress", 1],
      ["queryAsyncJobResult", 1],
    ]);
  });

  test.each(OTHERS)(
    "leaves an address that got %s since the look",
    async (_title, add, isShown) => {
      const addressId = await takeOurs();
      await add(addressId);
      expect(await rig.apply({ kind: "releaseAddress", addressId })).toBeUndefined();
      expect(isTaken()).toBe(true);
      expect(rig.simulator.requests.count("disassociateIpAddress")).toBe(0);
      // Either the store shows why, or the next look will.
      expect(rig.store.isValid).toBe(isShown);
    },
  );

  const SIBLINGS: readonly [string, (boolean | undefined)[], boolean][] = [
    ["is gone", [undefined, undefined], true],
    ["is losing its load balancer", [true, true], true],
    ["keeps its load balancer", [false], false],
    ["gets a load balancer again at the last moment", [true, false], false],
    ["is there again at the last moment", [undefined, false], false],
  ];
  test.each(SIBLINGS)(
    "an address of another Service, which %s",
    async (_what, states, isReleased) => {
      const addressId = await takeOurs();
      const uid = CLUSTER_ID;
      const { tags } = rig.simulator.state;
      const tag = tags.of(addressId).find(({ key }) => key === "landfall.dev/service-uid");
      tags.remove(addressId, "landfall.dev/service-uid");
      if (tag) tags.add({ ...tag, value: uid });
      const answers = [...states];
      rig.store.setFindHolder((isIt) => {
        expect([isIt(uid), isIt(OWNER.uid)]).toEqual([true, false]);
        const isLeaving = answers.shift();
        return isLeaving === undefined ? undefined : { owner: { ...OWNER, uid }, isLeaving };
      });
      expect(await rig.apply({ kind: "releaseAddress", addressId })).toBeUndefined();
      expect(isTaken()).toBe(!isReleased);
      expect(answers).toEqual([]);
      expect(rig.store.isValid).toBe(isReleased);
    },
  );

  test("forgets a record that names the address", async () => {
    const addressId = await takeOurs();
    await rig.apply({ kind: "keepShared", ip: "192.0.2.12" });
    expect(JSON.parse(rig.record.text ?? "{}")).toMatchObject({ shared: "192.0.2.12" });
    expect(await rig.apply({ kind: "releaseAddress", addressId })).toBeUndefined();
    expect(rig.record.text).toBeUndefined();
  });

  test.each([1, 2])(
    "leaves an address with %d port forwardings, and says so in the store",
    async (count) => {
      const addressId = await takeOurs();
      for (let port = 1; port <= count; port += 1) {
        await rig.change("createPortForwardingRule", {
          ipaddressid: addressId,
          protocol: "udp",
          privateport: "1",
          publicport: String(port),
          virtualmachineid: rig.idOf("worker-1"),
        });
      }
      expect(await rig.apply({ kind: "releaseAddress", addressId })).toBeUndefined();
      expect(isTaken()).toBe(true);
      expect(rig.store.view?.addresses.get(addressId)?.usedBy).toBe(
        count === 1 ? "a port forwarding" : "2 port forwardings",
      );
      expect(rig.store.isValid).toBe(true);
    },
  );

  test("releases nothing while the server does not say what is on the address", async () => {
    const addressId = await takeOurs();
    await rig.change("createFirewallRule", {
      ipaddressid: addressId,
      protocol: "tcp",
      startport: "1",
      endport: "2",
    });
    const lacking = { kind: "error", code: 432, text: "no" } as const;
    rig.simulator.faults.set(lacking, { command: "listPortForwardingRules" });
    expect(await rig.apply({ kind: "releaseAddress", addressId })).toMatchObject({
      kind: "denied",
    });
    expect(isTaken()).toBe(true);
  });

  test("an address that is gone asks for a new look", async () => {
    const addressId = await takeOurs();
    await rig.change("disassociateIpAddress", { id: addressId });
    expect(await rig.apply({ kind: "releaseAddress", addressId })).toBeUndefined();
    expect(rig.store.isValid).toBe(false);
    expect(rig.simulator.requests.count("disassociateIpAddress")).toBe(1);
  });

  test.each(["reset", "resetAfter", "hang", "hangAfter"] as const)(
    "%s of each of its requests: the next process releases it, or finds it released",
    async (kind) => {
      for (const at of [1, 2, 3]) {
        await rig.look();
        await rig.apply({ kind: "takeAddress", place: { networkId: rig.networkId } });
        const addressId = rig.ipId("192.0.2.12");
        rig.simulator.faults.set({ kind }, { skip: at - 1, times: 1 });
        const before = rig.simulator.faults.taken;
        const dying = rig.apply({ kind: "releaseAddress", addressId });
        const isRunning = (): boolean => Bun.peek.status(dying) === "pending";
        while (rig.simulator.faults.taken === before && isRunning()) await Bun.sleep(1);
        rig.restart();
        await dying;
        rig.simulator.faults.clear();
        await rig.clock.advance(1_000);
        const { addresses } = await rig.look();
        if (addresses.has(addressId)) await rig.apply({ kind: "releaseAddress", addressId });
        expect([kind, at, isTaken()]).toEqual([kind, at, false]);
      }
    },
  );
});
