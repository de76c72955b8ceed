/**
 * The objects of machines with their records, and the seeds and the hosts of machines.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { VinoMachines } from "../../../../lib/controllers/vino/machines/vino_machines.ts";
import type { Vino, VinoSpec } from "../../../../lib/controllers/vino/resource/vino.ts";
import type { VinoMachine } from "../../../../lib/controllers/vino/resource/vino_machine.ts";
import { FINALIZER } from "../../../../lib/controllers/vino/words.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { toEntry, toMachine, toObject, toView, VINO_OWNER } from "../../../support/vino/known.ts";
import { MachineObjects } from "../../../support/vino/machine_objects.ts";
import { toProblem, toReport } from "../../../support/vino/reports.ts";
import { toTask } from "../../../support/vino/steps_rig.ts";
import { type MachineStart } from "../../../../lib/controllers/vino/machines/steps/tasks.ts";
import { readSeed } from "../../../../lib/controllers/vino/guest/cloud_init.ts";
import { type RoleForm, readRoles } from "../../../../lib/controllers/vino/resource/role_form.ts";
import type { WantedHost } from "../../../../lib/controllers/vino/hosts/types.ts";
import type { MachinePlan } from "../../../../lib/cloud/capabilities/machines.ts";
import type { KubeClient } from "../../../../lib/kube/api/client.ts";
import { toSecretData } from "../../../../lib/kube/kinds/secret.ts";
import {
  findForeignHost,
  findHostUse,
  findWantedHost,
  toHostRequest,
} from "../../../../lib/controllers/vino/machines/publish_hosts.ts";
import type { HostFacts } from "../../../../lib/controllers/vino/hosts/host_facts.ts";
import { ReconcilerRig, toVinoSpec } from "../../../support/vino/reconciler_rig.ts";

const { signal } = new AbortController();

const VINO: Vino = { metadata: { ...VINO_OWNER, finalizers: [FINALIZER] } };
const KEY = `${VINO_OWNER.namespace}/${VINO_OWNER.name}`;
const VM = "vino-1b4e28ba-worker-0";

/** A process with objects. @param vino As its cache shows it. Absent: it is gone */
function open(objects: MachineObjects, vino: Vino | undefined = VINO): VinoMachines {
  return objects.open({ vinoes: new Map(vino ? [[KEY, vino]] : []) });
}

function save(machines: VinoMachines, text: string | undefined, vino = VINO): Promise<void> {
  return machines.record(vino, toTask(0)).save(text, signal);
}

function toGoing(object: VinoMachine): VinoMachine {
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  return { ...object, metadata: { ...object.metadata, deletionTimestamp } };
}

