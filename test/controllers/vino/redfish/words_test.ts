import { expect, test } from "bun:test";
import { toAddressType, toSliceName } from "../../../../lib/controllers/vino/redfish/words.ts";

test.each([
  ["10.0.0.7", "IPv4", "redfish-ipv4"],
  ["fd00::7", "IPv6", "redfish-ipv6"],
  [undefined, "IPv4", "redfish-ipv4"],
])("toSliceName() is another one for each type of addresses (%p)", (ip, type, name) => {
  expect(toAddressType(ip)).toBe(type as "IPv4");
  expect(toSliceName("redfish", ip)).toBe(name);
});
