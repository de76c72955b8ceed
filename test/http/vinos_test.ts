/**
 * The pages of Vinos, as requests see them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { CloudView, VinoMachineView, VinoView } from "../../lib/http/vinos/views.ts";
import type { ServingView } from "../../lib/http/views.ts";
import { findHeading, listRows, readData, readPage, toPages } from "../support/page/pages.ts";
import {
  CLOUD,
  MIXED,
  toAbsent,
  toName,
  toShown,
  toVino,
  toVinoMachine,
  toVinoSource,
  WELL,
} from "../support/page/vino_views.ts";

const LIST = "vinos";

function show(
  vinos: readonly VinoView[] = [WELL, MIXED],
  { cloud = CLOUD, serving = { missing: [] } }: { cloud?: CloudView; serving?: ServingView } = {},
) {
  return toPages({ vinos: { ...toVinoSource(vinos, cloud), readServing: () => serving } });
}

/** The boxes with their tiles, as text. */
function listPlaces(html: string): readonly string[] {
  const [, places = ""] = /aria-labelledby="places"([^]*?)<\/section>/.exec(html) ?? [];
  const found = places.matchAll(/<b>([^<]*)<\/b>|class="dot [^>]*>([^<]*)(?:<i>([^<]*)<\/i>)?/g);
  return [...found].map(([, box, tile = "", note = ""]) => box ?? `${tile} ${note}`.trim());
}

describe("the list", () => {
  test.each<[string, readonly VinoView[], string]>([
    ["none", [], "No Vinos yet"],
    ["one that is well", [WELL], "The only Vino is well"],
    ["one in trouble", [WELL, MIXED], "1 of 2 Vinos needs attention"],
    [
      "one that is not ready",
      [toVino("a", { state: "working" })],
      "The only Vino is not ready yet",
    ],
    [
      "one that is deleted",
      [WELL, toVino("a", { state: "deleting" })],
      "1 of 2 Vinos is being removed",
    ],
  ])("of %s says it in the heading", async (_title, vinos, expected) => {
    expect(findHeading(await readPage(show(vinos), LIST))).toBe(expected);
  });

  test("shows Vinos in trouble first, with how many machines are ready and kept", async () => {
    const html = await readPage(show(), LIST);
    expect(listRows(html)).toEqual(["tenants/mixed", "tenants/well"]);
    for (const text of ["2 of 9 ready", "2 machines not wanted any more", "2, 1 in use"]) {
      expect(html).toContain(text);
    }
    expect(html).toContain('<span class="mark s-notReady">1 not begun</span>');
  });

  test("shows each machine where the cloud shows it, else where it should start", async () => {
    expect(listPlaces(await readPage(show([MIXED, WELL]), LIST))).toEqual([
      "lyon",
      "l1",
      "paris",
      "h1",
      "tenants/mixed worker-0 blocked",
      "tenants/mixed worker-1 unknown",
      "tenants/mixed worker-2 not begun",
      "tenants/mixed worker-3 differs",
      "tenants/mixed worker-4 being removed",
      "tenants/mixed worker-5 being made",
      "tenants/mixed worker-7 not wanted",
      "tenants/well worker-0 Metal3Machine tenants/blue-1, SIPCluster blue",
      "h2",
      "tenants/mixed worker-0 blocked",
      "tenants/mixed worker-6 off",
      "tenants/well worker-1",
      "vino-0ld-worker-0 without a Vino",
      "h3",
    ]);
  });

  test("shows machines without a known host in their pool, others apart", async () => {
    const { hostId: _nowhere, ...shown } = toShown(toName("a", 0), { vino: "tenants/a" });
    const { host: _none, ...machine } = toVinoMachine("a", 0);
    const vino = toVino("a", { machines: [machine, toVinoMachine("a", 1, { host: "gone" })] });
    const pools = show([vino], { cloud: { ...CLOUD, hosts: [], machines: [shown] } });
    expect(listPlaces(await readPage(pools, LIST))).toEqual([
      "lyon",
      "paris",
      "tenants/a worker-0",
      "No known place",
      "tenants/a worker-1",
    ]);
  });

  test("shows a machine that its Vino does not know yet as being made", async () => {
    const shown = toShown(toName("well", 7), { vino: "tenants/well" });
    const cloud = { ...CLOUD, machines: [shown] };
    const html = await readPage(show([toVino("well", { machines: [] })], { cloud }), LIST);
    expect(html).toContain(`${toName("well", 7)}<i>being made</i>`);
  });

  test("finds Vinos and machines by a text", async () => {
    const html = await readPage(show(), `${LIST}?q=mixed-worker-6`);
    expect(listRows(html)).toEqual(["tenants/mixed"]);
    expect(listPlaces(html)).toContain("tenants/mixed worker-6 off");
    expect(listPlaces(html)).not.toContain("tenants/well worker-1");
  });

  test("shows machines without a Vino, and how full address pools are", async () => {
    const html = await readPage(show(), LIST);
    expect(html).toContain('<h2 id="strays" class="name">Machines without a Vino</h2>');
    expect(html).toContain('<th scope="row">vino-0ld-worker-0</th>');
    expect(html).toContain('<th scope="row">ippool-192-0-2-0-24</th>');
  });

  test("before the first inventory shows what is known", async () => {
    const missing = ["vinoes.airship.airshipit.org/v1"];
    const source = { ...toVinoSource([WELL]), readServing: () => ({ missing }) };
    const pages = toPages({ vinos: { ...source, readCloud: async () => undefined } });
    const html = await readPage(pages, LIST);
    expect(html).toContain("2 machines on 0 hosts");
    expect(html).toContain("until you install vinoes.airship.airshipit.org/v1.");
    const text = await readData(pages, `${LIST}?format=text`);
    expect(text).toStartWith(
      "waiting for CustomResourceDefinition vinoes.airship.airshipit.org/v1\n",
    );
  });

  test("of a standby says who leads", async () => {
    const election = { lease: "l", identity: "b", holder: "cp-1_a", isLeading: false };
    const html = await readPage(show([WELL], { serving: { election, missing: [] } }), LIST);
    expect(html).toContain("The holder of the Lease l does: cp-1_a.");
  });

  test("is data for programs, and tables for terminals", async () => {
    const data = JSON.parse(await readData(show(), LIST));
    expect(data.vinos).toMatchObject([{ name: "well", state: "ready" }, { name: "mixed" }]);
    expect(data.hosts).toHaveLength(4);
    expect(data.machinesWithoutVino).toMatchObject([
      { name: "vino-0ld-worker-0", power: "running" },
    ]);
    expect(data.pools).toMatchObject([{ used: 8, total: 100 }]);
    const text = await readData(show(), `${LIST}?format=text`);
    expect(text).toMatch(
      /^tenants +mixed +failing +2 of 9 ready, .* ok +0s +vino-mixed-worker-0: /m,
    );
    expect(text).toMatch(/^vino-mixed-worker-3, id-mixed-3 +differs, CPUs change when it is off /m);
    expect(text).toMatch(/^paris +h3 +no +0$/m);
    expect(text).toMatch(/^paris +h1 +yes +3$/m);
    expect(text).toMatch(/^vino-0ld-worker-0 +id-of-vino-0ld-worker-0 +h2 +running$/m);
    expect(text).toMatch(/^ippool-192-0-2-0-24 +IPv4 +8 +100$/m);
  });

  test("draws 500 machines on 50 hosts within a moment", async () => {
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
    const html = await readPage(show(vinos, { cloud: { ...CLOUD, hosts, machines } }), LIST);
    expect(html.match(/<a class="dot /g)).toHaveLength(500);
    expect(html.length).toBeLessThan(400_000);
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });
});

describe("the page of one", () => {
  const MIXED_PATH = `${LIST}/tenants/mixed`;

  test("shows conditions and what each machine waits for", async () => {
    const html = await readPage(show(), MIXED_PATH);
    for (const text of [
      "vino-mixed-worker-0: 2 VMs have its name",
      "no address is free",
      "tenants/mixed-worker-3",
      "2 of 9 ready",
      "made for h1",
    ]) {
      expect(html).toContain(text);
    }
  });

  test("says once why it is not ready", async () => {
    const html = await readPage(show(), MIXED_PATH);
    expect(html.match(/vino-mixed-worker-0: 2 VMs have its name/g)).toHaveLength(1);
  });

  test("names the host as the machine does while the cloud shows none", async () => {
    const machine = toVinoMachine("a", 0, { host: "id-9", hostDisplayName: "xcp-9" });
    const html = await readPage(
      show([toVino("a", { machines: [machine] })], {
        cloud: { pools: [], hosts: [], machines: [] },
      }),
      `${LIST}/tenants/a`,
    );
    expect(html).toContain("xcp-9");
    expect(html).not.toContain("id-9");
  });

  test("says once why the last reconcile failed", async () => {
    const lastReconcile = { at: "2026-01-02T03:04:05Z", outcome: "error", error: "no answer" };
    const vino = toVino("a", { state: "failing", lastReconcile, conditions: [] });
    const html = await readPage(show([vino]), `${LIST}/tenants/a`);
    expect(html.split("no answer")).toHaveLength(2);
    const ready = toVino("a", { state: "ready", lastReconcile, conditions: [] });
    expect(await readPage(show([ready]), `${LIST}/tenants/a`)).toContain("no answer");
  });

  test("compares machines, first those that differ", async () => {
    const html = await readPage(show(), MIXED_PATH);
    const [first] = html.matchAll(/<details class="box" id="parts-([^"]*)"( open)?/g);
    expect(first?.[1]).toBe(toName("mixed", 3));
    expect(html).toContain('<td class="verdict">differs</td>');
  });

  test.each<[string, Partial<VinoMachineView>, readonly string[]]>([
    [
      "that is wanted",
      {
        parts: [
          { name: "CPUs", wanted: "4", actual: "4" },
          { name: "memory", wanted: "4 GiB", actual: "2 GiB" },
          { name: "disk data", wanted: "9 GiB" },
          { name: "interface x", actual: "net" },
        ],
      },
      ["in sync", "differs", "missing", "not desired"],
    ],
    [
      "that is not wanted",
      { isWanted: false, parts: [{ name: "interface x", actual: "net" }] },
      ["unknown"],
    ],
    ["without known parts", { parts: [] }, []],
  ])("judges each part of a machine %s", async (_title, fields, expected) => {
    const vino = toVino("a", { machines: [toVinoMachine("a", 0, fields)] });
    const html = await readPage(show([vino]), `${LIST}/tenants/a`);
    const verdicts = [...html.matchAll(/class="verdict">([^<]*)/g)].map(([, word]) => word);
    expect(verdicts).toEqual([...expected]);
  });

  test("shows one machine if it is asked for", async () => {
    const html = await readPage(show(), `${MIXED_PATH}?machine=${toName("mixed", 6)}`);
    expect(html).toContain("All machines of this Vino");
    expect(html).toContain("One of its machines");
    expect(html).toContain(`id="parts-${toName("mixed", 6)}" open`);
    expect(html).not.toContain(toName("mixed", 5));
    expect(await readPage(show(), `${MIXED_PATH}?machine=none`)).toContain(
      "It has no such machine",
    );
  });

  test("says once what many machines wait for", async () => {
    const machines = [0, 1, 2].map((at) => toAbsent("a", at, { message: "no address is free" }));
    const html = await readPage(show([toVino("a", { machines })]), `${LIST}/tenants/a`);
    expect(html.match(/no address is free/g)).toHaveLength(1);
    expect(html.match(/the same as vino-a-worker-0/g)).toHaveLength(2);
  });

  test("of very many machines shows the first rows, and compares a few", async () => {
    const machines = Array.from({ length: 600 }, (_, index) => toVinoMachine("big", index));
    const html = await readPage(show([toVino("big", { machines })]), `${LIST}/tenants/big`);
    expect(html).toContain("These are the first 500 of 600.");
    expect(html).toContain("These are 30 of 600 machines.");
  });

  test("is data for programs, and tables for terminals", async () => {
    const { name, machines, shown } = JSON.parse(await readData(show(), MIXED_PATH));
    expect([name, machines.length, shown.length]).toEqual(["mixed", 8, 4]);
    const text = await readData(show(), `${MIXED_PATH}?format=text`);
    expect(text).toMatch(/^vino-mixed-worker-6, id-mixed-6 +off +h2, made for h1, stopped +192/m);
    expect(text).toMatch(/^vino-mixed-worker-3 +CPUs +4 +2$/m);
    expect(text).toMatch(/^Ready +False +MachineFailure/m);
  });
});

test.each<[string, Partial<VinoMachineView>, string]>([
  ["ready", {}, "running"],
  ["ready", {}, "unknown"],
  ["off", {}, "stopped"],
  ["off", {}, "suspended"],
  ["differs", { parts: [{ name: "CPUs", wanted: "4", actual: "2" }] }, "stopped"],
  ["differs", { parts: [{ name: "disk data", wanted: "9 GiB" }] }, "running"],
  ["being made", { state: "Creating" }, "running"],
  ["being made", { state: "Unfinished" }, "running"],
  ["not begun", { state: "Absent" }, "running"],
  ["blocked", { state: "Blocked" }, "running"],
  ["blocked", { state: "Blocked", isWanted: false }, "running"],
  ["unknown", { state: "Unknown", isWanted: false }, "running"],
  ["being removed", { state: "Removing", isWanted: false }, "running"],
  ["not wanted", { isWanted: false }, "running"],
  ["not wanted", { state: "Unfinished", isWanted: false }, "running"],
  ["not wanted", { state: "Absent", isWanted: false }, "running"],
])("a machine is %p for %j that is %s", async (expected, fields, power) => {
  const machines = [toShown(toName("a", 0), { vino: "tenants/a", power })];
  const vino = toVino("a", { machines: [toVinoMachine("a", 0, fields)] });
  const html = await readPage(show([vino], { cloud: { ...CLOUD, machines } }), `${LIST}/tenants/a`);
  const [, table = ""] = html.split('id="machines"');
  expect(/<span class="mark [^>]*>([^<]*)/.exec(table)?.[1]).toBe(expected);
});

test("nothing that Vinos and the cloud say becomes markup", async () => {
  const evil = "<script>";
  const machine = { role: evil, message: evil, consumer: evil, address: evil };
  const vino = toVino(evil, { namespace: evil, machines: [toVinoMachine("a", 0, machine)] });
  const cloud = {
    pools: [{ id: evil, name: evil, isComplete: true }],
    hosts: [{ id: "id-h1", name: evil, poolId: evil, isEnabled: true }],
    machines: [toShown(evil), toShown(toName("a", 0))],
  };
  expect((await readPage(show([vino], { cloud }), LIST)).match(/<script>/g)).toHaveLength(1);
});
