import { expect, test } from "bun:test";
import { startCloudStack } from "../../../../../lib/cli/demo/clouds/cloudstack/mod.ts";
import { systemClock } from "../../../../../lib/core/clock.ts";
import { cloudStack } from "../../../../../lib/providers/cloudstack/mod.ts";

test("startCloudStack() tells the lists of inventories from other questions", async () => {
  const { cloud } = await startCloudStack(systemClock);
  for (const query of [
    "command=listVirtualMachines&listall=true&page=1&pagesize=500",
    "command=listVirtualMachines&id=x&page=1&pagesize=500",
    "command=listVirtualMachines&name=x&page=1&pagesize=500",
    "command=listZones",
  ]) {
    await (await fetch(`${cloud.url}?${query}`)).arrayBuffer();
  }
  expect(cloud.countPasses()).toBe(1);
  expect([...cloud.countRequests().values()]).toEqual([1, 1, 1, 1]);
  await cloud.stop();
});

test("startCloudStack() gives other programs the INI file that the provider reads", async () => {
  const { cloud } = await startCloudStack(systemClock);
  const { text = "", provider } = cloud.clients.settings ?? {};
  expect(provider).toBe(cloudStack.name);
  expect(cloudStack.syntax?.accepts?.(text)).toBe(true);
  const parsed = await cloudStack.syntax?.parse(text, cloudStack.settings);
  const { settings, issues } = cloudStack.parseConfig(parsed?.raw, {});
  expect([issues, parsed?.issues]).toEqual([[], []]);
  const { CLOUDSTACK_KEY: apiKey, CLOUDSTACK_SECRET: secretKey } = cloud.clients.env;
  expect(settings).toMatchObject({ url: cloud.url, keys: { kind: "pair", apiKey, secretKey } });
  await cloud.stop();
});
