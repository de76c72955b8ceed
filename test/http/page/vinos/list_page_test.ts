import { expect, test } from "bun:test";
import {
  renderVinoList,
  type VinoListOptions,
} from "../../../../lib/http/page/vinos/list_page.tsx";
import { PAGE_NOW } from "../../../support/page/node_views.ts";
import {
  CLOUD,
  MIXED,
  toName,
  toShown,
  toVino,
  toVinoMachine,
  toVinoSource,
  WELL,
} from "../../../support/page/vino_views.ts";

function render(over: Partial<VinoListOptions> = {}): Promise<string> {
  return renderVinoList({
    vinos: [WELL, MIXED],
    cloud: CLOUD,
    serving: { missing: [] },
    pools: toVinoSource().listPools(),
    nowMs: PAGE_NOW,
    base: "",
    places: ["nodes", "vinos"],
    ...over,
  });
}

test.each<[string, Partial<VinoListOptions>, string]>([
  ["none", { vinos: [] }, "No Vinos yet"],
  ["one that is well", { vinos: [WELL] }, "The only Vino is well"],
  ["one in trouble", {}, "1 of 2 Vinos needs attention"],
])("renderVinoList() of %s says it in the heading", async (_, over, expected) => {
  expect(await render(over)).toContain(`<h1>${expected}</h1>`);
});

test("renderVinoList() shows Vinos in trouble first, with how many machines are ready and kept", async () => {
  const html = await render();
  expect(html.indexOf("tenants/mixed")).toBeLessThan(html.indexOf("tenants/well"));
  expect(html).toContain("2 of 9 ready");
  expect(html).toContain("2 machines not wanted any more");
  expect(html).toContain("2, 1 in use");
  expect(html).toContain('<span class="mark s-notReady">1 not begun</span>');
});

test("renderVinoList() shows machines without a Vino, and how full address pools are", async () => {
  const html = await render();
  expect(html).toContain('<h2 id="strays">Machines without a Vino</h2>');
  expect(html).toContain('<th scope="row">vino-0ld-worker-0</th>');
  expect(html).toContain('<th scope="row">ippool-192-0-2-0-24</th>');
});

test("renderVinoList() before the first inventory shows what is known", async () => {
  const { cloud: _none, ...options } = { cloud: CLOUD, vinos: [WELL] };
  const html = await renderVinoList({
    ...options,
    serving: { missing: ["vinoes.airship.airshipit.org/v1"] },
    pools: [],
    nowMs: PAGE_NOW,
    base: "",
    places: ["vinos"],
  });
  expect(html).toContain("2 machines on 0 hosts");
  expect(html).toContain("until you install vinoes.airship.airshipit.org/v1.");
});

test("renderVinoList() of a standby says who leads", async () => {
  const election = { lease: "l", identity: "b", holder: "cp-1_a", isLeading: false };
  const html = await render({ serving: { election, missing: [] } });
  expect(html).toContain("The holder of the Lease l does: cp-1_a.");
});

test("renderVinoList() escapes what Vinos and the cloud say", async () => {
  const evil = "<script>";
  const html = await render({
    vinos: [
      toVino(evil, {
        namespace: evil,
        machines: [
          toVinoMachine("a", 0, { role: evil, message: evil, consumer: evil, address: evil }),
        ],
      }),
    ],
    cloud: {
      pools: [{ id: evil, name: evil, isComplete: true }],
      hosts: [{ id: "id-h1", name: evil, poolId: evil, isEnabled: true }],
      machines: [toShown(evil), toShown(toName("a", 0))],
    },
  });
  expect(html.match(/<script>/g)).toHaveLength(1);
});

test("renderVinoList() draws 500 machines on 50 hosts within a moment", async () => {
  const hosts = Array.from({ length: 50 }, (_, at) => ({
    id: `id-${at}`,
    name: `xcp-${at}`,
    poolId: "id-paris",
    isEnabled: true,
  }));
  const vinos = Array.from({ length: 5 }, (_, at) =>
    toVino(`v${at}`, {
      machines: Array.from({ length: 100 }, (__, index) =>
        toVinoMachine(`v${at}`, index, { host: `id-${index % 50}` }),
      ),
    }),
  );
  const machines = vinos.flatMap(({ name, machines: all }) =>
    all.map((one) => toShown(one.name, { hostId: one.host ?? "", vino: `tenants/${name}` })),
  );
  const startMs = performance.now();
  const html = await render({ vinos, cloud: { ...CLOUD, hosts, machines } });
  expect(html.match(/<a class="dot /g)).toHaveLength(500);
  expect(html.length).toBeLessThan(400_000);
  expect(performance.now() - startMs).toBeLessThan(2_000);
});
