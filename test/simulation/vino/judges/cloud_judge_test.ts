import { expect } from "bun:test";
import { HOST_TAG } from "../orders.ts";
import { tagHypervisor } from "../steps/cloud.ts";
import { isReady } from "./machines.ts";
import {
  type Act,
  call,
  make,
  pass,
  place,
  set,
  testCases,
  use,
  want,
  RightWorld,
  VINO,
} from "./right_world.ts";
import { longTest } from "../../../support/long_tests.ts";

/** For so long a process may not know what changed. */
const OLD = pass(300_000);

/** A hypervisor destroys a VM. */
function destroy(index: number): Act {
  return (right) => {
    const { id } = right.vm(index);
    const remove = (): void => right.world.cloud.state.removeVm(id);
    return right.call("VM.destroy", id, right.toName(index), remove);
  };
}

/** A hypervisor does something with a VM that is not complete. */
function callUnfinished(method: string, tags: readonly string[]): Act {
  return async (right) => {
    const id = await right.makeVm(right.toName(2), tags);
    await right.call(method, id, right.toName(2), () => {
      if (method === "VM.destroy") right.world.cloud.state.removeVm(id);
    });
  };
}

/** Two creations of the name of a VM run, and another one begins. */
const createTwice: Act = async (right) => {
  const { state } = right.world.cloud;
  const name = right.toName(2);
  for (const id of ["1", "2"])
    state.put("tasks", { id, status: "pending", properties: { args: { name_label: name } } });
  await right.call("VM.clone", state.nextId("vm"), name);
};

const repeat: Act = ({ world }) => {
  world.cloudJudge.watcher.isRepeating = true;
};

const shareMac: Act = ({ world }) => {
  const [one, other] = [...world.cloud.state.all("vifs").values()].slice(-2);
  if (one && other) one["MAC"] = String(other["MAC"]).toUpperCase();
};

const attachDisk: Act = (right) => right.world.others.attachDisk(right.vm(0));
const leave: Act = ({ world }) => world.others.leave();

function lastDisk({ world }: RightWorld): string {
  return [...world.cloud.state.all("vdis").keys()].at(-1) ?? "";
}

/** Landfall writes a VM of others that has a name of ours. */
const writeVmOfOthers: Act = (right) => {
  right.world.others.putVm(right.toName(0));
  const vms = [...right.world.cloud.state.all("vms").values()];
  const other = vms.find((vm) => vm["name_label"] === right.toName(0) && !isReady(vm));
  if (other !== undefined) other["tags"] = ["vino"];
};

const putAll: Act = (right) => {
  const { others } = right.world;
  others.copy(right.vm(0));
  others.putVm(right.toName(0));
  others.putTemplate(right.toName(1));
  others.putUser(`${right.toName(1)}.data`);
};

const untag: Act = ({ world }) => {
  const [host] = world.hypervisors;
  if (host !== undefined) tagHypervisor(world, host);
};

const RENAME = set(0, { name_label: "mine" });
const ONE_PER_HOST = want({ isPerHost: true, count: 1 });
const TAGGED = { names: [], tags: [HOST_TAG] };
const UNWANTED = "no Vino asked for that";
const FOREIGN = "of others is not as it was";
const TWICE = "2 VMs that can start were made as vino-";

testCases("CloudJudge judges", [
  ["a right world", pass(600_000)],
  [
    "a call for something of others",
    (right) => right.call("VM.set_tags", right.world.site.foreign.vmId, "database"),
    "which belongs to others",
  ],
  [
    "a change of something of others that no call made",
    ({ world }) => world.cloud.state.setVm(world.site.foreign.vmId, { name_label: "mine" }),
    FOREIGN,
  ],
  [
    "a start of a VM without the last tag",
    callUnfinished("VM.start", ["vino"]),
    "starts without the tag of a complete machine",
  ],
  ["a start of a complete VM", call("VM.start")],
  ["two creations of one name", createTwice, "is created 2 times at once"],
  ["two creations of one name because of a proxy that repeats", [repeat, createTwice]],
  ["two VMs that were made as one machine", [RENAME, make(0)], TWICE],
  ["two VMs of which one has no last tag, but runs", [RENAME, make(0, [])], TWICE],
  [
    "two VMs of which one cannot start",
    [RENAME, set(0, { tags: [], power_state: "Halted" }), make(0)],
  ],
  ["a MAC address of two machines", [shareMac, call("VIF.create")], "have the MAC address"],
  ["two VMs of one name, also as what they were made", make(0), "2 machines with the name", TWICE],
  [
    "a call for a disk that others attached to a VM of ours",
    [attachDisk, (right) => right.call("VDI.destroy", lastDisk(right), right.toName(0))],
    "which belongs to others",
  ],
  [
    "a disk of others that is gone",
    [
      ({ world }) => world.others.putDisk("old"),
      (right) => right.world.cloud.state.remove("vdis", lastDisk(right)),
    ],
    FOREIGN,
  ],
  ["a disk of others that is detached", [attachDisk, leave]],
  ["a VM of others with a name of ours that is written", writeVmOfOthers, FOREIGN],
  ["a copy of a VM, and VMs and templates of others that they take away", [putAll, leave]],
  ["a deletion that no Vino asked for", destroy(0), UNWANTED],
  [
    "a deletion for a Vino that has wanted one VM for a moment only",
    [OLD, want({ count: 1 }), destroy(1)],
  ],
  ["the deletion of one VM too many", [want({ count: 1 }), destroy(1), OLD, destroy(0)], UNWANTED],
  [
    "a deletion for a Vino that keeps its VMs",
    [want({ count: 1, deletes: false }), OLD, destroy(1)],
    UNWANTED,
  ],
  [
    "a deletion for a Vino that has wanted two VMs again for long",
    [want({ count: 1 }), want({}), OLD, destroy(1)],
    UNWANTED,
  ],
  [
    "the deletion of one VM of two on a host of which each is to have one",
    [ONE_PER_HOST, OLD, destroy(1)],
  ],
  [
    "the deletion of the only VM on a host of which each is to have one",
    [place(1), ONE_PER_HOST, OLD, destroy(1)],
    UNWANTED,
  ],
  [
    "the deletion of a VM on a host that lost the tag",
    [place(1), want({ isPerHost: true, count: 1, hosts: TAGGED }), OLD, untag, destroy(1)],
    UNWANTED,
  ],
  [
    "the deletion of VMs on all hosts, of which each is to have none",
    [place(1), want({ isPerHost: true, count: 0 }), destroy(0), destroy(1)],
  ],
  [
    "the deletion of a VM whose host is used",
    [want({ count: 1 }), use(1), destroy(1)],
    "something uses its host",
  ],
  ["the deletion of a VM that was never complete", callUnfinished("VM.destroy", [])],
]);

longTest(
  "CloudJudge judges a change by a process that does not hold the Lease, and no question",
  async () => {
    await using right = await RightWorld.create();
    const { cloudJudge } = right.world;
    const url = "http://a1.memory/rest/v0/vms/1";
    cloudJudge.noteSent("a1", new Request(url));
    cloudJudge.noteSent("a1", new Request("http://a1.memory/rest/v0/events", { method: "POST" }));
    expect([cloudJudge.violations, cloudJudge.changes]).toEqual([[], 0]);
    cloudJudge.noteSent("a1", new Request(url, { method: "DELETE" }));
    expect(cloudJudge.violations).toEqual(["a1 changes the cloud without the Lease"]);
  },
);

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
