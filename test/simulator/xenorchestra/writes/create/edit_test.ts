import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { applyFields } from "../../../../../lib/simulator/xenorchestra/writes/create/edit.ts";
import { Rig } from "../rig.ts";

describe("applyFields()", () => {
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.stop());

  test("writes what is in the body, and switches automatic starts on for the pool, too", async () => {
    const vm = await rig.make("vino-1");
    const pool = rig.record("pools", rig.site.poolIds.paris);
    pool["auto_poweron"] = false;
    await applyFields(rig.work(), vm, { name_label: "vino-1", cpus: 3 });
    expect([vm["CPUs"], pool["auto_poweron"]]).toEqual([{ max: 3, number: 3 }, false]);
    await applyFields(rig.work(), vm, { name_label: "vino-1", autoPoweron: true });
    expect([vm["auto_poweron"], pool["auto_poweron"]]).toEqual([true, true]);
  });
});
