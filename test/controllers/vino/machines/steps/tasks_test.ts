import { describe, expect, test } from "bun:test";
import type { MachinesView } from "../../../../../lib/cloud/capabilities/machines.ts";
import {
  listForgotten,
  toMachineRequests,
  toRemovalTask,
  toWantedTasks,
} from "../../../../../lib/controllers/vino/machines/steps/tasks.ts";
import {
  takeSnapshot,
  type Snapshot,
} from "../../../../../lib/controllers/vino/placement/snapshot.ts";
import { readRoles, type Role } from "../../../../../lib/controllers/vino/placement/roles.ts";
import type { VinoMachine, VinoSpec } from "../../../../../lib/controllers/vino/resource/vino.ts";
import { toEntry, toKnown, toMachine, toView, VINO_OWNER } from "../../../../support/vino/known.ts";

const SPEC: VinoSpec = {
  networks: [{ name: "oam" }],
  nodes: [{ name: "worker", count: 2, networkInterfaces: [{ name: "eth0", network: "oam" }] }],
  xenOrchestra: { template: "t", cpus: 2, memory: "4Gi", countPer: "Total" },
};

function toScene(
  view: MachinesView = toView([toMachine("worker", 0)]),
  entries: readonly VinoMachine[] = [],
): { snapshot: Snapshot; roles: ReadonlyMap<string, Role> } {
  const read = readRoles(SPEC);
  if (!read.isComplete) throw new Error("the form is complete");
  const { roles } = read;
  const vino = { metadata: VINO_OWNER, spec: SPEC, status: { machines: entries } };
  const rest = { isConsumed: () => false, deletes: true };
  const result = takeSnapshot({ vino, owner: VINO_OWNER, view, roles, ...rest });
  if (result.kind === "refused") throw new Error(result.message);
  return { snapshot: result.snapshot, roles };
}

const [FIRST, SECOND] = [toEntry("worker", 0).name, toEntry("worker", 1).name];

test("toMachineRequests() asks for each machine that must exist", () => {
  const { snapshot, roles } = toScene();
  expect(toMachineRequests(snapshot, roles)).toEqual([
    { name: FIRST, interfaces: [{ name: "eth0", network: "oam" }] },
    { name: SECOND, interfaces: [{ name: "eth0", network: "oam" }] },
  ]);
});

describe("toWantedTasks()", () => {
  test("makes a task of each machine with addresses, and says why others wait", () => {
    const { snapshot, roles } = toScene();
    const addresses = {
      machines: new Map([[FIRST, []]]),
      problems: new Map([[SECOND, "oam has no free address"]]),
      notices: [],
    };
    const { tasks, idle } = toWantedTasks(snapshot, {
      spec: SPEC,
      roles,
      addresses,
      hasBmc: false,
    });
    expect(tasks).toMatchObject([
      { name: FIRST, hostId: "h1", goal: { spec: { poolId: "pool-1", cpus: 2 } } },
    ]);
    expect(idle).toMatchObject([{ name: SECOND, why: "oam has no free address" }]);
  });

  test("leaves a machine alone whose host may be in a part of the cloud that is lost", () => {
    const pools = [
      { id: "pool-1", name: "lyon", isComplete: true },
      { id: "pool-2", name: "paris", isComplete: false },
    ];
    const entry = toEntry("worker", 0, { machineId: "vm-1", host: "h9" });
    const view = toView([], { pools });
    const read = readRoles(SPEC);
    if (!read.isComplete) throw new Error("the form is complete");
    const vino = {
      metadata: VINO_OWNER,
      spec: { ...SPEC, xenOrchestra: { ...SPEC.xenOrchestra, pool: "lyon" } },
      status: { machines: [entry] },
    };
    const rest = { isConsumed: () => false, deletes: true };
    const result = takeSnapshot({ vino, owner: VINO_OWNER, view, roles: read.roles, ...rest });
    if (result.kind === "refused") throw new Error(result.message);
    const machines = new Map([FIRST, SECOND].map((name) => [name, []]));
    const addresses = { machines, problems: new Map(), notices: [] };
    const options = { spec: SPEC, roles: read.roles, addresses, hasBmc: false };
    const { tasks, idle } = toWantedTasks(result.snapshot, options);
    expect(tasks.map(({ name }) => name)).toEqual([SECOND]);
    const why = "The cloud does not show its host h9: pool paris is disconnected or still loading";
    expect(idle).toMatchObject([{ name: FIRST, why }]);
  });
});

test("toRemovalTask() names the machine, and wants no spec", () => {
  expect(toRemovalTask(VINO_OWNER, toKnown("worker", 3))).toMatchObject({
    name: toEntry("worker", 3).name,
    identity: { role: "worker", index: 3 },
    goal: { kind: "remove" },
  });
});

test("listForgotten() finds machines with addresses that are neither wanted nor known, of this Vino alone", () => {
  const { snapshot } = toScene();
  const forgotten = toEntry("worker", 9).name;
  const holders = [FIRST, SECOND, forgotten, "vino-00000000-worker-9", "something"];
  expect(listForgotten(VINO_OWNER, holders, snapshot).map(({ name }) => name)).toEqual([forgotten]);
});
