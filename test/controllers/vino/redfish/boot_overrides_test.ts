import { expect, test } from "bun:test";
import {
  BootOverrides,
  toBootOverride,
} from "../../../../lib/controllers/vino/redfish/boot_overrides.ts";
import { OverrideStore } from "../../../../lib/controllers/vino/redfish/override_store.ts";
import { ALONE, Fence } from "../../../../lib/core/fence.ts";
import { ManagementRig } from "../../../support/vino/management_rig.ts";

const { signal } = new AbortController();
const ONCE = { duration: "once", device: "network" } as const;

test("toBootOverride() shows an override that ends as none", () => {
  const record = { ...ONCE, before: ["disk"] } as const;
  expect(toBootOverride(record)).toEqual(ONCE);
  expect(toBootOverride({ ...record, duration: "never" })).toEqual({ duration: "never" });
  expect(toBootOverride(undefined)).toEqual({ duration: "never" });
});

test("BootOverrides gives up if the cloud never shows the order, and what was asked for stays written", async () => {
  const rig = new ManagementRig();
  const { power, clock, secrets, machines } = rig;
  const [machine] = machines;
  if (machine === undefined) throw new Error("there is no machine");
  const old = power.get("a");
  power.onCall = (call, when) => {
    if (call.startsWith("order") && when === "after") power.machines.set("a", old);
  };
  const store = new OverrideStore({ client: secrets });
  const overrides = new BootOverrides({ power, store, fence: new Fence(ALONE), clock });
  const failed = overrides.change(machine, ONCE, signal).then(
    () => "done",
    (error: unknown) => String(error),
  );
  await clock.advance(60_000);
  expect(await failed).toContain("does not show the order of boot devices");
  expect(secrets.override(machine.id)).toBe(
    '{"duration":"once","device":"network","before":["disk","cd"]}',
  );
  expect(power.calls.length).toBeLessThanOrEqual(12);
});
