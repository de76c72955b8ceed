import { expect, test } from "bun:test";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { settle, SETTINGS } from "../settled.ts";
import { XenOrchestraWorld } from "../xenorchestra/cloud.ts";

const AUTHOR = "a1";
const NAMES = ["n1", "n2", "n3", "n4"] as const;
const WINDOW_MS = 60_000;

function toNode(world: XenOrchestraWorld, name: string): Node {
  const providerID = `xenorchestra://pool/${world.machines.get(name)}`;
  return { metadata: { name, uid: name }, spec: { providerID } };
}

function toReady(world: XenOrchestraWorld, name: string): Node {
  return { ...toNode(world, name), status: { conditions: [{ type: "Ready", status: "True" }] } };
}

/** Four Nodes, of which two may go, and a process that was told of them and does nothing itself. */
async function start(listedMs: number = 0): Promise<XenOrchestraWorld> {
  const deletion = { ...SETTINGS.deletion, fleetShare: 0.5, fleetWindowMs: WINDOW_MS };
  const world = new XenOrchestraWorld(7, () => ({ ...SETTINGS, deletion }));
  const { process, uses } = world.replicas[0]?.start({ rate: 1, skewMs: 0 }) ?? {};
  process?.kill();
  uses?.push({ sinceMs: 0, said: world.said });
  for (const name of NAMES) world.addMachine(name);
  const nodes = NAMES.map((name) => toNode(world, name));
  await world.timeline.advance(listedMs);
  world.invariants.proofs.fleet.noteList(AUTHOR, nodes);
  await world.timeline.advance(WINDOW_MS - listedMs);
  return world;
}

/** An inventory that shows the machines of these Nodes alone. */
function toInventory(
  { machines, timeline }: XenOrchestraWorld,
  names: readonly string[],
): Inventory {
  const instances = names.map((name) => [machines.get(name) ?? "", {}] as const);
  return {
    observedAtMs: timeline.monotonic(),
    instances: new Map(instances) as unknown as Inventory["instances"],
    coverage: new Map([["pool", { complete: true }]]),
    undecodable: new Map(),
  };
}

test("FleetJudge.listExcess() counts deletions until the window has passed", async () => {
  await using world = await start();
  const { fleet } = world.invariants.proofs;
  const told = [fleet.listExcess(AUTHOR, "n1"), fleet.listExcess(AUTHOR, "n2")];
  const third = fleet.listExcess(AUTHOR, "n3");
  await world.timeline.advance(WINDOW_MS + 1);
  const later = fleet.listExcess(AUTHOR, "n4");
  expect(told).toEqual([[], []]);
  expect(third.join()).toContain("3 Nodes are missing or go within the window, of 4");
  expect(later).toEqual([]);
});

test("FleetJudge.listExcess() takes the first size for that of the start, however late it was known", async () => {
  await using world = await start(WINDOW_MS / 2);
  const { fleet } = world.invariants.proofs;
  const told = [fleet.listExcess(AUTHOR, "n1"), fleet.listExcess(AUTHOR, "n2")];
  expect(told).toEqual([[], []]);
});

test("FleetJudge.listExcess() counts those whose machines are gone, and no others", async () => {
  await using world = await start();
  const { fleet } = world.invariants.proofs;
  const remove = (name: string): void => world.cloud.state.removeVm(world.machines.get(name) ?? "");
  remove("n1");
  remove("n2");
  // The machine of the third is there, whatever the inventory says.
  fleet.noteInventory(AUTHOR, toInventory(world, ["n4"]));
  const two = fleet.listExcess(AUTHOR, "n1");
  remove("n3");
  fleet.noteInventory(AUTHOR, toInventory(world, ["n4"]));
  const three = fleet.listExcess(AUTHOR, "n1");
  expect(two).toEqual([]);
  expect(three.join()).toContain("3 Nodes are missing");
});

test("FleetJudge.listExcess() goes by the size that the process knew when the window began", async () => {
  await using world = await start();
  const { fleet } = world.invariants.proofs;
  const go = (name: string): void => fleet.noteEvent(AUTHOR, "DELETED", toReady(world, name));
  for (const name of ["n2", "n3", "n4"]) go(name);
  const soon = [fleet.listExcess(AUTHOR, "n1"), fleet.listExcess(AUTHOR, "n2")];
  await world.timeline.advance(3 * WINDOW_MS);
  fleet.listExcess(AUTHOR, "n1");
  const later = fleet.listExcess(AUTHOR, "n5");
  expect(soon).toEqual([[], []]);
  expect(later.join()).toContain("2 Nodes are missing or go within the window, of 1");
});

test("FleetJudge.listExcess() counts Nodes that went, not Ready, while the process stood by", async () => {
  await using world = await start();
  const { fleet } = world.invariants.proofs;
  const incarnation = world.findProcess(AUTHOR);
  fleet.noteEvent(AUTHOR, "DELETED", toReady(world, "n1"));
  fleet.noteEvent(AUTHOR, "DELETED", toNode(world, "n2"));
  const one = fleet.listExcess(AUTHOR, "n3");
  incarnation.ledMs = world.timeline.monotonic();
  fleet.noteEvent(AUTHOR, "DELETED", toNode(world, "n3"));
  const two = fleet.listExcess(AUTHOR, "n4");
  expect(one).toEqual([]);
  expect(two.join()).toContain("3 Nodes are missing or go within the window");
});

test("FleetJudge.listExcess() counts Nodes that the process initialised while its watch was cut", async () => {
  const world = new XenOrchestraWorld(7, () => SETTINGS);
  world.server.faults.refuse({ status: 503, verb: "watch", resource: "nodes" });
  await using settled = await settle(world, NAMES.slice(0, 2), 500);
  const { fleet } = settled.invariants.proofs;
  const told = ["n1", "n2"].map((name) => fleet.listExcess(AUTHOR, name).join());
  expect(told).toEqual(["", "2 Nodes are missing or go within the window, of 2"]);
});