describe("a record", () => {
  test("is kept in an object of its own, with what was decided, and taken away", async () => {
    const objects = new MachineObjects();
    const machines = open(objects);
    await save(machines, "task-1");
    const object = objects.server.get("edge-worker-0");
    expect(object?.metadata).toMatchObject({
      finalizers: [FINALIZER],
      ownerReferences: [{ kind: "Vino", name: "edge", uid: VINO_OWNER.uid, controller: true }],
    });
    expect(object?.spec).toMatchObject({
      vinoName: "edge",
      vinoUid: VINO_OWNER.uid,
      machineName: VM,
      role: "worker",
      index: 0,
      template: "t",
      cpus: 2,
    });
    expect(objects.entries).toMatchObject([{ name: VM, state: "Creating", record: "task-1" }]);
    expect(machines.record(VINO, toTask(0)).text).toBe("task-1");
    await save(machines, undefined);
    expect(machines.record(VINO, toTask(0)).text).toBeUndefined();
    expect(objects.writes).toEqual(
      ["create", "status", "status"].map((one) => `${one} edge-worker-0`),
    );
  });

  test("resolves only when the server has the text", async () => {
    const objects = new MachineObjects();
    const { promise, resolve } = Promise.withResolvers<void>();
    objects.onWrite = (what) => (what.startsWith("status") ? promise : undefined);
    const saving = save(open(objects), "a");
    const first = await Promise.race([saving, new Promise((done) => setImmediate(done, "waits"))]);
    expect(first).toBe("waits");
    resolve();
    await saving;
    expect(objects.entries).toMatchObject([{ record: "a" }]);
  });

  test("keeps what others wrote since, and is read back before another try", async () => {
    const objects = new MachineObjects([toObject(toEntry("worker", 0, { state: "Creating" }))]);
    const machines = open(objects);
    objects.setUnseen(toObject(toEntry("worker", 0, { state: "Creating", message: "seen" })));
    await save(machines, "a");
    expect(objects.entries).toMatchObject([{ record: "a", message: "seen" }]);
    expect(objects.reads).toEqual(["edge-worker-0"]);
  });

  test("is written to an object that the cache does not show yet, and made again if it is gone", async () => {
    const objects = new MachineObjects();
    const machines = open(objects);
    objects.setUnseen(toObject(toEntry("worker", 0, { state: "Creating" })));
    await save(machines, "a");
    objects.server.clear();
    await save(machines, "b");
    expect(objects.entries).toMatchObject([{ record: "b" }]);
  });

  test("is not written for a Vino that is gone, or another one of its name", async () => {
    for (const vino of [undefined, { metadata: { ...VINO.metadata, uid: "another" } }]) {
      const objects = new MachineObjects();
      const machines = objects.open({ vinoes: new Map(vino ? [[KEY, vino]] : []) });
      await expect(save(machines, "a")).rejects.toThrow("the Vino is gone, or another one");
      expect(objects.writes).toEqual([]);
    }
  });

  test("gives up when others are always quicker, and the record stays as it was", async () => {
    const objects = new MachineObjects([toObject(toEntry("worker", 0))]);
    const machines = open(objects);
    objects.onWrite = () => objects.setUnseen(toObject(toEntry("worker", 0)));
    await expect(save(machines, "a")).rejects.toThrow("modified");
    expect(machines.record(VINO, toTask(0)).text).toBeUndefined();
    expect(objects.writes).toHaveLength(8);
  });

  test("has at most 1 KiB", async () => {
    await expect(save(open(new MachineObjects()), "ü".repeat(513))).rejects.toThrow("1 KiB");
  });

  test("of a machine without an object stays in memory while its Vino is deleted, and nothing is made", async () => {
    const objects = new MachineObjects();
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    const vino = { metadata: { ...VINO.metadata, deletionTimestamp } };
    const machines = open(objects, vino);
    await save(machines, "a", vino);
    expect(machines.record(vino, toTask(0)).text).toBe("a");
    await machines.report(vino, toReport(0), signal);
    expect(objects.writes).toEqual([]);
  });
});

const FOREIGN: readonly (readonly [string, VinoMachine])[] = [
  ["of another Vino", toObject(toEntry("worker", 0), { ...VINO_OWNER, uid: "another" })],
  ["that names another machine", toObject(toEntry("worker", 0, { name: "web-1" }))],
  [
    "that names a machine of another Vino",
    toObject(toEntry("worker", 0, { name: "vino-99999999-worker-0" })),
  ],
  ["of another number", { ...toObject(toEntry("worker", 1)), ...withName("edge-worker-0") }],
  ["without a spec", withName("edge-worker-0")],
];

function withName(name: string): Pick<VinoMachine, "metadata"> {
  return { metadata: { namespace: VINO_OWNER.namespace, name, uid: "foreign" } };
}

test.each(FOREIGN)("an object %s is never read, written or deleted", async (_what, object) => {
  const objects = new MachineObjects([{ ...object, status: { record: "forged", state: "Ready" } }]);
  const machines = open(objects);
  expect(machines.listEntries(VINO)).toEqual([]);
  const found = machines.findForeign(VINO, { role: "worker", index: 0 });
  expect(found?.metadata.name).toBe("edge-worker-0");
  expect(machines.record(VINO, toTask(0)).text).toBeUndefined();
  await expect(save(machines, "a")).rejects.toThrow("is not for this machine");
  await machines.report(VINO, toReport(0), signal);
  await machines.release(VINO, () => true, signal);
  expect(objects.server.get("edge-worker-0")?.status?.record).toBe("forged");
  // It was tried, and refused.
  expect(objects.writes.filter((one) => !one.startsWith("create"))).toEqual([]);
});

