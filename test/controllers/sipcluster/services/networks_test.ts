import { expect, test } from "bun:test";
import { listNetworks } from "../../../../lib/controllers/sipcluster/services/networks.ts";

test("listNetworks() names each network of any service once, sorted, without empty names", () => {
  const range = { start: 30002, end: 30003 };
  const services = {
    loadBalancerControlPlane: [{ nodeInterfaceId: "oam", nodePort: 1 }],
    loadBalancerWorker: [
      { nodeInterfaceId: "storage", nodePortRange: range },
      { nodeInterfaceId: "oam", nodePortRange: range },
    ],
    auth: [{ nodeInterfaceId: "", nodePort: 2 }, { nodePort: 3 }],
  };
  expect(listNetworks(services)).toEqual(["oam", "storage"]);
  expect(listNetworks({})).toEqual([]);
});
