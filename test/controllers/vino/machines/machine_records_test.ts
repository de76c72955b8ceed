/**
 * Records of machines in the status of a Vino, their seeds, and their hosts.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { MachineRecords } from "../../../../lib/controllers/vino/machines/machine_records.ts";
import type {
  Vino,
  VinoMachine,
  VinoSpec,
  VinoStatus,
} from "../../../../lib/controllers/vino/resource/vino.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { toEntry, toKnown, toMachine, toView, VINO_OWNER } from "../../../support/vino/known.ts";
import {
  type MachineStart,
  type MachineTask,
  toWantedTasks,
} from "../../../../lib/controllers/vino/machines/steps/tasks.ts";
import { readSeed } from "../../../../lib/controllers/vino/machines/seed.ts";
import type { RoleForm } from "../../../../lib/controllers/vino/resource/role_form.ts";
import type { KubeClient } from "../../../../lib/kube/api/client.ts";
import { toSecretData } from "../../../../lib/kube/kinds/secret.ts";
import {
  findForeignHost,
  findHostUse,
} from "../../../../lib/controllers/vino/machines/host_use.ts";
import type { HostFacts } from "../../../../lib/controllers/vino/hosts/host_facts.ts";
import { ProgressTracker } from "../../../../lib/controllers/vino/machines/steps/progress_tracker.ts";
import {
  type CompleteMachine,
  publishMachines,
  toWantedHost,
} from "../../../../lib/controllers/vino/machines/publish_hosts.ts";
import type { PublishRequest } from "../../../../lib/controllers/vino/hosts/publish/host_publisher.ts";
import { takeSnapshot } from "../../../../lib/controllers/vino/placement/snapshot.ts";
import { readRoles } from "../../../../lib/controllers/vino/placement/roles.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { MachinesDouble } from "../../../support/vino/machines_double.ts";

const { signal } = new AbortController();

/** An API server with one Vino, and a cache that may be old. */
class Server {
  vino: Vino;
  cached: Vino;
  patches = 0;
  reads = 0;
  /** Called before each patch. */
  onPatch: () => Promise<void> | void = () => undefined;

  constructor(machines: readonly VinoMachine[] = []) {
    this.vino = {
      metadata: { name: "edge", uid: "u-1", resourceVersion: "1" },
      status: { machines },
    };
    this.cached = this.vino;
  }

  edit(change: (vino: Vino) => Vino): void {
    const resourceVersion = String(Number(this.vino.metadata.resourceVersion) + 1);
    const changed = change(this.vino);
    this.vino = { ...changed, metadata: { ...changed.metadata, resourceVersion } };
  }

  open(): MachineRecords {
    return new MachineRecords(
      this.cached,
      {
        find: () => this.cached,
        read: async () => {
          this.reads += 1;
          this.cached = this.vino;
          return this.vino;
        },
        patch: async (vino, status) => await this.#patch(vino, status),
      },
      signal,
    );
  }

  get records(): string[] {
    const { machines = [] } = this.vino.status ?? {};
    return machines.map(({ name, state, record }) => `${name.slice(-8)} ${state} ${record}`);
  }

  async #patch(vino: Vino, status: VinoStatus): Promise<Vino> {
    this.patches += 1;
    await this.onPatch();
    if (vino.metadata.resourceVersion !== this.vino.metadata.resourceVersion) {
      throw new KubeError("conflict", "modified");
    }
    this.edit((one) => ({ ...one, status: { ...one.status, ...status } }));
    this.cached = this.vino;
    return this.vino;
  }
}

const [A, B] = [toEntry("worker", 0), toEntry("worker", 1)].map(({ name, role, index }) => ({
  name,
  role,
  index,
  host: "h1",
}));
if (!A || !B) throw new Error("two machines");

describe("MachineRecords", () => {
  test("keeps a text in the status, and removes it", async () => {
    const server = new Server([toEntry("worker", 0, { state: "Creating", machineId: "x" })]);
    const records = server.open();
    await records.record(A).save("task-1", signal);
    expect(server.records).toEqual(["worker-0 Creating task-1"]);
    expect(records.record(A).text).toBe("task-1");
    expect(server.vino.status?.machines?.[0]).toMatchObject({ machineId: "x" });
    await records.record(A).save(undefined, signal);
    expect(server.records).toEqual(["worker-0 Creating undefined"]);
    expect([...records.texts]).toEqual([]);
  });

  test("adds a machine that the status does not have, with its host", async () => {
    const server = new Server();
    await server.open().record(A).save("task-1", signal);
    expect(server.vino.status?.machines).toEqual([{ ...A, state: "Creating", record: "task-1" }]);
  });

  test("begins with what the status has", () => {
    expect(new Server([toEntry("worker", 0, { record: "old" })]).open().record(A).text).toBe("old");
  });

  test("writes once for records that are saved at the same time, and once for those that come meanwhile", async () => {
    const server = new Server();
    const records = server.open();
    const later: Promise<void>[] = [];
    server.onPatch = () => {
      if (server.patches > 1) return;
      later.push(records.record(A).save("a-2", signal), records.record(B).save("b-2", signal));
    };
    await Promise.all([records.record(A).save("a", signal), records.record(B).save("b", signal)]);
    await Promise.all(later);
    expect(server.patches).toBe(2);
    expect(server.records).toEqual(["worker-0 Creating a-2", "worker-1 Creating b-2"]);
  });

  test("resolves only when the server has the text", async () => {
    const server = new Server();
    const { promise, resolve } = Promise.withResolvers<void>();
    server.onPatch = () => promise;
    const saving = server.open().record(A).save("a", signal);
    const first = await Promise.race([saving, new Promise((done) => setImmediate(done, "waits"))]);
    expect(first).toBe("waits");
    resolve();
    await saving;
    expect(server.records).toEqual(["worker-0 Creating a"]);
  });

  test("keeps what others wrote since, also records that it never saw", async () => {
    const server = new Server();
    const records = server.open();
    server.edit((vino) => ({
      ...vino,
      status: {
        machines: [toEntry("worker", 1, { state: "Creating", record: "of another process" })],
      },
    }));
    await records.record(A).save("a", signal);
    expect(server.records).toEqual(["worker-1 Creating of another process", "worker-0 Creating a"]);
    expect(server.reads).toBe(1);
  });

  test("does not write to another Vino of the same name", async () => {
    const server = new Server();
    const records = server.open();
    server.edit((vino) => ({ ...vino, metadata: { ...vino.metadata, uid: "u-2" } }));
    await expect(records.record(A).save("a", signal)).rejects.toThrow("or another one");
    expect(server.records).toEqual([]);
  });

  test("gives up when others are always quicker, and the record stays as it was", async () => {
    const server = new Server();
    const records = server.open();
    server.onPatch = () => server.edit((vino) => vino);
    await expect(records.record(A).save("a", signal)).rejects.toThrow("modified");
    expect(records.record(A).text).toBeUndefined();
    expect(server.patches).toBe(8);
  });

  test("refuses more than 1 KiB, and an aborted save", async () => {
    const records = new Server().open();
    await expect(records.record(A).save("ü".repeat(513), signal)).rejects.toThrow("1 KiB");
    const aborted = AbortSignal.abort(new Error("over"));
    await expect(records.record(A).save("a", aborted)).rejects.toThrow("over");
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