describe("VinoMachines.report()", () => {
  test("says what is reported, and then writes nothing", async () => {
    const objects = new MachineObjects();
    const machines = open(objects);
    const parts = [
      { name: "CPUs", wanted: "4", actual: "2" },
      { name: "memory", wanted: "4 GiB", actual: "4 GiB" },
    ];
    const notice = toProblem("notice", "CPUs 2, not 4");
    const report = toReport(
      0,
      { host: "h1", hostDisplayName: "xcp-1", message: "CPUs 2, not 4" },
      { parts, problems: [notice], power: "running" },
    );
    await machines.report(VINO, report, signal);
    const { spec, status } = objects.server.get("edge-worker-0") ?? {};
    expect(spec).toMatchObject({ host: "h1", hostDisplayName: "xcp-1" });
    expect(status).toMatchObject({
      state: "Ready",
      machineId: "vm-0",
      power: "running",
      bareMetalHost: "Published",
      differences: [{ name: "CPUs" }],
    });
    const conditions = status?.conditions?.map((one) => `${one.type} ${one.status} ${one.reason}`);
    expect(conditions).toEqual([
      "Made True MachineExists",
      "Complete True AllPartsMade",
      "Published True HostPublished",
      "Differs True PersonNeeded",
      "Removed False Wanted",
    ]);
    expect(objects.writes).toEqual(["create edge-worker-0", "status edge-worker-0"]);
    await machines.report(VINO, report, signal);
    expect(objects.writes).toHaveLength(2);
  });

  test("lists as many differences as an object may have, and says how many more there are", async () => {
    const objects = new MachineObjects();
    const parts = Array.from({ length: 66 }, (_, at) => ({ name: `disk ${at}`, actual: "1 GiB" }));
    await open(objects).report(VINO, toReport(0, {}, { parts }), signal);
    const { differences = [] } = objects.server.get("edge-worker-0")?.status ?? {};
    expect(differences).toHaveLength(64);
    expect(differences.slice(-2).map(({ name }) => name)).toEqual(["disk 62", "and 3 more"]);
  });

  test("keeps the record and what was decided, and takes away what is over", async () => {
    const objects = new MachineObjects();
    const machines = open(objects);
    await save(machines, "task-1");
    await machines.report(VINO, toReport(0, { message: "no room", state: "Blocked" }), signal);
    await machines.report(VINO, toReport(0, { state: "Removing" }, { isWanted: false }), signal);
    const { spec, status } = objects.server.get("edge-worker-0") ?? {};
    expect(spec).toMatchObject({ template: "t", cpus: 2 });
    expect(status).toMatchObject({ record: "task-1", state: "Removing" });
    expect(status).not.toHaveProperty("message");
  });

  test("and the record of a machine that is saved meanwhile wait for each other", async () => {
    const objects = new MachineObjects([toObject(toEntry("worker", 0))]);
    const machines = open(objects);
    objects.onWrite = () => new Promise((done) => void setImmediate(done));
    const report = toReport(0, { message: "no room" });
    await Promise.all([machines.report(VINO, report, signal), save(machines, "a")]);
    expect(objects.entries).toMatchObject([{ record: "a", message: "no room" }]);
    expect(objects.reads).toEqual([]);
  });

  test("keeps the name of a host that the cloud does not show, and forgets that of another host", async () => {
    const objects = new MachineObjects();
    const machines = open(objects);
    const read = (): string | undefined => objects.entries[0]?.hostDisplayName;
    await machines.report(VINO, toReport(0, { host: "h1", hostDisplayName: "xcp-1" }), signal);
    await machines.report(VINO, toReport(0, { host: "h1" }), signal);
    expect(read()).toBe("xcp-1");
    await machines.report(VINO, toReport(0, { host: "h2" }), signal);
    expect(read()).toBeUndefined();
  });

  test("puts the finalizer back", async () => {
    const object = toObject(toEntry("worker", 0));
    const { finalizers: _none, ...metadata } = object.metadata;
    const objects = new MachineObjects([{ ...object, metadata }]);
    await open(objects).report(VINO, toReport(0), signal);
    expect(objects.server.get("edge-worker-0")?.metadata.finalizers).toEqual([FINALIZER]);
  });

  test("keeps an object that something deletes, and says how to remove its machine", async () => {
    const objects = new MachineObjects([toGoing(toObject(toEntry("worker", 0, { record: "r" })))]);
    const machines = open(objects);
    await machines.report(VINO, toReport(0), signal);
    machines.warnLeaving(VINO);
    expect(objects.entries).toMatchObject([{ record: "r", state: "Ready" }]);
    expect(objects.events).toEqual([
      "DeletionWaits edge-worker-0: Landfall keeps this VinoMachine until nothing of its machine is left. To remove " +
        "the machine, lower count of role worker in Vino edge",
    ]);
  });
});

