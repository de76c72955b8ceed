import { expect, test } from "bun:test";
import { type Case, listSaid, type RightWorld, VINO } from "./right_world.ts";

const OWNER = "metal/core";
const POOL = `/apis/airship.airshipit.org/v1/namespaces/${VINO.namespace}/ippools/pool`;

/** Who has which address, as the pool says. */
function give({ world }: RightWorld, ...given: readonly (readonly [string, string, string])[]) {
  const allocatedIPs = given.map(([ip, mac, allocatedTo]) => ({ ip, mac, allocatedTo }));
  const path = { namespace: VINO.namespace, name: "pool" };
  const spec = { subnet: "192.0.2.0/24", allocatedIPs };
  if (world.objects.get("ippools", path)) world.objects.patch("ippools", path, { spec });
  else world.objects.create("ippools", { metadata: path, spec });
}

const ADDRESSES: readonly Case[] = [
  [
    "one address twice",
    (right) => give(right, ["192.0.2.1", "02:1", "a"], ["192.0.2.1", "02:2", "b"]),
    "a pool has one ip twice",
  ],
  [
    "one MAC address twice",
    (right) => give(right, ["192.0.2.1", "02:1", "a"], ["192.0.2.2", "02:1", "b"]),
    "a pool has one mac twice",
  ],
  [
    "two addresses of one owner",
    (right) => give(right, ["192.0.2.1", "02:1", "a"], ["192.0.2.2", "02:2", "a"]),
    "a pool has one allocatedTo twice",
  ],
  [
    "the address of a VM that exists, given to another one",
    (right) => {
      give(right, ["192.0.2.1", "02:1", `${OWNER}/${right.toName(0)}/eth0`]);
      give(right, ["192.0.2.1", "02:1", `${OWNER}/${right.toName(1)}/eth0`]);
    },
    "and exists",
  ],
  [
    "an address of others that a process gives to a VM",
    async (right) => {
      give(right, ["192.0.2.1", "02:1", "office/printer/1"], ["192.0.2.2", "02:2", "a"]);
      const allocatedIPs = [{ ip: "192.0.2.2", mac: "02:2", allocatedTo: "a" }];
      await right.ask("PATCH", POOL, { spec: { allocatedIPs } });
    },
    "a1 changes the address 192.0.2.1 of others",
  ],
  [
    "an address of a VM that a process takes back",
    async (right) => {
      give(right, ["192.0.2.1", "02:1", `${OWNER}/${right.toName(0)}/eth0`]);
      await right.ask("PATCH", POOL, { spec: { allocatedIPs: [] } });
    },
    "",
  ],
  [
    "the address of a VM that is gone, given to another one",
    (right) => {
      give(right, ["192.0.2.1", "02:1", `${OWNER}/${right.toName(5)}/eth0`]);
      give(right);
      give(right, ["192.0.2.1", "02:1", `${OWNER}/${right.toName(1)}/eth0`]);
    },
    "",
  ],
  [
    "the address of a VM that was gone, and that is made again without it",
    async (right) => {
      give(right, ["192.0.2.1", "02:1", `${OWNER}/${right.toName(5)}/eth2`]);
      give(right);
      await right.makeVm(right.toName(5));
      give(right, ["192.0.2.1", "02:1", `${OWNER}/${right.toName(1)}/eth0`]);
    },
    "",
  ],
];

test.each(ADDRESSES)("judgeAddresses() judges %s", async (_, spoil, say) => {
  const said = await listSaid(spoil);
  expect(said.filter((one) => !one.includes(say))).toEqual([]);
  expect(said.length > 0).toBe(say !== "");
});
