import { expect, test } from "bun:test";
import { PlaceBoxes } from "../../../../lib/http/page/vinos/boxes.tsx";
import { toPlaces } from "../../../../lib/http/page/vinos/places.ts";
import type { CloudView, VinoView } from "../../../../lib/http/vinos/views.ts";
import { CLOUD, MIXED, toShown, toVino, WELL } from "../../../support/page/vino_views.ts";

async function render(vinos: readonly VinoView[], cloud: CloudView): Promise<string> {
  return String(await PlaceBoxes({ places: toPlaces(vinos, cloud), base: "" }).toString());
}

test("PlaceBoxes() shows tiles with their states and what uses them", async () => {
  const html = await render([MIXED, WELL], CLOUD);
  for (const text of [
    "tenants/well worker-0<i>Metal3Machine tenants/blue-1, SIPCluster blue</i>",
    "tenants/mixed worker-3<i>differs</i>",
    "vino-0ld-worker-0<i>without a Vino</i>",
    'href="vinos/tenants/mixed?machine=vino-mixed-worker-3"',
    'title="192.0.2.13, CPUs change when it is off"',
    "It is not shown in full: more may be in it",
    "disabled",
  ]) {
    expect(html).toContain(text);
  }
});

test("PlaceBoxes() says it if there is no inventory, and shows machines without a place", async () => {
  const html = await render([WELL], { pools: [], hosts: [], machines: [] });
  expect(html).toContain("This process has no inventory with hosts yet.");
  expect(html).toContain("No known place");
});

test("PlaceBoxes() opens hosts with few machines, and closes those of many", async () => {
  const countOpen = async (count: number): Promise<number> => {
    const machines = Array.from({ length: count }, (_, at) => toShown(`vino-0ld-worker-${at}`));
    const html = await render([], { ...CLOUD, machines });
    return html.match(/<details[^>]* open/g)?.length ?? 0;
  };
  expect(await countOpen(290)).toBe(3);
  expect(await countOpen(301)).toBe(2);
});

test("PlaceBoxes() links a machine that its Vino does not know yet to the Vino", async () => {
  const shown = toShown("vino-well-worker-7", { vino: "tenants/well" });
  const html = await render([toVino("well", { machines: [] })], { ...CLOUD, machines: [shown] });
  expect(html).toContain('href="vinos/tenants/well"');
});