describe("an object that only finalizers of others hold while something deletes it", () => {
  const object = toGoing(toObject(toEntry("worker", 0, { record: "old" })));
  const finalizers = ["example.org/a"];
  const held = { ...object, metadata: { ...object.metadata, finalizers } };
  const TEXT =
    "VinoMachine edge-worker-0 is being deleted, and finalizers of others hold it: example.org/a";

  test("is as good as gone, and gets no record of a new machine", async () => {
    const objects = new MachineObjects([held]);
    const machines = open(objects);
    expect(machines.listEntries(VINO)).toEqual([]);
    expect(machines.record(VINO, toTask(0)).text).toBeUndefined();
    await expect(save(machines, "new")).rejects.toThrow(TEXT);
    await machines.report(VINO, toReport(0), signal);
    expect(objects.entries).toMatchObject([{ record: "old" }]);
  });

  test("lets nothing be made until it is gone, and the Vino says so", async () => {
    const rig = new ReconcilerRig(toVinoSpec(1));
    rig.objects.set(held);
    await rig.pass();
    expect(rig.steps).toEqual([]);
    const [ready] = rig.server?.status?.conditions ?? [];
    expect(ready).toMatchObject({ reason: "DecisionNeeded" });
    expect(ready?.message).toContain(TEXT);
    expect(ready?.message).toContain("Landfall goes on with the machine when that object is gone");
    rig.objects.server.clear();
    rig.objects.show();
    await rig.clock.advance(600_000);
    await rig.pass();
    await rig.pass();
    expect(rig.machines).toEqual(["worker-0 Ready"]);
  });
});

describe("VinoMachines.release()", () => {
  test("lets objects go that are not kept, and keeps finalizers of others", async () => {
    const [first, second] = [0, 1].map((index) => toObject(toEntry("worker", index)));
    if (!first || !second) throw new Error("two objects");
    const finalizers = [FINALIZER, "example.org/a"];
    const held = toGoing({ ...second, metadata: { ...second.metadata, finalizers } });
    const objects = new MachineObjects([first, held, toObject(toEntry("worker", 2))]);
    await open(objects).release(VINO, ({ index }) => index !== 2, signal);
    expect([...objects.server.keys()]).toEqual(["edge-worker-1", "edge-worker-2"]);
    expect(objects.server.get("edge-worker-1")?.metadata.finalizers).toEqual(["example.org/a"]);
  });
});

test("VinoMachines.release() lets the others go if Kubernetes refuses one", async () => {
  const objects = new MachineObjects(
    Array.from({ length: 30 }, (_, index) => toObject(toEntry("worker", index))),
  );
  objects.onWrite = (write) => {
    if (write.endsWith(" edge-worker-0")) throw new KubeError("invalid", "no");
  };
  const released = open(objects).release(VINO, () => true, signal);
  await expect(released).rejects.toThrow("refuses VinoMachine edge-worker-0: no");
  expect([...objects.server.keys()]).toEqual(["edge-worker-0"]);
});

describe("an object whose Vino is gone", () => {
  /** @param vino What the API server has by its name */
  async function release(object: VinoMachine, vino: Vino | undefined): Promise<MachineObjects> {
    const objects = new MachineObjects([object]);
    objects.vino = vino;
    const machines = objects.open({ vinoes: new Map() });
    const [held] = [...machines.reader.values()];
    if (held) await machines.releaseOrphan(held, signal);
    return objects;
  }

  const object = toObject(toEntry("worker", 0, { record: "r" }));

  test("goes when something deletes it", async () => {
    const another = { metadata: { ...VINO.metadata, uid: "another" } };
    for (const vino of [undefined, another]) {
      expect((await release(toGoing(object), vino)).server.size).toBe(0);
    }
  });

  test("goes when its Vino ends without our finalizer, as while others hold the Vino", async () => {
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    const [ended, ending] = [["foregroundDeletion"], [FINALIZER]].map((finalizers) => ({
      metadata: { ...VINO.metadata, deletionTimestamp, finalizers },
    }));
    expect((await release(toGoing(object), ended)).server.size).toBe(0);
    expect((await release(toGoing(object), ending)).server.size).toBe(1);
  });

  test("goes if it is not of its name, such as a copy, also while its Vino exists", async () => {
    const copy = { ...object, metadata: { ...object.metadata, name: "copy" } };
    expect((await release(toGoing(copy), VINO)).server.size).toBe(0);
  });

  test("stays while its Vino exists, whatever the cache shows, and while nothing deletes it", async () => {
    expect((await release(toGoing(object), VINO)).server.size).toBe(1);
    expect((await release(object, undefined)).server.size).toBe(1);
  });
});

