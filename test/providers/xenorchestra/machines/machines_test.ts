/**
 * The whole protocol of making, keeping and removing machines, against the simulated Xen Orchestra.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { XoRecord } from "../../../../lib/simulator/xenorchestra/mod.ts";
import type { MachineSpec } from "../../../../lib/cloud/capabilities/machines.ts";
import { Rig, SEED, summarise } from "./rig.ts";
import { longTest } from "../../../support/long_tests.ts";

let rig: Rig;

beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.stop());

describe("a machine that must exist", () => {
  test("is created, completed, started once on its host, and then left alone", async () => {
    const spec = rig.spec({ seed: SEED });
    const plan = await rig.make(spec);
    expect(rig.errors).toEqual([]);
    expect(rig.done).toEqual([
      "create VM vino-1b4e28ba-worker-0",
      "upload and attach disk vino-1b4e28ba-worker-0-cidata",
      "note that VM vino-1b4e28ba-worker-0 is complete",
      "start VM vino-1b4e28ba-worker-0 on host xcp-par-2",
      "note that vino-1b4e28ba-worker-0 was started",
    ]);
    expect(plan).toMatchObject({ state: "Ready", problems: [] });
    expect(summarise(plan.machine)).toBe("vino-1b4e28ba-worker-0 complete running");
    const vm = rig.vm(spec);
    expect(vm).toMatchObject({
      $container: rig.site.hostIds["xcp-par-2"],
      CPUs: { number: 4 },
      blockedOperations: { destroy: "managed by Landfall (ViNO)" },
    });
    expect(vm["tags"]).toContain("vino");
  });

  test("needs no request at rest", async () => {
    const spec = rig.spec();
    await rig.make(spec);
    await rig.refresh();
    const cloud = await rig.machines.observe({ isForChange: false }, rig.signal);
    const before = rig.simulator.requests.total;
    const plan = rig.machines.plan(cloud, spec, rig.record(spec));
    expect(plan).toMatchObject({ state: "Ready", steps: [], problems: [] });
    expect(plan.needsLook).toBeUndefined();
    expect(rig.simulator.requests.total).toBe(before);
    expect(plan.machine?.instance).toMatchObject({ name: "vino-1b4e28ba-worker-0" });
  });
});

describe("a machine that must go", () => {
  test("is shut down and deleted with its disks, and nothing else is", async () => {
    const spec = rig.spec({ seed: SEED });
    const count = (): number[] =>
      (["vms", "vdis", "vbds", "vifs"] as const).map((one) => rig.list(one).length);
    const before = count();
    await rig.make(spec);
    rig.done.length = 0;
    const plan = await rig.remove(spec);
    expect(rig.errors).toEqual([]);
    expect(plan).toMatchObject({ state: "Absent", problems: [], steps: [] });
    expect(rig.done.map((one) => one.replace(/ \([-\w]+\)/, ""))).toEqual([
      "shut down VM vino-1b4e28ba-worker-0",
      "delete VM vino-1b4e28ba-worker-0 with its disks",
    ]);
    expect(count()).toEqual(before);
  });
});

describe("a disk that is added to the spec of a complete machine", () => {
  const before = (): MachineSpec => rig.spec({ disks: rig.spec().disks.slice(0, 1) });
  const listOwn = (): XoRecord[] =>
    rig.list("vdis").filter((one) => String(one["name_label"]).startsWith("vino-"));
  const listAttached = (): unknown[] =>
    listOwn().map(({ name_label: name, size, $VBDs: links }) => [name, size, Object(links).length]);
  const WHOLE = [
    ["vino-1b4e28ba-worker-0.root", 20 * 1024 ** 3, 1],
    ["vino-1b4e28ba-worker-0.data", 5 * 1024 ** 3, 1],
  ];

  test("is made where the spec says, and attached while the machine runs, once", async () => {
    await rig.make(before());
    rig.done.length = 0;
    const plan = await rig.make(rig.spec());
    expect(plan).toMatchObject({ state: "Ready", problems: [], steps: [], isBuilt: true });
    // Xen Orchestra does not know the disk yet when it is to be attached.
    expect(rig.errors).toEqual([]);
    const additions = rig.done.filter((one) => one.startsWith("add disk"));
    expect(additions).toEqual(["add disk data to vino-1b4e28ba-worker-0"]);
    expect(listAttached()).toEqual(WHOLE);
    expect(rig.vm(before())).toMatchObject({ power_state: "Running" });
    expect(listOwn()[1]?.["name_description"]).toEndWith("role=worker index=0 disk=data");
    const own = rig.list("vbds").find((one) => one["VDI"] === listOwn()[1]?.id);
    expect(own).toMatchObject({ read_only: false, position: "1" });
    expect(await rig.remove(rig.spec())).toMatchObject({ state: "Absent" });
    expect(listOwn()).toEqual([]);
  });

  test.each([
    ["the request to make it is lost", "reset", "POST /vdis"],
    ["the answer to that is lost", "resetAfter", "POST /vdis"],
    ["the request to attach it is lost", "reset", "POST /vbds"],
    ["the answer to that is lost", "resetAfter", "POST /vbds"],
    ["the request to describe it is lost", "reset", "PATCH /vdis/{id}"],
  ] as const)(
    "is there once although %s, and another process goes on",
    async (_what, kind, route) => {
      await rig.make(before());
      rig.simulator.faults.set({ kind }, { route });
      await rig.step(await rig.plan(rig.spec()), rig.spec()).catch(() => undefined);
      rig.simulator.faults.clear();
      await rig.restart();
      expect(await rig.make(rig.spec())).toMatchObject({ state: "Ready", problems: [] });
      expect(listAttached()).toEqual(WHOLE);
    },
  );

  test("leaves nothing if the machine goes after the addition was interrupted", async () => {
    await rig.make(before());
    rig.simulator.faults.set({ kind: "resetAfter" }, { route: "POST /vdis" });
    await rig.step(await rig.plan(rig.spec()), rig.spec()).catch(() => undefined);
    rig.simulator.faults.clear();
    expect(await rig.remove(rig.spec())).toMatchObject({ state: "Absent", problems: [] });
    expect(listOwn()).toEqual([]);
  });

  test("is not made in place of one that a person deleted, until the spec was without it", async () => {
    const spec = rig.spec();
    await rig.make(spec);
    const { state } = rig.simulator;
    const data = listOwn()[1];
    const link = rig.list("vbds").find((one) => one["VDI"] === data?.id);
    if (data === undefined || link === undefined) throw new Error("Cannot test: there is none");
    state.remove("vdis", data.id);
    state.remove("vbds", link.id);
    const links = rig.vm(spec)["$VBDs"];
    const kept = (Array.isArray(links) ? links : []).filter((id) => id !== link.id);
    state.setVm(rig.vm(spec).id, { $VBDs: kept });
    const made = (): number => rig.simulator.requests.count("POST /vdis");
    expect((await rig.make(spec)).problems).toMatchObject([{ reason: "DiskMissing" }]);
    expect(made()).toBe(0);
    await rig.make(before());
    expect(await rig.make(spec)).toMatchObject({ state: "Ready", problems: [] });
    expect([made(), listAttached()]).toEqual([1, WHOLE]);
  });
});

describe("a machine that must go after its creation was interrupted", () => {
  const counts = (): number[] => [rig.list("vms").length, rig.list("vm-templates").length];

  /** Removes it. @returns How long that took, in milliseconds */
  async function timeRemoval(spec: MachineSpec): Promise<number> {
    const beganMs = rig.clock.monotonic();
    expect(await rig.remove(spec)).toMatchObject({ state: "Absent", problems: [], steps: [] });
    return rig.clock.monotonic() - beganMs;
  }

  test("is gone as soon as a request that was lost cannot arrive any more", async () => {
    const before = counts();
    const spec = rig.spec();
    rig.simulator.faults.set({ kind: "reset" }, { route: "POST /pools/{id}/actions/create_vm" });
    await rig.step(await rig.plan(spec), spec).catch(() => undefined);
    rig.simulator.faults.clear();
    await rig.restart();
    expect(await timeRemoval(spec)).toBeLessThan(40_000);
    expect(counts()).toEqual(before);
  });

  test.each(["before", "during"] as const)(
    "is gone once no hypervisor makes it, if xo-server ended %s the copy of the template",
    async (moment) => {
      const before = counts();
      const spec = rig.spec();
      const { simulator, clock } = rig;
      const { cloud } = simulator;
      const { hypervisor } = cloud;
      hypervisor.operationMs = 120_000;
      const kill = (): void => {
        cloud.kill();
        cloud.start();
        hypervisor.operationMs = 0;
      };
      hypervisor.moments.set(moment, { method: "VM.clone", times: 1, onHit: kill });
      await rig.step(await rig.plan(spec), spec).catch(() => undefined);
      await clock.advance(10_000);
      const took = await timeRemoval(spec);
      // A copy of the template comes late, and goes then.
      const isLate = moment === "during";
      expect(took).toBeLessThan(isLate ? 160_000 : 10_000);
      if (isLate) expect(took).toBeGreaterThan(100_000);
      await clock.advance(300_000);
      expect(counts()).toEqual(before);
    },
  );
});

