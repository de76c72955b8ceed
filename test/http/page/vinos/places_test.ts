import { expect, test } from "bun:test";
import { findHostId, type MachineTile, toPlaces } from "../../../../lib/http/page/vinos/places.ts";
import {
  CLOUD,
  MIXED,
  toName,
  toShown,
  toVino,
  toVinoMachine,
  WELL,
} from "../../../support/page/vino_views.ts";

function listNames(tiles: readonly MachineTile[]): string[] {
  return tiles.map(({ name, look }) => `${name} ${look}`);
}

test("toPlaces() has pools and hosts by name, each machine where the cloud shows it", () => {
  const { pools, others, counts } = toPlaces([MIXED, WELL], CLOUD);
  expect(
    pools.map(({ pool, hosts }) => [pool.name, ...hosts.map(({ host }) => host.name)]),
  ).toEqual([
    ["lyon", "l1"],
    ["paris", "h1", "h2", "h3"],
  ]);
  const [, h2] = pools[1]?.hosts ?? [];
  expect(listNames(h2?.tiles ?? [])).toEqual([
    `${toName("mixed", 0)} blocked`,
    `${toName("mixed", 6)} off`,
    `${toName("well", 1)} ready`,
    "vino-0ld-worker-0 stray",
  ]);
  expect(others).toEqual([]);
  expect(counts[0]).toEqual(["blocked", 2]);
  expect(counts.reduce((sum, [, count]) => sum + count, 0)).toBe(12);
});

test("toPlaces() shows machines without a known host in their pool, others apart", () => {
  const { hostId, ...shown } = toShown(toName("a", 0), { vino: "tenants/a" });
  const { host, ...machine } = toVinoMachine("a", 0);
  const vino = toVino("a", { machines: [machine, toVinoMachine("a", 1, { host: "gone" })] });
  const { pools, others } = toPlaces([vino], { ...CLOUD, machines: [shown] });
  expect(listNames(pools.flatMap(({ loose }) => loose))).toEqual([`${toName("a", 0)} ready`]);
  expect(listNames(others)).toEqual([`${toName("a", 1)} ready`]);
  expect([hostId, host]).toEqual(["id-h1", "id-h1"]);
});

test("toPlaces() shows a machine that its Vino does not know yet as being made", () => {
  const shown = toShown(toName("well", 7), { vino: "tenants/well" });
  const { counts } = toPlaces([toVino("well", { machines: [] })], { ...CLOUD, machines: [shown] });
  expect(counts).toEqual([["making", 1]]);
});

test("findHostId() prefers where the cloud shows a machine", () => {
  const machine = toVinoMachine("a", 0);
  expect(findHostId({ machine, shown: toShown("a", { hostId: "id-h2" }) })).toBe("id-h2");
  expect(findHostId({ machine })).toBe("id-h1");
  expect(findHostId({})).toBeUndefined();
});
