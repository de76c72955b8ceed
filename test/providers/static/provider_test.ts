import { describe, expect, test } from "bun:test";
import { readFile, rm } from "node:fs/promises";
import { DELETION } from "../../../lib/cloud/settings/sections.ts";
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import { SettingsFile } from "../../../lib/config/settings_file.ts";
import { Fence } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { staticProvider } from "../../../lib/providers/static/mod.ts";
import { describeProviderContract, type ProviderHarness } from "../../provider_contract.ts";
import {
  CLOUDLYCKE,
  startStaticCloud,
  type StaticCloud,
  useStaticClouds,
} from "../../support/cloud/static_cloud.ts";
import { createChanging } from "../../support/cloud/changing_provider.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const signal = new AbortController().signal;
const INVENTORY = `
scheme: static
instances:
  - id: i-1
    name: one
    systemUUID: 0B1D2E3F-0000-4000-8000-000000000001
    type: small
    zone: z1
    region: r1
    addresses:
      - { type: InternalIP, address: 10.0.0.2 }
      - { type: InternalIP, address: "fd00:0::2" }
      - { type: InternalIP, address: 10.0.0.2 }
    labels: { example.com/rack: r-1 }
  - id: i-2
    name: two
    systemUUID: 0B1D2E3F-0000-4000-8000-000000000002
`;

const start = useStaticClouds();

describeProviderContract("static", async (): Promise<ProviderHarness> => {
  const cloud = await startStaticCloud(INVENTORY);
  return {
    provider: cloud.provider,
    matchesBy: "systemUuid",
    machines: [
      { nodeName: "one", systemUuid: "0b1d2e3f-0000-4000-8000-000000000001" },
      { nodeName: "two", systemUuid: "0b1d2e3f-0000-4000-8000-000000000002" },
    ],
    foreignProviderId: "other://i-1",
    malformedProviderIds: ["static://", "static:/i-1", "static", "static://a/b", "static:// i-1"],
    remove: ({ nodeName }) =>
      cloud.edit((text) => {
        const [head = "", ...entries] = text.split(/^ {2}(?=- id:)/m);
        return [head, ...entries.filter((entry) => !entry.includes(`name: ${nodeName}`))].join(
          "  ",
        );
      }),
    breakCloud: () => cloud.write("instances: 7"),
    stop: () => cloud.stop(),
  };
});

async function read(cloud: StaticCloud, node: NodeIdentity) {
  const inventory = await cloud.provider.listInventory([node], signal);
  return cloud.provider.readInstance(inventory, node, signal);
}

describe("the static provider", () => {
  test("listInventory() shows a changed file, and says since when", async () => {
    const cloud = await start(INVENTORY);
    await cloud.clock.advance(500);
    const before = await cloud.provider.listInventory([], signal);
    await cloud.edit((text) => text.replace("zone: z1", "zone: z2"));
    const after = await cloud.provider.listInventory([], signal);
    expect(before.instances.get("i-1")?.zone).toBe("z1");
    expect(after.instances.get("i-1")?.zone).toBe("z2");
    expect(after.observedAtMs).toBe(500);
    expect(after.coverage.get("file")).toEqual({ complete: true, name: cloud.path });
  });

  test("listInventory() keeps the same instances while the file stays the same", async () => {
    const cloud = await start(INVENTORY);
    const before = await cloud.provider.listInventory([], signal);
    await cloud.edit((text) => text);
    const after = await cloud.provider.listInventory([], signal);
    expect(after.instances).toBe(before.instances);
  });

  test("a wrong file names every problem with its line, and heals when it is right again", async () => {
    const cloud = await start(INVENTORY);
    await cloud.write(
      "instances:\n  - id: i-1\n    name: 5\n    state: gone\n  - id: i-1\n    name: x\n",
    );
    const failed = cloud.provider.listInventory([], signal);
    await expect(failed).rejects.toMatchObject({ name: "CloudError", kind: "protocol" });
    const message = String(await failed.catch((error: Error) => error.message));
    expect(message).toStartWith(
      "Cannot read the inventory file (the last good one stays in use): ",
    );
    expect(message).not.toMatch(/\n/);
    expect(message.split(`; ${cloud.path}:`)).toHaveLength(3);
    expect(message).toContain(`${cloud.path}:3:5: instances.0.name: must be text`);
    expect(message).toContain(`${cloud.path}:4:5: instances.0.state: must be running`);
    expect(message).toContain(`${cloud.path}:5:5: instances.1.id:`);
    expect(await read(cloud, { name: "one" }).catch(() => "failed")).toBe("failed");
    await cloud.write(INVENTORY);
    expect((await cloud.provider.listInventory([], signal)).instances.size).toBe(2);
  });

  test("a file that is gone proves nothing", async () => {
    const cloud = await start(INVENTORY);
    const inventory = await cloud.provider.listInventory([], signal);
    await rm(cloud.path);
    await expect(cloud.provider.listInventory([], signal)).rejects.toMatchObject({
      kind: "unreachable",
    });
    const node = { name: "x", providerId: "static://i-9" };
    const presence = await cloud.provider.readInstance(inventory, node, signal);
    expect(presence).toMatchObject({ kind: "unknown", reason: "unreachable" });
  });

  test("a changed scheme is refused: provider IDs in the cluster carry the old one", async () => {
    const cloud = await start(INVENTORY);
    await cloud.edit((text) => text.replace("scheme: static", "scheme: other"));
    const failed = cloud.provider.listInventory([], signal);
    await expect(failed).rejects.toThrow('scheme changed from "static" to "other"');
  });

  test.each([
    ["cloudlycke://m-c2-1", "m-c2-1"],
    ["cloudlycke://cloudlycke://m-c2-1", "m-c2-1"],
  ])("readInstance() finds %p in the pretend cloud", async (providerId, id) => {
    const cloud = await start(await readFile(CLOUDLYCKE, "utf8"));
    const presence = await read(cloud, { name: "any", providerId });
    expect(presence).toMatchObject({
      kind: "present",
      matchedBy: "providerId",
      instance: { id, providerId: "cloudlycke://m-c2-1", instanceType: "vbox.vm.512mb.1cpu" },
    });
  });

  test.each([
    ["cloudlycke://n-c2-2", 'lists "n-c2-2" with state: deleted'],
    ["cloudlycke://n-c2-9", 'does not list "n-c2-9"'],
  ])("readInstance() has evidence that %p is gone", async (providerId, evidence) => {
    const cloud = await start(await readFile(CLOUDLYCKE, "utf8"));
    const presence = await read(cloud, { name: "any", providerId });
    expect(presence.kind === "absent" && presence.evidence).toContain(evidence);
  });
});