const FORM: RoleForm = {
  template: "debian",
  cpus: 2,
  memoryBytes: 1,
  disks: [],
  countPer: "Host",
  boot: "Template",
  hosts: {},
};
const SECRET = { name: "user-data", key: "userData" };
const STATIC = {
  name: "eth0",
  network: "oam",
  mac: "02:00:00:00:00:01",
  addresses: [{ ip: "192.0.2.10", prefixLength: 24 }],
  routes: [],
  dnsServers: [],
};

function read(
  start: MachineStart | undefined,
  texts?: Record<string, string>,
): ReturnType<typeof readSeed> {
  const client: Pick<KubeClient, "read"> = {
    read: async () => {
      if (texts === undefined) throw new KubeError("notFound", "404");
      return JSON.parse(
        JSON.stringify({ metadata: { name: "user-data" }, data: toSecretData(texts) }),
      );
    },
  };
  const names = { namespace: "metal", machine: "vino-1-worker-0", host: "edge-worker-0" };
  return readSeed(client, { ...names, start }, signal);
}

describe("readSeed()", () => {
  test("reads user data, and adds names and networks", async () => {
    const form = { ...FORM, userDataSecret: SECRET };
    expect(
      await read({ form, interfaces: [STATIC] }, { userData: "#cloud-config\nusers: []\n" }),
    ).toEqual({
      label: "cidata",
      files: {
        "user-data": "#cloud-config\nusers: []\n",
        "meta-data": expect.stringContaining('"edge-worker-0"'),
        "network-config": expect.stringContaining("192.0.2.10"),
      },
    });
  });

  test("gives static addresses to a machine without user data", async () => {
    const seed = await read({ form: FORM, interfaces: [STATIC] });
    expect(seed?.files["user-data"]).toBe("#cloud-config\n{}\n");
  });

  test("refuses user data that cloud-init would ignore, without a part of it", async () => {
    const start = { form: { ...FORM, userDataSecret: SECRET }, interfaces: [] };
    await expect(read(start, { userData: "password=hunter2" })).rejects.toThrow(
      /^Cannot use user data: key userData of Secret user-data must begin with[^2]+$/,
    );
  });

  test.each<[string, MachineStart | undefined]>([
    ["goes", undefined],
    [
      "is installed by metal3",
      { form: { ...FORM, boot: "Network", userDataSecret: SECRET }, interfaces: [STATIC] },
    ],
    ["has neither user data nor a static address", { form: FORM, interfaces: [] }],
  ])("reads nothing for a machine that %s", async (_title, start) => {
    expect(await read(start)).toBeUndefined();
  });

  test("says which Secret or key is missing, and nothing of its content", async () => {
    const start = { form: { ...FORM, userDataSecret: SECRET }, interfaces: [] };
    await expect(read(start)).rejects.toThrow('there is no Secret "user-data"');
    await expect(read(start, { other: "hunter2" })).rejects.toThrow(
      /^Cannot read user data: Secret "user-data" has no key "userData"$/,
    );
  });
});

const UID = "1b4e28ba-2fa1-11d2-883f-0016d3cca427";
const MACHINE = "vino-1b4e28ba-worker-0";
const USE = 'is used by Metal3Machine "a"';