describe("a VM with the name and all marks of a machine that no record names", () => {
  const edit = (vmId: string, creation: object | undefined, more: object = {}): void => {
    const vm = rig.simulator.state.read("vms", vmId);
    if (vm === undefined) throw new Error("Cannot test: there is none");
    rig.simulator.state.put("vms", { ...vm, creation, ...more });
  };

  test.each([
    ["is of another user", { user: "5d1c5a3e-0000-4000-8000-000000000001" }, {}],
    ["has no maker, and only tags", undefined, { name_description: "" }],
  ])("is not deleted if it %s, and the message says so", async (_what, creation, more) => {
    const spec = rig.spec();
    await rig.make(spec);
    const { id } = rig.vm(spec);
    edit(id, creation, more);
    rig.records.clear();
    rig.done.length = 0;
    const plan = await rig.remove(spec);
    expect(plan).toMatchObject({ state: "Blocked", problems: [{ reason: "NotMadeByLandfall" }] });
    expect(rig.done).toEqual([]);
    expect(rig.simulator.state.read("vms", id)).toMatchObject({ power_state: "Running" });
  });

  test("is deleted if the own user made it", async () => {
    const spec = rig.spec();
    await rig.make(spec);
    rig.records.clear();
    expect(await rig.remove(spec)).toMatchObject({ state: "Absent", problems: [] });
    expect(rig.vms(spec)).toEqual([]);
  });
});

