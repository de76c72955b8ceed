import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { applyDisks } from "../../../../../lib/simulator/xenorchestra/writes/create/disk_steps.ts";
import { Rig } from "../rig.ts";

const GIB = 1024 ** 3;

describe("applyDisks()", () => {
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.stop());

  const apply = async (wishes: Parameters<typeof applyDisks>[2]) => {
    const vm = await rig.make("vino-1");
    await applyDisks(rig.work(), vm, wishes, rig.site.poolIds.paris);
    return rig
      .list("vdis")
      .filter(({ $VBDs }) => (vm["$VBDs"] as unknown[]).includes(Object($VBDs)[0]));
  };

  test.each([undefined, "nope"])("takes the default repository for %p", async (sr) => {
    const [, data] = await apply([{ name_label: "data", size: GIB, ...(sr && { sr }) }]);
    expect(data).toMatchObject({ name_label: "data", $SR: rig.site.srIds.local });
  });

  test("grows, moves and names a disk of the template", async () => {
    const sr = rig.site.srIds.fast;
    const [root] = await apply([{ userdevice: "0", size: 12 * GIB, name_label: "root", sr }]);
    expect(root).toMatchObject({ size: 12 * GIB, name_label: "root", $SR: sr });
  });

  test("fails for a disk without size, one that shrinks, and one that is not there", async () => {
    await expect(apply([{ name_label: "data" }])).rejects.toThrow("FIELD_TYPE_ERROR");
    await expect(apply([{ userdevice: "0", size: 1 }])).rejects.toThrow("INVALID_VALUE");
    await expect(apply([{ userdevice: "7", size: 1 }])).rejects.toThrow("HANDLE_INVALID");
  });

  test("that a disk keeps its name is no error", async () => {
    rig.cloud.hypervisor.faults.set({ kind: "fail", code: "X" }, { method: "VDI.set_name_label" });
    const [root] = await apply([{ userdevice: "0", name_label: "root" }]);
    expect(root).toMatchObject({ name_label: "debian-root" });
  });
});