test.each<[string, Partial<HostFacts> | undefined, string | undefined, boolean]>([
  ["is used", { vinoUid: UID }, USE, false],
  ["nothing uses", { vinoUid: UID, use: undefined }, undefined, false],
  ["lost its label", { machineName: MACHINE }, USE, false],
  ["has its name, and is of something else", {}, undefined, true],
  [
    "lost its label, and is for another machine",
    { machineName: "vino-00000000-a-0" },
    undefined,
    true,
  ],
  [
    "has another label, and is for the machine",
    { vinoUid: "v2", machineName: MACHINE },
    USE,
    false,
  ],
  ["is of another Vino", { vinoUid: "v2", machineName: "vino-00000000-a-0" }, undefined, true],
  ["does not exist", undefined, undefined, false],
])("findHostUse() and findForeignHost() of a host that %s", (_what, over, use, isForeign) => {
  const asked: string[] = [];
  const find = (namespace: string, name: string): HostFacts | undefined => {
    asked.push(`${namespace}/${name}`);
    if (over === undefined) return undefined;
    const base = { uid: "h", resourceVersion: "1", labels: {}, record: new Set<string>() };
    const flags = { isPaused: false, isDeleting: false, isBmcOpen: true };
    const none = { vinoUid: undefined, machineName: undefined, machineId: undefined };
    const spec = {
      hardwareDetails: undefined,
      bootMac: undefined,
      wayOut: undefined,
      error: undefined,
    };
    return { ...base, ...flags, ...none, ...spec, bmcAddress: undefined, name, use: USE, ...over };
  };
  const vino = { metadata: { namespace: "metal", name: "edge", uid: UID } };
  expect(findHostUse({ find }, vino, { role: "worker", index: 0 })).toBe(use);
  const foreign = findForeignHost({ find }, vino, { role: "worker", index: 0 });
  expect(foreign?.name).toBe(isForeign ? "edge-worker-0" : undefined);
  expect(asked).toEqual(["metal/edge-worker-0", "metal/edge-worker-0"]);
});

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

test("findWantedHost() publishes only a complete machine, and for the first time only one that is started", () => {
  const read = readRoles(SPEC);
  const role = read.isComplete ? read.roles.get("worker") : undefined;
  if (role === undefined || !read.isComplete) throw new Error("the form is complete");
  const input = { vino: VINO, deletes: true, desired: { spec: SPEC, roles: read.roles } };
  const placement = { wanted: [], surplus: [], shortages: [], notices: [], wantedCount: 1 };
  const snapshot = { owner: VINO_OWNER, view: toView([]), known: [], placement };
  const task = { ...toTask(0), start: { form: role.form, interfaces: INTERFACES } };
  const machine = toMachine("worker", 0, { cpus: 7 });
  const find = (change: Partial<MachinePlan>, isNew = true): WantedHost | undefined => {
    const base = { state: "Ready", steps: [], problems: [], parts: [], machine } as const;
    return findWantedHost(task, { ...base, isBuilt: true, ...change }, { input, snapshot }, isNew);
  };
  expect(find({})).toMatchObject({
    name: "edge-worker-0",
    machineId: "vm-worker-0",
    power: "running",
    labels: { values: { tier: "gold", "vino.airshipit.org/network.pxe": "" } },
    bootMac: "02:00:00:00:00:01",
    rootDeviceName: "/dev/xvda",
    firmware: "uefi",
    isBuilt: true,
    // It has other CPUs than the spec until it is stopped.
    hardware: {
      cpus: 7,
      memoryBytes: 4 * 1024 ** 3,
      disks: [{ name: "root" }],
      areDisksKnown: false,
    },
    isExternallyProvisioned: false,
  });
  expect(find({ state: "Creating" }, false)).toBeUndefined();
  for (const change of [{ steps: [{ summary: "start" }] }, { needsLook: true }]) {
    expect(find(change)).toBeUndefined();
    expect(find(change, false)).toBeDefined();
  }
  // A look shows the disks, and otherwise they are those of the spec.
  const toDisks = (disks: NonNullable<MachinePlan["disks"]>): object => {
    const { hardware } = find({ disks }) ?? {};
    return [hardware?.disks.map((disk) => disk.name), hardware?.areDisksKnown];
  };
  expect(toDisks([{ name: "vino-a.disk0", sizeBytes: 1 }])).toEqual([["vino-a.disk0"], true]);
  expect(toDisks([])).toEqual([[], true]);
});

test("toHostRequest() says that a host was paused or moved, and that a user wants moved ones again", () => {
  const annotations = { "landfall.dev/publish-moved-hosts": "true" };
  const vino = { metadata: { ...VINO_OWNER, annotations } };
  const machine = { role: "worker", index: 0 };
  const states = ["Paused", "Moved", "Published", undefined] as const;
  const requests = states.map((said) => toHostRequest(vino, VINO_OWNER, machine, said));
  expect(requests.map(({ wasPaused }) => wasPaused)).toEqual([true, true, false, false]);
  expect(requests[0]).toMatchObject({ name: "edge-worker-0", publishesMoved: true });
  expect(toHostRequest(VINO, VINO_OWNER, machine, undefined).publishesMoved).toBe(false);
});
