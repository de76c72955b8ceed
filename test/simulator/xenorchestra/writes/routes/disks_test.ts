import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { addDiskRoutes } from "../../../../../lib/simulator/xenorchestra/writes/routes/disks.ts";
import { Rig } from "../rig.ts";

const GIB = 1024 ** 3;
const CONTENT = Uint8Array.from([0, 255, 128, 10]);

describe("addDiskRoutes()", () => {
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.stop());

  const upload = () =>
    rig.post(
      `/srs/${rig.site.srIds.fast}/vdis?raw=true&name_label=vino-1-cidata&name_description=d`,
      CONTENT,
    );

  test("a disk is uploaded byte for byte, replaced, attached read-only, detached and deleted", async () => {
    expect(addDiskRoutes).toBeFunction();
    const vm = await rig.make("vino-1");
    const made = await upload();
    const id = String(Object(await made.json()).id);
    expect([made.status, made.headers.get("location")]).toEqual([201, `/rest/v0/vdis/${id}`]);
    expect(rig.cloud.contents.get(id)).toEqual(CONTENT);
    expect(rig.record("vdis", id)).toMatchObject({ name_label: "vino-1-cidata", size: 4 });
    const other = Uint8Array.from([1]);
    expect((await rig.ask("PUT", `/vdis/${id}.raw`, other)).status).toBe(204);
    expect(rig.cloud.contents.get(id)).toEqual(other);
    const attached = await rig.post("/vbds", { VM: vm.id, VDI: id, mode: "RO" });
    expect(attached.status).toBe(201);
    const vbdId = String(Object(await attached.json()).id);
    expect(rig.record("vbds", vbdId)).toMatchObject({ read_only: true, position: "1" });
    expect((await rig.ask("DELETE", `/vbds/${vbdId}`)).status).toBe(204);
    expect((await rig.ask("DELETE", `/vdis/${id}`)).status).toBe(204);
    expect((await rig.ask("DELETE", `/vdis/${id}`)).status).toBe(404);
  });

  test("an upload that fails leaves no disk", async () => {
    const count = rig.list("vdis").length;
    rig.cloud.hypervisor.faults.set(
      { kind: "fail", code: "VDI_IO_ERROR" },
      { method: "VDI.import" },
    );
    expect((await upload()).status).toBe(500);
    expect(rig.list("vdis")).toHaveLength(count);
  });

  test("a disk is made with tags, in a repository that exists", async () => {
    const body = { srId: rig.site.srIds.tiny, virtual_size: GIB, name_label: "d", tags: ["vino"] };
    const id = String(Object(await (await rig.post("/vdis", body)).json()).id);
    expect((await rig.ask("PATCH", `/vdis/${id}`, { size: 2 * GIB, name_label: "e" })).status).toBe(
      204,
    );
    expect(rig.record("vdis", id)).toMatchObject({
      size: 2 * GIB,
      name_label: "e",
      tags: ["vino"],
    });
    expect((await rig.post("/vdis", { ...body, srId: "nope" })).status).toBe(404);
    expect((await rig.post("/vdis", { ...body, virtual_size: 9 * GIB })).status).toBe(500);
  });
});
