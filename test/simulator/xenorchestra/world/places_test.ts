import { expect, test } from "bun:test";
import { createPlaces } from "../../../../lib/simulator/xenorchestra/world/places.ts";

test("createPlaces() is the same in every run, with each host in the pool that its name says", () => {
  const { world, pools, poolIds, hostIds } = createPlaces();
  expect(createPlaces().world).toEqual(world);
  expect(pools.map(({ id }) => id)).toEqual([poolIds.paris, poolIds.lyon]);
  const places = world.hosts?.map((host) => [host["name_label"], host.id, host["$pool"]]);
  expect<unknown>(places).toEqual(
    Object.entries(hostIds).map(([name, id]) => [
      name,
      id,
      name.startsWith("xcp-par-") ? poolIds.paris : poolIds.lyon,
    ]),
  );
});