describe("a machine that a person changed", () => {
  const edit = (vmId: string, fields: object): void => {
    const vm = rig.simulator.state.read("vms", vmId);
    if (vm === undefined) throw new Error("Cannot test: there is none");
    rig.simulator.state.put("vms", { ...vm, ...fields });
  };

  test("is not taken for gone because it lost its name and its description", async () => {
    const spec = rig.spec();
    await rig.make(spec);
    const { id } = rig.vm(spec);
    edit(id, { name_label: "web", name_description: "" });
    const plan = await rig.remove(spec);
    expect(plan).toMatchObject({ steps: [], problems: [{ reason: "MachineRenamed" }] });
    expect(rig.simulator.state.read("vms", id)).toBeDefined();
  });

  test.each<[string, object, readonly string[]]>([
    ["its tags", { tags: ["mine"] }, ["note that X is as it should be", "tag X with vino"]],
    [
      "its description",
      { name_description: "mine" },
      ["put the mark back into the description of X"],
    ],
    ["its protection", { blockedOperations: {} }, ["protect X from deletion"]],
  ])("gets back %s", async (_what, fields, done) => {
    const spec = rig.spec();
    await rig.make(spec);
    rig.done.length = 0;
    edit(rig.vm(spec).id, fields);
    const plan = await rig.make(spec);
    const summaries = rig.done.map((one) => one.replaceAll("vino-1b4e28ba-worker-0", "X"));
    for (const one of done) expect(summaries).toContain(one);
    expect(plan).toMatchObject({ state: "Ready", steps: [], problems: [] });
    expect(rig.vm(spec)["blockedOperations"]).toEqual({ destroy: "managed by Landfall (ViNO)" });
  });

  test("is left alone while it runs, and gets its CPUs when it is off", async () => {
    const spec = rig.spec();
    await rig.make(spec);
    const wanted = rig.spec({ cpus: 8 });
    const running = await rig.make(wanted);
    expect(running.problems.map(({ reason }) => reason)).toEqual(["NeedsStop"]);
    rig.simulator.state.setPower(rig.vm(spec).id, "Halted");
    const stopped = await rig.make(wanted);
    expect(stopped).toMatchObject({ steps: [], problems: [] });
    expect(rig.vm(spec)).toMatchObject({ CPUs: { number: 8 }, power_state: "Halted" });
  });

  test("is looked at again when it lost an interface, and gets it back while it runs", async () => {
    const spec = rig.spec();
    await rig.make(spec);
    const { id } = rig.vm(spec);
    const own = (): XoRecord[] => rig.list("vifs").filter((one) => one["$VM"] === id);
    const [lost] = own();
    if (lost === undefined) throw new Error("Cannot test: there is none");
    rig.simulator.state.remove("vifs", lost.id);
    edit(id, { VIFs: own().map((one) => one.id) });
    await rig.refresh();
    const cloud = await rig.machines.observe({ isForChange: false }, rig.signal);
    expect(rig.machines.plan(cloud, spec, rig.record(spec)).needsLook).toBe(true);
    rig.done.length = 0;
    const plan = await rig.make(spec);
    expect(rig.done).toContain("add interface oam to vino-1b4e28ba-worker-0");
    expect(plan).toMatchObject({ state: "Ready", steps: [], problems: [] });
    expect(own().map((one) => one["MAC"])).toContain(String(lost["MAC"]));
    await rig.refresh();
    const after = await rig.machines.observe({ isForChange: false }, rig.signal);
    expect(rig.machines.plan(after, spec, rig.record(spec)).needsLook).toBeUndefined();
  });

  test("is said to have another MTU than the spec asks for", async () => {
    const usual = rig.spec();
    const spec = { ...usual, interfaces: usual.interfaces.map((one) => ({ ...one, mtu: 9000 })) };
    const made = await rig.make(spec);
    expect(made).toMatchObject({ state: "Ready", problems: [] });
    const own = rig.list("vifs").find((one) => one["MAC"] === "02:00:00:00:00:01");
    expect(own?.["MTU"]).toBe(9000);
    rig.simulator.state.put("vifs", { ...own, id: String(own?.id), MTU: 1500 });
    const found = await rig.plan(spec);
    expect(found.problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/with MTU 1500 instead of .* with MTU 9000\. Correct the spec/),
    ]);
  });

  test("is shown by an inventory as by a look, so that what a look found holds", async () => {
    const spec = rig.spec();
    await rig.make(spec);
    const other = rig.list("vifs").find((one) => one["MAC"] === "02:00:00:00:00:01");
    rig.simulator.state.put("vifs", { ...other, id: String(other?.id), MAC: "02:00:00:00:00:09" });
    const found = await rig.plan(spec);
    expect(found.problems.map(({ reason }) => reason)).toEqual(["InterfaceDiffers"]);
    await rig.refresh();
    const cloud = await rig.machines.observe({ isForChange: false }, rig.signal);
    expect(found.shown).toBeDefined();
    expect(rig.machines.plan(cloud, spec, rig.record(spec)).shown).toBe(found.shown);
  });

  test("grows its disks and gets more interfaces", async () => {
    const before = rig.spec({ isStarted: false });
    await rig.make(before);
    const [root, data] = before.disks;
    if (root === undefined || data === undefined) throw new Error("Cannot test: there is none");
    const sizeBytes = 2 * root.sizeBytes;
    const more = { name: "third", network: "oam", mac: "02:00:00:00:00:03" };
    const plan = await rig.make({
      ...before,
      disks: [{ ...root, sizeBytes }, data],
      interfaces: [...before.interfaces, more],
    });
    expect(plan).toMatchObject({ steps: [], problems: [] });
    const vdi = rig.list("vdis").find((one) => one["name_label"] === "vino-1b4e28ba-worker-0.root");
    expect(vdi?.["size"]).toBe(sizeBytes);
    const macs = rig.list("vifs").filter((one) => one["$VM"] === rig.vm(before).id);
    expect(macs.map((one) => one["MAC"])).toContain(more.mac);
  });
});

