/**
 * Hosts of machines while metal3's operator and the metal3 provider of Cluster API work on them.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { AddressReader } from "../../../../../lib/controllers/sipcluster/hosts/address_reader.ts";
import { systemClock } from "../../../../../lib/core/clock.ts";
import type { BareMetalHost } from "../../../../../lib/kube/kinds/bare_metal_host.ts";
import type { Secret } from "../../../../../lib/kube/kinds/secret.ts";
import { operateHosts } from "../../../../../lib/simulator/metal3/bare_metal_operator.ts";
import { ClusterApi } from "../../../../../lib/simulator/metal3/cluster_api.ts";
import { stateOf } from "../../../../../lib/simulator/metal3/host_state.ts";
import { type PublisherRig, startPublisher } from "../../../../support/vino/publisher_rig.ts";
import { BMC, OWNER, toWanted } from "../../../../support/vino/wanted_hosts.ts";

const HOST = "edge-worker-0";
const BLANK = { bmc: BMC, power: "stopped", isExternallyProvisioned: false } as const;

let rig: PublisherRig;
beforeEach(async () => {
  rig = await startPublisher();
});
afterEach(async () => await rig[Symbol.asyncDispose]());

/** Lets metal3 work until it has nothing to do. */
function operate(): void {
  while (operateHosts(rig.kubernetes.objects).moved.length > 0);
}
function stateOfHost(): string {
  const host = rig.host(HOST);
  return host === undefined ? "gone" : stateOf(host);
}

describe("metal3", () => {
  type Level = readonly [what: string, host: Parameters<typeof toWanted>[1], state: string];
  const levels: readonly Level[] = [
    ["without a management controller", {}, "unmanaged"],
    ["from a template, with one", { bmc: BMC }, "externally provisioned"],
    ["with blank disks, with one", BLANK, "available"],
  ];
  test.each(levels)(
    "takes a machine %s, and then there is nothing to write",
    async (_what, host, state) => {
      const hosts = [toWanted(0, host)];
      await rig.publishAll({ hosts });
      operate();
      expect(stateOfHost()).toBe(state);
      rig.kubernetes.requests.clear();
      const report = await rig.publish({ hosts });
      expect([report.states, report.requests]).toEqual([[`${HOST} Published`], []]);
    },
  );

  test("cleans a host that is taken back, before its machine may go", async () => {
    await rig.publishAll({ hosts: [toWanted(0, BLANK)] });
    operate();
    expect((await rig.publish({ unwanted: [HOST] })).states).toEqual([`${HOST} Removing`]);
    expect((await rig.publish({ unwanted: [HOST] })).states).toEqual([`${HOST} Removing`]);
    operate();
    expect((await rig.publish({ unwanted: [HOST] })).states).toEqual([`${HOST} Gone`]);
  });
});

describe("Cluster API", () => {
  test("takes a host by its labels, keeps it while the Vino shrinks, and gives it back", async () => {
    const { objects } = rig.kubernetes;
    const capi = new ClusterApi(objects, () => 0);
    const bmhLabels = { "airshipit.org/k8s-role": "worker" };
    const hosts = [toWanted(0, BLANK, { bmhLabels })];
    await rig.publishAll({ hosts });
    operate();
    const machine = { namespace: OWNER.namespace, name: "m-1" };
    capi.add({ ...machine, hostSelector: bmhLabels });
    capi.step();
    operate();
    expect(stateOfHost()).toBe("provisioned");
    const moved = { poolId: "p1", hostId: "h2" };
    await rig.publishAll({ hosts: [toWanted(0, BLANK, { bmhLabels, machine: moved })] });
    expect(rig.host(HOST)).toMatchObject({
      metadata: { labels: { "vino.airshipit.org/host": "h2" } },
      spec: { online: true, consumerRef: { name: "m-1" }, image: { format: "qcow2" } },
    });
    const kept = await rig.publish({ unwanted: [HOST] });
    expect([kept.states, kept.requests]).toEqual([[`${HOST} InUse`], []]);
    capi.remove(machine);
    for (let step = 0; step < 4; step += 1) {
      capi.step();
      expect((await rig.publish({ unwanted: [HOST] })).states[0]).toMatch(
        / (InUse|Removing|Gone)$/,
      );
      operate();
    }
    expect((await rig.publish({ unwanted: [HOST] })).states).toEqual([`${HOST} Gone`]);
  });
});

test("a SIPCluster finds the addresses of a host", async () => {
  await rig.publishAll({ hosts: [toWanted()] });
  const read = (_kind: unknown, { name = "" }: { name?: string }): Promise<never> =>
    Promise.resolve(rig.secret(name) as unknown as Secret as never);
  const reader = new AddressReader({ client: { read }, clock: systemClock, periodMs: 600_000 });
  const host = rig.host(HOST) as unknown as BareMetalHost;
  const found = await reader.readAll([host], new AbortController().signal);
  expect([...found.values()]).toEqual([
    { addresses: new Map([["oam", "192.0.2.10"]]), problems: new Map() },
  ]);
});
