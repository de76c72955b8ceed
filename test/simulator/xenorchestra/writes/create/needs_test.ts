import { expect, test } from "bun:test";
import { toCreateNeeds } from "../../../../../lib/simulator/xenorchestra/writes/create/needs.ts";
import { Rig } from "../rig.ts";

test("toCreateNeeds() needs a right for the pool, the template, each part and the host", () => {
  const rig = new Rig();
  const { poolIds, templateIds, hostIds, networkIds } = rig.site;
  const network = networkIds.oam;
  const body = {
    template: templateIds.debian,
    vdis: [{ sr: "s" }],
    vifs: [{ network }],
    affinity: hostIds["xcp-par-1"],
  };
  const needs = toCreateNeeds(rig.work(), poolIds.paris, body);
  expect(needs.map(({ resource, action, objectId }) => [resource, action, objectId])).toEqual([
    ["pool", "create:vm", poolIds.paris],
    ["vm-template", "instantiate", templateIds.debian],
    ["vdi", "create", undefined],
    ["vif", "create", undefined],
    ["host", "allow-vm", hostIds["xcp-par-1"]],
  ]);
  expect(needs.map(({ object }) => object)).toContainEqual({ network });
  expect(toCreateNeeds(rig.work(), poolIds.paris, {})).toHaveLength(1);
  expect(() => toCreateNeeds(rig.work(), "nope", {})).toThrow("no such pool nope");
  rig.stop();
});
