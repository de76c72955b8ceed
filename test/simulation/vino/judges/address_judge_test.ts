import { type Act, make, testCases, VINO } from "./right_world.ts";

const POOL = `/apis/airship.airshipit.org/v1/namespaces/${VINO.namespace}/ippools/pool`;

type Given = readonly [ip: string, mac: string, owner: string];

/** Who has which address, as the pool says. */
function give(...given: readonly Given[]): Act {
  const allocatedIPs = given.map(([ip, mac, allocatedTo]) => ({ ip, mac, allocatedTo }));
  const path = { namespace: VINO.namespace, name: "pool" };
  const spec = { subnet: "192.0.2.0/24", allocatedIPs };
  return ({ world: { objects } }) => {
    if (objects.get("ippools", path)) objects.patch("ippools", path, { spec });
    else objects.create("ippools", { metadata: path, spec });
  };
}

/** An interface of a VM has the first address. */
function giveVm(index: number, nic: string = "eth0"): Act {
  return (right) => give(["192.0.2.1", "02:1", `metal/core/${right.toName(index)}/${nic}`])(right);
}

/** A process says who has which address. */
function say(...allocatedIPs: { ip: string; mac: string; allocatedTo: string }[]): Act {
  return (right) => right.ask("PATCH", POOL, { spec: { allocatedIPs } });
}

const OTHERS: Given = ["192.0.2.1", "02:1", "office/printer/1"];
const A: Given = ["192.0.2.1", "02:1", "a"];

testCases("judgeAddresses() judges", [
  ["one address twice", give(A, ["192.0.2.1", "02:2", "b"]), "a pool has one ip twice"],
  ["one MAC address twice", give(A, ["192.0.2.2", "02:1", "b"]), "a pool has one mac twice"],
  ["two of one owner", give(A, ["192.0.2.2", "02:2", "a"]), "a pool has one allocatedTo twice"],
  ["the address of a VM that exists, given to another one", [giveVm(0), giveVm(1)], "and exists"],
  [
    "an address of others that a process gives to a VM",
    [
      give(OTHERS, ["192.0.2.2", "02:2", "a"]),
      say({ ip: "192.0.2.2", mac: "02:2", allocatedTo: "a" }),
    ],
    "a1 changes the address 192.0.2.1 of others",
  ],
  ["an address of a VM that a process takes back", [giveVm(0), say()]],
  ["the address of a VM that is gone, given to another one", [giveVm(5), give(), giveVm(1)]],
  [
    "the address of a VM that was gone, and that is made again without it",
    [giveVm(5, "eth2"), give(), make(5), giveVm(1)],
  ],
]);
