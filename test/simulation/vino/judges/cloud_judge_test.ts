import { describe, expect, test } from "bun:test";
import { HOST_TAG } from "../orders.ts";
import { tagHypervisor } from "../steps/cloud.ts";
import { isReady } from "./machines.ts";
import { type Case, listSaid, ORDER, RightWorld, VINO } from "./right_world.ts";

/** For so long a process may not know what changed. */
const OLD_MS = 300_000;

/** Lets a hypervisor destroy a VM that was complete. */
async function destroy(right: RightWorld, index: number): Promise<void> {
  const { id } = right.vm(index);
  const remove = (): void => right.world.cloud.state.removeVm(id);
  await right.call("VM.destroy", id, right.toName(index), remove);
}

/** Lets two creations of the name of a VM run, and another one begin. */
async function createTwice(right: RightWorld): Promise<void> {
  const name = right.toName(2);
  for (const id of ["1", "2"]) {
    const properties = { args: { name_label: name } };
    right.world.cloud.state.put("tasks", { id, status: "pending", properties });
  }
  await right.call("VM.clone", right.world.cloud.state.nextId("vm"), name);
}

const IN_THE_CLOUD: readonly Case[] = [
  [
    "a call for something of others",
    (right) => right.call("VM.set_tags", right.world.site.foreign.vmId, "database"),
    "which belongs to others",
  ],
  [
    "a change of something of others that no call made",
    ({ world }) => world.cloud.state.setVm(world.site.foreign.vmId, { name_label: "mine" }),
    "of others is not as it was",
  ],
  [
    "a start of a VM without the last tag",
    async (right) => {
      const id = await right.makeVm(right.toName(2), ["vino"]);
      await right.call("VM.start", id, right.toName(2));
    },
    "starts without the tag of a complete machine",
  ],
  [
    "a start of a complete VM",
    (right) => right.call("VM.start", right.vm(0).id, right.toName(0)),
    "",
  ],
  ["two creations of one name", createTwice, "is created 2 times at once"],
  [
    "two creations of one name because of a proxy that repeats",
    async (right) => {
      right.world.cloudJudge.watcher.isRepeating = true;
      await createTwice(right);
    },
    "",
  ],
  [
    "two VMs that were made as one machine",
    async (right) => {
      right.vm(0)["name_label"] = "mine";
      await right.makeVm(right.toName(0));
    },
    "2 VMs that can start were made as vino-",
  ],
  [
    "two VMs of which one has no last tag, but runs",
    async (right) => {
      right.vm(0)["name_label"] = "mine";
      await right.makeVm(right.toName(0), []);
    },
    "2 VMs that can start were made as vino-",
  ],
  [
    "two VMs of which one cannot start",
    async (right) => {
      right.vm(0)["name_label"] = "mine";
      Object.assign(right.vm(0), { tags: [], power_state: "Halted" });
      await right.makeVm(right.toName(0));
    },
    "",
  ],
  [
    "a MAC address of two machines",
    async (right) => {
      const [one, other] = [...right.world.cloud.state.all("vifs").values()].slice(-2);
      if (one && other) one["MAC"] = String(other["MAC"]).toUpperCase();
      await right.call("VIF.create", right.vm(0).id, right.toName(0));
    },
    "have the MAC address",
  ],
];

const OF_OTHERS: readonly Case[] = [
  [
    "a call for a disk that others attached to a VM of ours",
    async (right) => {
      right.world.others.attachDisk(right.vm(0));
      const { id = "" } = [...right.world.cloud.state.all("vdis").values()].at(-1) ?? {};
      await right.call("VDI.destroy", id, right.toName(0));
    },
    "which belongs to others",
  ],
  [
    "a disk of others that is gone",
    (right) => {
      right.world.others.putDisk("old");
      const { id = "" } = [...right.world.cloud.state.all("vdis").values()].at(-1) ?? {};
      right.world.cloud.state.remove("vdis", id);
    },
    "of others is not as it was",
  ],
  [
    "a disk of others that is detached",
    (right) => {
      right.world.others.attachDisk(right.vm(0));
      right.world.others.leave();
    },
    "",
  ],
  [
    "a VM of others with a name of ours that is written",
    (right) => {
      right.world.others.putVm(right.toName(0));
      const vms = [...right.world.cloud.state.all("vms").values()];
      const other = vms.find((vm) => vm["name_label"] === right.toName(0) && !isReady(vm));
      if (other !== undefined) other["tags"] = ["vino"];
    },
    "of others is not as it was",
  ],
  [
    "a copy of a VM, and VMs and templates of others that they take away",
    (right) => {
      const { others } = right.world;
      others.copy(right.vm(0));
      others.putVm(right.toName(0));
      others.putTemplate(right.toName(1));
      others.putUser(`${right.toName(1)}.data`);
      others.leave();
    },
    "",
  ],
];

