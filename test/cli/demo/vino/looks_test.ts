import { expect, test } from "bun:test";
import {
  countClaimed,
  countHosts,
  describeHosts,
  findFree,
  findHostOf,
  isBlocked,
  isEachOnce,
  isReady,
  listNames,
  listOrphanDisks,
  machinesOf,
  type VinoStage,
} from "../../../../lib/cli/demo/vino/looks.ts";
import { toVinoSpec } from "../../../../lib/cli/demo/vino/specs.ts";
import { METAL, VinoWorld } from "../../../../lib/cli/demo/vino/world.ts";
import { HOST, MACHINE_ID, MACHINE_NAME } from "../../../../lib/controllers/vino/hosts/words.ts";
import { HOST_CLUSTER_NAME } from "../../../../lib/controllers/words.ts";
import { PacedClock } from "../../../support/paced_clock.ts";

interface Rig extends AsyncDisposable {
  readonly stage: VinoStage;
  /** Adds a running machine of edge. */
  add(machine: string, id?: string): string;
  /** Publishes a machine. */
  publish(machine: string, id: string, labels?: Record<string, string>): void;
  say(status: object): void;
}

async function createRig(): Promise<Rig> {
  const clock = new PacedClock(1);
  const world = await VinoWorld.start(clock);
  world.applyVino("edge", toVinoSpec(2));
  const uid = String(world.findVino("edge")?.metadata["uid"]);
  const toFull = (machine: string): string => `vino-${uid.slice(0, 8)}-${machine}`;
  const { objects } = world.kubernetes;
  const [hostId = ""] = world.hosts.keys();
  return {
    stage: { world, clock, tell: () => undefined },
    add: (machine, id) => {
      const poolId = world.site.poolIds.paris;
      const options = { name: toFull(machine), poolId, hostId, ...(id !== undefined && { id }) };
      return world.cloud.state.addVm(options);
    },
    publish: (machine, id, labels = {}) => {
      const annotations = { [MACHINE_NAME]: toFull(machine), [MACHINE_ID]: id };
      const name = `edge-${machine}`;
      objects.create("baremetalhosts", {
        metadata: { namespace: METAL, name, labels: { [HOST]: hostId, ...labels }, annotations },
      });
    },
    say: (status) => {
      const path = { namespace: METAL, name: "edge", subresource: "status" } as const;
      objects.patch("vinoes", path, { status: JSON.parse(JSON.stringify(status)) });
    },
    [Symbol.asyncDispose]: () => world.stop(),
  };
}

test("machinesOf() and listNames() have the machines of one Vino, by role", async () => {
  await using rig = await createRig();
  rig.add("worker-0");
  rig.add("control-plane-0");
  expect(machinesOf(rig.stage, "edge", "worker")).toHaveLength(1);
  expect(listNames(rig.stage, "edge")).toHaveLength(2);
  expect(machinesOf(rig.stage, "none")).toEqual([]);
});

test("isEachOnce() is false for twins, for too few, and for one that does not run", async () => {
  await using rig = await createRig();
  const id = rig.add("worker-0");
  rig.add("worker-1");
  expect(isEachOnce(rig.stage, "edge", 2)).toBe(true);
  expect(isEachOnce(rig.stage, "edge", 3)).toBe(false);
  rig.stage.world.cloud.state.setPower(id, "Halted");
  expect(isEachOnce(rig.stage, "edge", 2)).toBe(false);
  rig.stage.world.cloud.state.setPower(id, "Running");
  rig.add("worker-1", "twin");
  expect(machinesOf(rig.stage, "edge")).toHaveLength(3);
  expect(isEachOnce(rig.stage, "edge", 3)).toBe(false);
});

test("isReady() and isBlocked() read conditions of the newest spec", async () => {
  await using rig = await createRig();
  const base = { observedGeneration: 1, status: "True" };
  const ready = { ...base, type: "Ready", reason: "ReconciliationSucceeded" };
  const blocked = { ...base, type: "ContractionBlocked", reason: "FleetLimit" };
  rig.say({ conditions: [ready, blocked] });
  expect([isReady(rig.stage, "edge", 0), isReady(rig.stage, "edge", 1)]).toEqual([true, false]);
  expect(isBlocked(rig.stage, "edge", "FleetLimit")).toBe(true);
  rig.stage.world.applyVino("edge", toVinoSpec(3));
  expect(isBlocked(rig.stage, "edge", "FleetLimit")).toBe(false);
});

test("findFree() finds a machine whose host no SIPCluster has", async () => {
  await using rig = await createRig();
  const id = rig.add("worker-0");
  rig.publish("worker-0", id);
  rig.publish("worker-1", rig.add("worker-1"), { [HOST_CLUSTER_NAME]: "blue" });
  const free = findFree(rig.stage, "edge", "worker");
  expect(free?.id).toBe(id);
  expect(free && findHostOf(rig.stage, free)?.metadata.name).toBe("edge-worker-0");
  expect([countHosts(rig.stage), countClaimed(rig.stage)]).toEqual([2, 1]);
});

test("describeHosts() says which address a host has, and where it is", async () => {
  await using rig = await createRig();
  rig.publish("worker-0", rig.add("worker-0"));
  const [name] = listNames(rig.stage, "edge");
  rig.say({ machines: [{ name, address: "192.0.2.13" }, { name: "other" }] });
  expect(describeHosts(rig.stage, "edge")).toEqual(["edge-worker-0: 192.0.2.13, on xcp-par-1"]);
});

test("listOrphanDisks() has disks of machines that nothing has", async () => {
  await using rig = await createRig();
  const { world } = rig.stage;
  expect(listOrphanDisks(world)).toEqual([]);
  const { looseVdiId } = world.site.foreign;
  Object.assign(world.cloud.state.read("vdis", looseVdiId) ?? {}, { name_label: "vino-1-a-0" });
  expect(listOrphanDisks(world)).toEqual(["vino-1-a-0"]);
});
