import { expect, test } from "bun:test";
import { createMachineSite } from "../../../../lib/simulator/xenorchestra/world/machine_site.ts";

test("createMachineSite() is the same in every run, and names what is in it", () => {
  const site = createMachineSite();
  expect(createMachineSite()).toEqual(site);
  const { world } = site;
  const all = Object.values(world).flat();
  const ids = all.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const uuids = new Set(all.map(({ uuid }) => uuid));
  const named = [site.srIds, site.networkIds, site.templateIds, site.hostIds].flatMap((one) =>
    Object.values(one),
  );
  expect(named.filter((id) => !uuids.has(id))).toEqual([]);
  expect(world.pools?.map((pool) => pool["default_SR"])).toContain(site.srIds.local);
});
