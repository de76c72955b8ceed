import { expect, test } from "bun:test";
import {
  readIds,
  toOperation,
  Work,
} from "../../../../lib/simulator/xenorchestra/writes/backend.ts";
import { Rig } from "./rig.ts";

test("toOperation() names the machine that a call is about", () => {
  const vif = { id: "vif", $pool: "p" };
  const vm = { id: "vm", name_label: "vino-1", $pool: "p" };
  expect(toOperation("VIF.destroy", vif, { vm })).toEqual({
    method: "VIF.destroy",
    poolId: "p",
    id: "vif",
    name: "vino-1",
    isAsync: false,
  });
});

test("readIds() reads texts, and nothing else", () => {
  expect([readIds({ id: "a", tags: ["b"] }, "tags"), readIds({ id: "a" }, "tags")]).toEqual([
    ["b"],
    [],
  ]);
});

test("Work.find() finds what clients see", () => {
  const rig = new Rig();
  const work = new Work(rig.cloud.backend, "user");
  const { paris } = rig.site.poolIds;
  expect(work.find("pools", paris, "pool").id).toBe(paris);
  rig.cloud.state.dropPool(paris);
  expect(() => work.find("pools", paris, "pool")).toThrow(`no such pool ${paris}`);
  expect(() => work.find("pools", undefined)).toThrow("no such object undefined");
  rig.stop();
});