describe("other settings", () => {
  const asFile = (scheme: string) => ({ scheme, refreshInterval: 10_000, instances: [] });
  const open = ({ path }: Pick<StaticCloud, "path">) =>
    createChanging(staticProvider, asFile("static"), {
      clock: new ManualClock(),
      log: silentLogger,
      metrics: new MetricsRegistry(),
      signal,
      fence: new Fence(),
      configFile: new SettingsFile(path, {}, [DELETION]),
    });

  test("may be any but another scheme, in words that name it", async () => {
    const { change } = open(await start(INVENTORY));
    expect(change(asFile("static"))).toBe("sameCloud");
    expect(() => change(asFile("other"))).toThrow(
      'scheme: cannot change to "other" while Landfall runs: existing provider IDs begin with "static"',
    );
  });

  test("leave the inventory in use to the next refresh, which reads the file", async () => {
    const { provider, change } = open(await start(INVENTORY));
    change(asFile("static"));
    expect((await provider.listInventory([], signal)).instances.size).toBe(2);
  });
});

describe("inspect()", () => {
  test("names the file and counts its instances", async () => {
    const { provider, path } = await start("instances: [{ id: a, name: a }, { id: b, name: b }]\n");
    const found = await provider.inspect?.(signal);
    expect(found).toMatchObject({ endpoint: path, counts: { files: 1, instances: 2 } });
    expect(found?.parts).toEqual([{ kind: "file", id: "file", name: path, complete: true }]);
    expect(found?.findings.map(({ level }) => level)).toEqual(["ok", "ok"]);
  });

  test.each([
    ["without instances", "[]"],
    ["whose instances are all deleted", "[{ id: a, name: a, state: deleted }]"],
  ])("warns of a file %s", async (_what, instances) => {
    const { provider } = await start(`instances: ${instances}\n`);
    const found = await provider.inspect?.(signal);
    expect(found?.findings.at(-1)).toMatchObject({
      level: "warning",
      code: "noInstances",
      advice: expect.stringContaining("; those with state: deleted do not count"),
    });
  });

  test("says that the file is gone or wrong now", async () => {
    const cloud = await start("instances: []\n");
    await cloud.write("instances: 3\n");
    expect((await cloud.provider.inspect?.(signal))?.findings).toMatchObject([
      { level: "failure", code: "unreadable" },
    ]);
    await rm(cloud.path);
    const found = await cloud.provider.inspect?.(signal);
    expect(found?.findings[0]?.message).toContain("there is no such file");
    expect(found?.inventory).toBeUndefined();
  });
});
