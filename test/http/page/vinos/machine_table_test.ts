import { expect, test } from "bun:test";
import { MachineTable } from "../../../../lib/http/page/vinos/machine_table.tsx";
import { CLOUD, toShown, toVino, toVinoMachine } from "../../../support/page/vino_views.ts";

const MACHINE = toVinoMachine("a", 0, { message: "waits for a stop" });

function render(power: string, hostId: string): string {
  const cloud = { ...CLOUD, machines: [toShown(MACHINE.name, { power, hostId })] };
  const vino = toVino("a", { machines: [MACHINE] });
  const options = { vino, machines: [MACHINE], isOne: false, base: "" };
  return String(MachineTable({ ...options, cloud }));
}

test("MachineTable() shows what a machine waits for, its host, address and BareMetalHost", () => {
  const html = render("stopped", "id-h2");
  for (const text of [
    '<span class="mark s-stopped">off</span><p class="why soft">waits for a stop</p>',
    '<td data-label="Host">h2<p class="soft">made for h1</p><p class="soft">stopped</p></td>',
    '<td data-label="Address">192.0.2.10</td>',
    'tenants/a-worker-0<p class="soft">Published, available</p>',
  ]) {
    expect(html).toContain(text);
  }
});

test("MachineTable() says once what several machines wait for", () => {
  const wait = (index: number, text: string): ReturnType<typeof toVinoMachine> =>
    toVinoMachine("a", index, { message: `vino-a-worker-${index}: ${text}` });
  const machines = [wait(0, "no room"), wait(1, "no room"), wait(2, "no template"), MACHINE];
  const options = { vino: toVino("a", { machines }), machines, isOne: false, base: "" };
  const texts = String(MachineTable(options)).matchAll(/<p class="why soft">([^<]*)<\/p>/g);
  expect([...texts].map(([, text]) => text)).toEqual([
    "vino-a-worker-0: no room",
    "the same as vino-a-worker-0",
    "vino-a-worker-2: no template",
    "waits for a stop",
  ]);
});

test("MachineTable() of a machine on its own host does not name that twice", () => {
  expect(render("running", "id-h1")).not.toContain("made for");
});

test("MachineTable() without machines says so", () => {
  const options = { vino: toVino("a"), machines: [], isOne: false, base: "" };
  expect(String(MachineTable(options))).toContain("There is none.");
});