longTest(
  "a hundred machines are made once, with few requests each, although reads are as late as can be",
  async () => {
    await rig.stop();
    rig = await Rig.start(undefined, { lag: { minMs: 250, maxMs: 250, seed: 1 } });
    const specs = Array.from({ length: 100 }, (_, index) =>
      rig.spec({
        index,
        seed: SEED,
        interfaces: [
          {
            name: "oam",
            network: "oam",
            mac: `02:00:00:00:01:${index.toString(16).padStart(2, "0")}`,
          },
        ],
        disks: [
          { name: "root", sizeBytes: 10 * 1024 ** 3, ...(index % 2 === 0 && { storage: "fast" }) },
        ],
      }),
    );
    rig.simulator.requests.reset();
    for (let round = 0; round < 30; round += 1) {
      const cloud = await rig.look(specs);
      const plans = specs.map(
        (spec) => [spec, rig.machines.plan(cloud, spec, rig.record(spec))] as const,
      );
      if (plans.every(([, { steps, againMs }]) => steps.length === 0 && againMs === undefined))
        break;
      await Promise.all(plans.map(([spec, plan]) => rig.step(plan, spec)));
      // Real looks followed each other that quickly.
      const isMoving = plans.some(([, { steps }]) => steps.length > 0);
      const waitMs = Math.min(...plans.map(([, { againMs = Infinity }]) => againMs));
      await rig.clock.advance(isMoving ? 20 : waitMs);
    }
    const { requests } = rig.simulator;
    const made = ["POST /pools/{id}/actions/create_vm", "POST /srs/{id}/vdis", "POST /vbds"];
    expect(made.map((route) => requests.count(route))).toEqual([100, 100, 100]);
    const perMachine = requests.total / specs.length;
    expect(perMachine).toBeLessThanOrEqual(9);
    expect(rig.list("vms").filter((vm) => vm["power_state"] === "Running")).toHaveLength(101);
  },
  60_000,
);

