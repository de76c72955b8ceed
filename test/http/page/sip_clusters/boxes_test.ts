import { expect, test } from "bun:test";
import { RackBoxes } from "../../../../lib/http/page/sip_clusters/boxes.tsx";
import { RACK, toSipHost } from "../../../support/page/sip_cluster_views.ts";

async function render(count: number, keys: readonly string[] = [RACK]): Promise<string> {
  const hosts = Array.from({ length: count }, (_, at) => toSipHost(`h-${at}`));
  return String(await RackBoxes({ hosts, by: RACK, keys, base: "" }).toString());
}

test("RackBoxes() opens the racks of few hosts, and closes those of many", async () => {
  expect(await render(300)).toContain("open");
  expect(await render(301)).not.toMatch(/<details[^>]* open/);
});

test("RackBoxes() offers other labels only if there are some", async () => {
  expect(await render(1)).not.toContain("<nav");
  expect(await render(1, [RACK, "other"])).toContain("by other");
});

test("RackBoxes() without hosts says so", async () => {
  expect(await render(0)).toContain("There are no BareMetalHosts.");
});
