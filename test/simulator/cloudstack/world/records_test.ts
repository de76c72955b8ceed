import { expect, test } from "bun:test";
import {
  toNetwork,
  toNic,
  toOffering,
  toPublicIp,
  toVm,
  toZone,
} from "../../../../lib/simulator/cloudstack/world/records.ts";

const zone = toZone("paris");
const offering = toOffering("Small", 2, 4_096);
const place = { accountId: "a", zoneId: zone.id, offeringId: offering.id };

test("toZone(), toOffering() and toVm() have the same IDs for the same names", () => {
  expect(toZone("paris")).toEqual(zone);
  expect(toOffering("Small", 2, 4_096)).toEqual(offering);
  expect(toVm({ name: "a", ...place }).id).toBe(toVm({ name: "a", ...place }).id);
  expect(toVm({ name: "a", ...place }).id).not.toBe(toVm({ name: "b", ...place }).id);
  expect(toVm({ name: "a", id: "x", ...place }).id).toBe("x");
});

test("toVm() runs, is displayed and has a display name", () => {
  expect(toVm({ name: "a", ...place })).toMatchObject({
    displayName: "a",
    state: "Running",
    isDisplayed: true,
    isRemoved: false,
    nics: [],
  });
  expect(toVm({ name: "a", state: "Stopped", ...place }).state).toBe("Stopped");
});

test("toNetwork() is shared without an account, isolated with one", () => {
  const shared = toNetwork({ name: "s", zoneId: zone.id });
  const own = toNetwork({ name: "s", zoneId: zone.id, accountId: "a" });
  expect([shared.type, own.type]).toEqual(["Shared", "Isolated"]);
  expect([shared.services.includes("Lb"), own.services.includes("Lb")]).toEqual([false, true]);
});

test("toNic() leaves out addresses that there are not", () => {
  const network = toNetwork({ name: "s", zoneId: zone.id });
  const nic = toNic({ vmName: "a", network });
  expect(nic).toEqual({ id: nic.id, networkId: network.id, isDefault: true, secondaryIps: [] });
  expect(toNic({ vmName: "a", network, ipAddress: "10.1.1.5" }).ipAddress).toBe("10.1.1.5");
});

test("toPublicIp() is free without an account", () => {
  expect(toPublicIp("192.0.2.1", zone.id)).not.toHaveProperty("allocatedMs");
  expect(toPublicIp("192.0.2.1", zone.id, "a")).toMatchObject({ accountId: "a" });
});
