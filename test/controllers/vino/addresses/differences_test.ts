import { expect, test } from "bun:test";
import {
  type HeldAddress,
  toMoved,
  toTaken,
} from "../../../../lib/controllers/vino/addresses/differences.ts";
import type { VinoNetwork } from "../../../../lib/controllers/vino/resource/vino.ts";

const OAM: VinoNetwork = { name: "oam", subnet: "10.32.0.0/24" };
const PROV: VinoNetwork = { name: "prov", subnet: "10.32.1.0/24" };
const PLACE = { machine: "vino-1b4e28ba-w-0", name: "eth0" };
const OF_OAM: HeldAddress = { ip: "10.32.0.20", pool: "ippool-oam", subnet: "10.32.0.0/24" };
const WHO = "interface eth0 of vino-1b4e28ba-w-0";

test.each<[string, VinoNetwork, HeldAddress, readonly VinoNetwork[], string]>([
  [
    "an interface that is in another network now",
    PROV,
    OF_OAM,
    [OAM, PROV],
    `${WHO} has 10.32.0.20 of network oam, but the spec puts it into network prov. ` +
      "Set the name and the network of the interface back to eth0 and oam, or remove the machine",
  ],
  [
    "an interface that is in another network now, and whose pool is gone",
    PROV,
    { ip: "10.32.0.20" },
    [OAM, PROV],
    `${WHO} has 10.32.0.20 of network oam, but the spec puts it into network prov. ` +
      "Set the name and the network of the interface back to eth0 and oam, or remove the machine",
  ],
  [
    "a network with another subnet",
    { ...OAM, subnet: "10.99.0.0/24" },
    OF_OAM,
    [{ ...OAM, subnet: "10.99.0.0/24" }, PROV],
    `${WHO} has 10.32.0.20, but the subnet of network oam is 10.99.0.0/24 now. ` +
      "Set the subnet back to 10.32.0.0/24, or remove the machine",
  ],
  [
    "a network with another subnet, whose pool is gone",
    { ...OAM, subnet: "10.99.0.0/24" },
    { ip: "10.32.0.20" },
    [PROV],
    `${WHO} has 10.32.0.20, but the subnet of network oam is 10.99.0.0/24 now. ` +
      "Set the subnet back, or remove the machine",
  ],
  [
    "an IPPool with another subnet",
    OAM,
    { ...OF_OAM, subnet: "10.99.0.0/24" },
    [OAM, PROV],
    `IPPool ippool-oam lists 10.32.0.20 of ${WHO}, and has the subnet 10.99.0.0/24 now. ` +
      "Set its spec.subnet back to 10.32.0.0/24",
  ],
])("toMoved() says what to do about %s", (_what, network, held, networks, message) => {
  expect(toMoved(network, PLACE, held, networks)).toEqual({
    network: network.name,
    message,
    isDifference: true,
  });
});

test("toTaken() names both owners", () => {
  expect(toTaken(OAM, PLACE, "10.32.0.20", "other").message).toBe(
    `${WHO} has 10.32.0.20, but the IPPool of network oam lists that for other. ` +
      "Correct the IPPool, or remove one of the machines",
  );
});
