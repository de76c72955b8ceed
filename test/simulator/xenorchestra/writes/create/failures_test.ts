import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { XoRecord } from "../../../../../lib/simulator/xenorchestra/mod.ts";
import type { CreateBody } from "../../../../../lib/simulator/xenorchestra/writes/create.ts";
import { LostReplyError, Rig } from "../rig.ts";

const GIB = 1024 ** 3;
const DRIVE = "XO CloudConfigDrive";

describe("a creation", () => {
  let rig: Rig;
  let before: ReturnType<typeof count>;
  beforeEach(() => {
    rig = new Rig();
    before = count();
  });
  afterEach(() => rig.stop());

  const count = () => ({
    vms: rig.list("vms").length,
    templates: rig.list("vm-templates").length,
    disks: rig.list("vdis").length,
    links: rig.list("vbds").length,
    interfaces: rig.list("vifs").length,
  });
  const toBody = (): CreateBody => ({
    template: rig.site.templateIds.debian,
    name_label: "vino-1",
    cpus: 4,
    vifs: [{ device: "0", network: rig.site.networkIds.oam }],
    vdis: [{ name_label: "vino-1-data", size: GIB }],
    cloud_config: "#cloud-config",
    boot: true,
  });
  const create = (body = toBody(), query = "") =>
    rig.post(`/pools/${rig.site.poolIds.paris}/actions/create_vm${query}`, body);
  const createSync = async (): Promise<[number, string]> => {
    const reply = await create(toBody(), "?sync=true");
    return [reply.status, String(Object(await reply.json()).error ?? "")];
  };
  const named = (collection: "vms" | "vm-templates"): XoRecord | undefined =>
    rig.list(collection).find((one) => one["name_label"] === "vino-1");
  const task = (): XoRecord | undefined => rig.list("tasks").at(-1);
  const methods = async (): Promise<string[]> => {
    const other = new Rig();
    const path = `/pools/${other.site.poolIds.paris}/actions/create_vm?sync=true`;
    await other.post(path, toBody());
    other.stop();
    return other.cloud.hypervisor.journal.map(({ method }) => method);
  };

  test("makes its calls in the order of the nine steps", async () => {
    expect(await methods()).toEqual([
      "VM.clone",
      "VM.remove_from_other_config",
      "VM.provision",
      "VM.add_to_other_config",
      "VM.set_cpus",
      "VDI.create",
      "VBD.create",
      "VIF.destroy",
      "VIF.create",
      "VDI.create",
      "VDI.import",
      "VBD.create",
      "VM.start",
    ]);
  });

  const leftovers: [string, number, () => typeof before][] = [
    ["VM.clone", 0, () => ({ ...before, templates: 5, disks: 6, links: 4, interfaces: 3 })],
    ["VM.provision", 0, () => ({ ...before, vms: 2, disks: 6, links: 4, interfaces: 3 })],
    ["VDI.create", 0, () => ({ ...before, vms: 2, disks: 7, links: 4, interfaces: 3 })],
    ["VIF.destroy", 0, () => ({ ...before, vms: 2, disks: 7, links: 5, interfaces: 2 })],
    ["VDI.import", 0, () => ({ ...before, vms: 2, disks: 8, links: 5, interfaces: 3 })],
  ];
  test.each(leftovers)(
    "leaves what was there when xo-server dies after %s",
    async (method, skip, wanted) => {
      const onHit = (): void => rig.cloud.kill();
      rig.cloud.hypervisor.moments.set("after", { method, skip, times: 1, onHit });
      await expect(createSync()).rejects.toThrow(LostReplyError);
      const calls = rig.cloud.hypervisor.journal.length;
      await rig.clock.advance(60_000);
      rig.cloud.start();
      await rig.clock.advance(60_000);
      expect(count()).toEqual(wanted());
      expect(rig.cloud.hypervisor.journal).toHaveLength(calls);
      expect(task()).toMatchObject({ status: "interrupted" });
    },
  );

  test("leaves a template without a mark, then a machine without one, when xo-server dies early", async () => {
    const killAfter = async (method: string): Promise<void> => {
      const onHit = (): void => rig.cloud.kill();
      rig.cloud.hypervisor.moments.set("after", { method, times: 1, onHit });
      await expect(createSync()).rejects.toThrow(LostReplyError);
      rig.cloud.start();
    };
    await killAfter("VM.clone");
    expect(named("vm-templates")).not.toHaveProperty("creation");
    expect(named("vms")).toBeUndefined();
    await killAfter("VM.provision");
    expect(named("vms")).toMatchObject({ power_state: "Halted", CPUs: { number: 2 } });
    expect(named("vms")).not.toHaveProperty("creation");
  });

  test.each([false, true])(
    "copies disks before the template though xo-server dies; nothing if it goes meanwhile: %p",
    async (isGone) => {
      rig.cloud.hypervisor.operationMs = 1_000;
      const asked = create(toBody(), "?sync=true").catch(() => undefined);
      await rig.clock.advance(100);
      rig.cloud.kill();
      await rig.clock.advance(500);
      expect(count()).toEqual({ ...before, disks: before.disks + 1 });
      if (isGone) rig.cloud.state.remove("vm-templates", rig.site.templateIds.debian);
      await rig.clock.advance(500);
      await asked;
      const { templates, disks } = before;
      expect(count()).toMatchObject({
        templates: isGone ? templates - 1 : templates + 1,
        disks: isGone ? disks : disks + 1,
      });
    },
  );

  test("leaves an orphan drive that nothing says whose it is", async () => {
    const onHit = (): void => rig.cloud.kill();
    rig.cloud.hypervisor.moments.set("after", { method: "VDI.import", times: 1, onHit });
    await expect(createSync()).rejects.toThrow(LostReplyError);
    rig.cloud.start();
    const orphans = rig.list("vdis").filter(({ $VBDs }) => Object($VBDs).length === 0);
    expect(orphans.map((one) => one["name_label"])).toContain(DRIVE);
  });

  test("is rolled back when any call fails, and answers with its error", async () => {
    const swallowed = new Set(["VDI.import"]);
    for (const [index, method] of (await methods()).entries()) {
      rig.stop();
      rig = new Rig();
      rig.cloud.hypervisor.faults.set(
        { kind: "fail", code: "X_FAILED" },
        { skip: index, times: 1 },
      );
      const outcome = await createSync();
      const isSwallowed = swallowed.has(method);
      expect([method, ...outcome]).toEqual([
        method,
        isSwallowed ? 201 : 500,
        isSwallowed ? "" : "X_FAILED()",
      ]);
      if (isSwallowed) continue;
      // A disk that is attached to nothing is not destroyed with the machine.
      const disks = before.disks + (method === "VBD.create" ? 1 : 0);
      expect([method, count()]).toEqual([method, { ...before, disks }]);
    }
  });

  test("leaves the machine when the rollback fails, and answers with the first error", async () => {
    const { faults } = rig.cloud.hypervisor;
    faults.set({ kind: "fail", code: "FIRST" }, { method: "VIF.create" });
    faults.set({ kind: "fail", code: "SECOND" }, { method: "VM.destroy" });
    expect(await createSync()).toEqual([500, "FIRST()"]);
    expect(named("vms")).toBeDefined();
  });

  const left = (): unknown[] =>
    rig
      .list("vdis")
      .flatMap(({ id, name_label: name }) => (rig.cloud.backend.rolledBack.has(id) ? [name] : []));

  test("is known to have left a disk when the rollback cannot destroy it", async () => {
    const { faults } = rig.cloud.hypervisor;
    faults.set({ kind: "fail", code: "FIRST" }, { method: "VIF.create" });
    faults.set({ kind: "fail", code: "SECOND" }, { method: "VDI.destroy", times: 1 });
    expect(await createSync()).toEqual([500, "FIRST()"]);
    expect([named("vms"), left()]).toEqual([undefined, ["debian-root"]]);
  });

  test("is known to have left all disks when xo-server dies while the rollback destroys it", async () => {
    rig.cloud.hypervisor.faults.set({ kind: "fail", code: "FIRST" }, { method: "VIF.create" });
    const onHit = (): void => rig.cloud.kill();
    rig.cloud.hypervisor.moments.set("during", { method: "VM.destroy", times: 1, onHit });
    await expect(createSync()).rejects.toThrow(LostReplyError);
    await rig.clock.advance(1_000);
    rig.cloud.start();
    expect([named("vms"), left()]).toEqual([undefined, ["debian-root", "vino-1-data"]]);
  });

  test("is not known to have left disks of what a client deletes", async () => {
    const vm = await rig.make("vino-1");
    rig.cloud.hypervisor.faults.set({ kind: "fail", code: "X" }, { method: "VDI.destroy" });
    await rig.ask("DELETE", `/vms/${vm.id}`);
    const names = rig.list("vdis").filter(({ $VBDs }) => Object($VBDs).length === 0);
    expect(names.map((one) => one["name_label"])).toContain("debian-root");
    expect(left()).toEqual([]);
  });

  test("is rolled back even if a person started the machine meanwhile", async () => {
    rig.cloud.hypervisor.moments.set("before", {
      method: "VIF.create",
      times: 1,
      onHit: () => rig.cloud.state.setPower(String(named("vms")?.id), "Running"),
    });
    rig.cloud.hypervisor.faults.set({ kind: "fail", code: "X" }, { method: "VIF.create" });
    expect((await createSync())[0]).toBe(500);
    expect(count()).toEqual(before);
  });

  test.each(["VM.clone", "VM.provision"])(
    "is pending for 60 s when the pool is gone for 2 s in %s",
    async (method) => {
      rig.cloud.hypervisor.moments.set("during", {
        method,
        times: 1,
        onHit: () => rig.cloud.state.dropPool(rig.site.poolIds.paris, 2_000, 60_000),
      });
      await create();
      await rig.clock.advance(61_000);
      expect([task()?.["status"], count().vms]).toEqual(["pending", 0]);
      await rig.clock.advance(2_000);
      expect(task()).toMatchObject({ status: "success", result: { id: named("vms")?.id } });
      expect(named("vms")).toMatchObject({ power_state: "Running" });
    },
  );

  test.each(["before", "during"] as const)(
    "fails at once and leaves a half-made machine when the pool is lost %s a disk",
    async (moment) => {
      rig.cloud.hypervisor.moments.set(moment, {
        method: "VIF.create",
        times: 1,
        onHit: () => rig.cloud.state.dropPool(rig.site.poolIds.paris, 2_000, 60_000),
      });
      await create();
      await rig.clock.advance(0);
      expect(task()).toMatchObject({
        status: "failure",
        result: { name: "SocketError", code: "UND_ERR_SOCKET", message: "other side closed" },
      });
      await rig.clock.advance(62_000);
      expect(named("vms")).toMatchObject({ power_state: "Halted" });
      expect(count().interfaces).toBe(moment === "before" ? 2 : 3);
    },
  );

  test("ends although its client has gone, or was sent twice by a proxy: then there are twins", async () => {
    for (const kind of ["resetAfter", "hangAfter"] as const) {
      rig.cloud.faults.set({ kind }, { times: 1 });
      await expect(create()).rejects.toThrow(LostReplyError);
      await rig.clock.advance(0);
      expect(count().vms).toBe(before.vms + (kind === "hangAfter" ? 2 : 1));
    }
    rig.cloud.faults.set(
      { kind: "repeat" },
      { times: 1, route: "POST /pools/{id}/actions/create_vm" },
    );
    await create();
    await rig.clock.advance(0);
    expect(rig.list("vms").filter((one) => one["name_label"] === "vino-1")).toHaveLength(4);
  });

  test("does not need its template any more once it is copied", async () => {
    rig.cloud.hypervisor.moments.set("after", {
      method: "VM.clone",
      times: 1,
      onHit: () => rig.cloud.state.remove("vm-templates", rig.site.templateIds.debian),
    });
    expect((await createSync())[0]).toBe(201);
  });
});
