import { expect, test } from "bun:test";
import { ProgressTracker } from "../../../../lib/controllers/vino/machines/steps/progress_tracker.ts";
import {
  type CompleteMachine,
  publishMachines,
  toWantedHost,
} from "../../../../lib/controllers/vino/machines/publish_hosts.ts";
import {
  type MachineTask,
  toWantedTasks,
} from "../../../../lib/controllers/vino/machines/steps/tasks.ts";
import type { PublishRequest } from "../../../../lib/controllers/vino/hosts/publish/host_publisher.ts";
import { takeSnapshot } from "../../../../lib/controllers/vino/placement/snapshot.ts";
import { readRoles } from "../../../../lib/controllers/vino/placement/roles.ts";
import type { Vino, VinoSpec } from "../../../../lib/controllers/vino/resource/vino.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { toEntry, toKnown, toMachine, toView, VINO_OWNER } from "../../../support/vino/known.ts";
import { MachinesDouble } from "../../../support/vino/machines_double.ts";

const SPEC: VinoSpec = {
  networks: [{ name: "oam" }, { name: "pxe" }],
  nodes: [
    {
      name: "worker",
      count: 4,
      bootInterfaceName: "eth1",
      bmhLabels: { tier: "gold" },
    },
  ],
  xenOrchestra: {
    template: "t",
    cpus: 2,
    memory: "4Gi",
    countPer: "Total",
    boot: "Network",
    disks: [{ name: "root", size: "1Gi" }],
  },
};
const INTERFACES = ["oam", "pxe"].map((network, at) => ({
  name: `eth${at}`,
  network,
  mac: `02:00:00:00:00:0${at}`,
  addresses: [],
  routes: [],
  dnsServers: [],
}));

test("publishMachines() publishes complete machines, takes back those that leave, and names paused hosts", async () => {
  const read = readRoles(SPEC);
  if (!read.isComplete) throw new Error("the form is complete");
  const { roles } = read;
  const entries = [
    toEntry("worker", 0, { bareMetalHost: "Paused" }),
    toEntry("worker", 7, { bareMetalHost: "InUse" }),
  ];
  const vino: Vino = {
    metadata: { ...VINO_OWNER, annotations: { "landfall.dev/publish-moved-hosts": "true" } },
    spec: SPEC,
    status: { machines: entries },
  };
  const machines = [
    toMachine("worker", 0),
    toMachine("worker", 1, { isComplete: false }),
    toMachine("worker", 2),
    toMachine("worker", 3),
  ];
  const snapshot = takeSnapshot({
    vino,
    owner: VINO_OWNER,
    view: toView(machines),
    roles,
    isConsumed: () => false,
    deletes: true,
  });
  if (snapshot.kind === "refused") throw new Error(snapshot.message);
  const addresses = {
    machines: new Map(machines.map(({ name }) => [name, INTERFACES])),
    problems: new Map(),
    notices: [],
  };
  const { tasks } = toWantedTasks(snapshot.snapshot, {
    spec: SPEC,
    roles,
    addresses,
    hasBmc: false,
  });
  const plans = Object.assign(new MachinesDouble(), {
    plan: (_view: object, { index }: { index: number }) => {
      const state = index === 1 ? ("Creating" as const) : ("Ready" as const);
      // The last one is complete, and is not started yet.
      const steps = index === 2 ? [{ summary: "start" }] : [];
      // Only a look can tell what is to do with this one.
      const needsLook = index === 3;
      // It has other CPUs than the spec until it is stopped.
      const machine = toMachine("worker", index, { cpus: 7 });
      return { state, steps, problems: [], parts: [], machine, needsLook, isBuilt: true };
    },
  });
  const tracker = new ProgressTracker({ clock: new ManualClock(), machines: plans });
  for (const task of tasks) tracker.review(task, snapshot.snapshot.view, undefined);
  const requests: PublishRequest[] = [];
  const publisher = {
    list: () => [],
    publish: async (request: PublishRequest) => {
      requests.push(request);
      const outcome = { state: "Published", notices: [] } as const;
      return {
        hosts: request.hosts.map(({ name }) => ({ name, ...outcome })),
        unwanted: request.unwanted.map((name) => ({ name, ...outcome, state: "Gone" as const })),
        againMs: 7,
      };
    },
  };
  const leaving = [toKnown("worker", 7)];
  const desired = { spec: SPEC, roles };
  const publication = {
    vino,
    snapshot: snapshot.snapshot,
    desired,
    addresses,
    tasks,
    leaving,
    tracker,
  };
  const pass = await publishMachines(publication, publisher, new AbortController().signal);
  expect(requests).toMatchObject([
    {
      owner: VINO_OWNER,
      hosts: [
        {
          name: "edge-worker-0",
          machineId: "vm-worker-0",
          power: "running",
          labels: { values: { tier: "gold", "vino.airshipit.org/network.pxe": "" } },
          bootMac: "02:00:00:00:00:01",
          rootDeviceName: "/dev/xvda",
          firmware: "uefi",
          isBuilt: true,
          hardware: {
            cpus: 7,
            memoryBytes: 4 * 1024 ** 3,
            disks: [{ name: "root" }],
            areDisksKnown: false,
          },
          isExternallyProvisioned: false,
        },
      ],
      unwanted: ["edge-worker-7"],
      paused: new Set(["edge-worker-0"]),
      publishesMoved: true,
    },
  ]);
  expect([...pass.published.keys()]).toEqual([toEntry("worker", 0).name]);
  expect(pass.unwanted.get(toEntry("worker", 7).name)?.state).toBe("Gone");
  expect(pass.againMs).toBe(7);
});

test("toWantedHost() has the disks that a look showed, and otherwise those of the spec", () => {
  const read = readRoles(SPEC);
  const role = read.isComplete ? read.roles.get("worker") : undefined;
  if (role === undefined) throw new Error("the form is complete");
  const snapshot = { owner: VINO_OWNER, view: toView([]) };
  const identity = { owner: VINO_OWNER, role: "worker", index: 0 };
  const task: MachineTask = { name: "a", identity, goal: { kind: "remove" } };
  const base = { task, machine: toMachine("worker", 0), isBuilt: true, role, interfaces: [] };
  const toDisks = (disks: CompleteMachine["disks"]): object => {
    const { hardware } = toWantedHost({ ...base, disks }, snapshot, SPEC);
    return [hardware.disks.map(({ name }) => name), hardware.areDisksKnown];
  };
  expect(toDisks([{ name: "vino-a.disk0", sizeBytes: 1 }])).toEqual([["vino-a.disk0"], true]);
  expect(toDisks([])).toEqual([[], true]);
  expect(toDisks(undefined)).toEqual([["root"], false]);
});
