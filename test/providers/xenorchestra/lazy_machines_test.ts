/**
 * Without a controller that makes machines, nothing of their code is loaded, and inventories stay as they were.
 * @module
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Provider } from "../../../lib/cloud/provider.ts";
import { listLoaded } from "../../support/sources.ts";
import { createProvider, FakeXenOrchestra, NODE, toDeps, toSettings } from "./fake_server.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";

const signal = new AbortController().signal;
let fake: FakeXenOrchestra;

beforeEach(() => {
  fake = new FakeXenOrchestra();
});
afterEach(() => fake.stop());

function listPaths(): string[] {
  return fake.paths.map((path) => decodeURIComponent(path));
}

async function followed(provider: Provider): Promise<Provider> {
  provider.machines?.follow();
  await provider.listInventory([NODE], signal);
  return provider;
}

test("no file of the provider imports machines before they are followed", async () => {
  const values = await listLoaded("lib/providers/xenorchestra/mod.ts");
  expect(values.filter((file) => file.includes("/machines/"))).toEqual([]);
  expect(values).toContain("lib/providers/xenorchestra/lazy_machines.ts");
});

test("follow() asks for our machines beside those of Nodes, and for the fields that they need", async () => {
  await followed(createProvider(fake));
  const vms = listPaths().find((path) => path.startsWith("/vms?"));
  expect(vms).toContain("name_label:/^vino-/");
  expect(vms).toContain("blockedOperations");
  expect(listPaths().find((path) => path.startsWith("/hosts?"))).toContain("enabled");
});

test("without it lists stay as they were", async () => {
  await createProvider(fake).listInventory([NODE], signal);
  expect(listPaths().join(" ")).not.toMatch(/vino|blockedOperations|enabled/);
});

test("observe() waits for an inventory that shows machines", async () => {
  const provider = createProvider(fake);
  await provider.listInventory([NODE], signal);
  const look = (): unknown => provider.machines?.observe({ isForChange: false }, signal);
  await expect(look()).rejects.toThrow("Waiting for the first inventory");
  await followed(provider);
  expect(await look()).toMatchObject({ isForChange: false });
});

test("new settings follow machines, too", async () => {
  const deps = toDeps();
  const settings = toSettings(fake.url);
  const provider = await followed(xenOrchestra.create(settings, deps));
  xenOrchestra.reconfigure?.(provider, toSettings(fake.url, { token: "other" }));
  fake.seen.length = 0;
  await provider.listInventory([NODE], signal);
  expect(listPaths().find((path) => path.startsWith("/vms?"))).toContain("name_label:/^vino-/");
});
