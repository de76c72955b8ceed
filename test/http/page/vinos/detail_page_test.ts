import { expect, test } from "bun:test";
import {
  renderVinoPage,
  type VinoPageOptions,
} from "../../../../lib/http/page/vinos/detail_page.tsx";
import { PAGE_NOW } from "../../../support/page/node_views.ts";
import {
  CLOUD,
  MIXED,
  toName,
  toVino,
  toVinoMachine,
  WELL,
} from "../../../support/page/vino_views.ts";

const FRAME = { base: "../../", places: ["vinos"] } as const;

function render(over: Partial<VinoPageOptions> = {}): Promise<string> {
  return renderVinoPage({ vino: MIXED, cloud: CLOUD, nowMs: PAGE_NOW, ...FRAME, ...over });
}

test("renderVinoPage() shows conditions, shortages and what each machine waits for", async () => {
  const html = await render();
  expect(html).toContain("vino-mixed-worker-0: 2 VMs have its name");
  expect(html).toContain("<h3>1 of role worker</h3>");
  expect(html).toContain("no address is free");
  expect(html).toContain("tenants/mixed-worker-3");
  expect(html).toContain("2 of 9 ready");
});

test("renderVinoPage() compares machines, first those that differ", async () => {
  const html = await render();
  const [first] = html.matchAll(/<details class="box" id="parts-([^"]*)"( open)?/g);
  expect(first?.[1]).toBe(toName("mixed", 3));
  expect(html).toContain('<td class="verdict">differs</td>');
});

test("renderVinoPage() says where a machine is, and for which host it was made", async () => {
  expect(await render()).toContain("made for h1");
  const html = await render({ vino: WELL });
  expect(html).not.toContain("made for");
  expect(html).toContain("Metal3Machine tenants/blue-1, SIPCluster blue");
});

test("renderVinoPage() shows one machine if it is asked for", async () => {
  const html = await render({ machine: toName("mixed", 6) });
  expect(html).toContain("All machines of this Vino");
  expect(html).toContain(`id="parts-${toName("mixed", 6)}" open`);
  expect(html).not.toContain(toName("mixed", 5));
  expect(await render({ machine: "none" })).toContain("There is none.");
});

test("renderVinoPage() of very many machines shows the first rows, and compares a few", async () => {
  const machines = Array.from({ length: 600 }, (_, index) => toVinoMachine("big", index));
  const html = await render({ vino: toVino("big", { machines }) });
  expect(html).toContain("These are the first 500 of 600.");
  expect(html).toContain("These are 30 of 600 machines.");
});