describe("a seed that was just attached", () => {
  const spec = (): MachineSpec => rig.spec({ seed: SEED });

  async function untilAttached(): Promise<void> {
    for (;;) {
      const plan = await rig.plan(spec());
      await rig.step(plan, spec());
      if (rig.simulator.requests.count("POST /vbds") > 0) return;
      await rig.clock.advance(plan.againMs ?? 100);
    }
  }

  const expectOnce = async (): Promise<void> => {
    const plan = await rig.make(spec());
    expect(plan).toMatchObject({ state: "Ready", problems: [] });
    const { requests } = rig.simulator;
    const routes = ["POST /srs/{id}/vdis", "POST /vbds", "DELETE /vdis/{id}"];
    expect(routes.map((route) => requests.count(route))).toEqual([1, 1, 0]);
    expect(
      rig.list("vdis").filter((one) => `${one["name_label"]}`.includes("cidata")),
    ).toHaveLength(1);
  };

  test("is not deleted by another process, which reads show it as unused", async () => {
    await untilAttached();
    await rig.restart();
    await expectOnce();
  });

  test("is not deleted if the answer to its attachment was lost", async () => {
    rig.simulator.faults.set({ kind: "resetAfter" }, { route: "POST /vbds" });
    await untilAttached().catch(() => undefined);
    rig.simulator.faults.clear();
    await expectOnce();
  });

  test("is deleted if another one came late, which a process had asked for that ended", async () => {
    await rig.step(await rig.plan(spec()), spec());
    await rig.clock.advance(10_000);
    await rig.restart();
    await rig.make(spec());
    const seed = rig.list("vdis").find((one) => String(one["name_label"]).endsWith("-cidata"));
    rig.simulator.state.put("vdis", { ...seed, id: "late", uuid: "late", $VBDs: [] });
    const needsLook = async (): Promise<boolean | undefined> => {
      await rig.refresh();
      const cloud = await rig.machines.observe({ isForChange: false }, rig.signal);
      return rig.machines.plan(cloud, spec(), rig.record(spec())).needsLook;
    };
    expect(await needsLook()).toBeUndefined();
    await rig.clock.advance(1_800_000);
    expect(await needsLook()).toBe(true);
    expect(await rig.make(spec())).toMatchObject({ state: "Ready", problems: [] });
    expect(rig.simulator.state.read("vdis", "late")).toBeUndefined();
    expect(rig.simulator.requests.count("DELETE /vdis/{id}")).toBe(1);
    expect(await needsLook()).toBeUndefined();
  });

  test("is deleted once nothing has used it for ten seconds", async () => {
    rig.simulator.faults.set({ kind: "reset" }, { route: "POST /vbds" });
    await untilAttached().catch(() => undefined);
    rig.simulator.faults.clear();
    const beganMs = rig.clock.monotonic();
    await rig.make(spec());
    expect(rig.clock.monotonic() - beganMs).toBeGreaterThanOrEqual(10_000);
    expect(rig.simulator.requests.count("DELETE /vdis/{id}")).toBe(1);
  });
});

test("mayGoOn() lets other machines go on after a refusal, and after a plan that was outdated", async () => {
  const spec = rig.spec({ isStarted: false });
  await rig.make(spec);
  const plan = await rig.planRemoval(spec);
  rig.simulator.state.setPower(rig.vm(spec).id, "Running", spec.hostId);
  const outdated: unknown = await rig.step(plan, spec).catch((error: unknown) => error);
  expect(String(outdated)).toContain("Landfall changed nothing");
  expect(rig.machines.mayGoOn(outdated)).toBe(true);
  rig.simulator.faults.set({ kind: "status", status: 503 }, { route: "GET /vms/{id}" });
  const silent: unknown = await rig.step(plan, spec).catch((error: unknown) => error);
  expect(rig.machines.mayGoOn(silent)).toBe(false);
  expect(rig.vms(spec)).toHaveLength(1);
});