const DELETIONS: readonly Case[] = [
  ["a deletion that no Vino asked for", (right) => destroy(right, 0), "no Vino asked for that"],
  [
    "a deletion for a Vino that has wanted one VM for a moment only",
    async (right) => {
      await right.world.timeline.advance(OLD_MS);
      right.world.order(VINO.name, { ...ORDER, count: 1 });
      await destroy(right, 1);
    },
    "",
  ],
  [
    "the deletion of one VM too many",
    async (right) => {
      right.world.order(VINO.name, { ...ORDER, count: 1 });
      await destroy(right, 1);
      await right.world.timeline.advance(OLD_MS);
      await destroy(right, 0);
    },
    "no Vino asked for that",
  ],
  [
    "a deletion for a Vino that keeps its VMs",
    async (right) => {
      right.world.order(VINO.name, { ...ORDER, count: 1, deletes: false });
      await right.world.timeline.advance(OLD_MS);
      await destroy(right, 1);
    },
    "no Vino asked for that",
  ],
  [
    "a deletion for a Vino that has wanted two VMs again for long",
    async (right) => {
      right.world.order(VINO.name, { ...ORDER, count: 1 });
      right.world.order(VINO.name, ORDER);
      await right.world.timeline.advance(OLD_MS);
      await destroy(right, 1);
    },
    "no Vino asked for that",
  ],
  [
    "the deletion of one VM of two on a host of which each is to have one",
    async (right) => {
      right.world.order(VINO.name, { ...ORDER, isPerHost: true, count: 1 });
      await right.world.timeline.advance(OLD_MS);
      await destroy(right, 1);
    },
    "",
  ],
  [
    "the deletion of the only VM on a host of which each is to have one",
    async (right) => {
      right.vm(1)["affinityHost"] = right.world.site.hostIds["xcp-par-2"];
      right.world.order(VINO.name, { ...ORDER, isPerHost: true, count: 1 });
      await right.world.timeline.advance(OLD_MS);
      await destroy(right, 1);
    },
    "no Vino asked for that",
  ],
  [
    "the deletion of a VM on a host that lost the tag",
    async (right) => {
      right.vm(1)["affinityHost"] = right.world.site.hostIds["xcp-par-2"];
      const hosts = { names: [], tags: [HOST_TAG] };
      right.world.order(VINO.name, { ...ORDER, isPerHost: true, count: 1, hosts });
      await right.world.timeline.advance(OLD_MS);
      const [host] = right.world.hypervisors;
      if (host !== undefined) tagHypervisor(right.world, host);
      await destroy(right, 1);
    },
    "no Vino asked for that",
  ],
  [
    "the deletion of VMs on all hosts, of which each is to have none",
    async (right) => {
      right.vm(1)["affinityHost"] = right.world.site.hostIds["xcp-par-2"];
      right.world.order(VINO.name, { ...ORDER, isPerHost: true, count: 0 });
      await destroy(right, 0);
      await destroy(right, 1);
    },
    "",
  ],
  [
    "the deletion of a VM whose host is used",
    async (right) => {
      right.world.order(VINO.name, { ...ORDER, count: 1 });
      right.use(1);
      await destroy(right, 1);
    },
    "something uses its host",
  ],
  [
    "the deletion of a VM that was never complete",
    async (right) => {
      const id = await right.makeVm(right.toName(2), []);
      const remove = (): void => right.world.cloud.state.removeVm(id);
      await right.call("VM.destroy", id, right.toName(2), remove);
    },
    "",
  ],
];

describe("CloudJudge", () => {
  test.each([...IN_THE_CLOUD, ...OF_OTHERS, ...DELETIONS])("judges %s", async (_, spoil, say) => {
    const said = await listSaid(spoil);
    expect(said.filter((one) => !one.includes(say))).toEqual([]);
    expect(said.length > 0).toBe(say !== "");
  });

  test("knows two VMs of one name in two ways: by their names, and as what they were made", async () => {
    using right = await RightWorld.create();
    await right.makeVm(right.toName(0));
    const { cloudJudge } = right.world;
    expect(cloudJudge.violations).toEqual([
      expect.stringContaining("2 machines with the name"),
      expect.stringContaining("2 VMs that can start were made as"),
    ]);
    expect(cloudJudge.watcher.violations).toHaveLength(1);
  });

  test("judges a change by a process that does not hold the Lease, and no question", async () => {
    using right = await RightWorld.create();
    const { cloudJudge } = right.world;
    const url = "http://a1.memory/rest/v0/vms/1";
    cloudJudge.noteSent("a1", new Request(url));
    cloudJudge.noteSent("a1", new Request("http://a1.memory/rest/v0/events", { method: "POST" }));
    expect([cloudJudge.violations, cloudJudge.changes]).toEqual([[], 0]);
    cloudJudge.noteSent("a1", new Request(url, { method: "DELETE" }));
    expect(cloudJudge.violations).toEqual(["a1 changes the cloud without the Lease"]);
  });
});
