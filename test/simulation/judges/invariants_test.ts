import { describe, expect, test } from "bun:test";
import { LEASE } from "../world/api_server.ts";
import { DEFAULT_DELETION } from "../../../lib/cloud/deletion/guard.ts";
import { listUntrue } from "./calm.ts";
import { listLacks } from "./node_writes.ts";
import type { Process } from "../world/process.ts";
import { type Said, type Saying, toSaying } from "../world/settings_file.ts";
import { XenOrchestraWorld } from "../xenorchestra/cloud.ts";

const LEASES_URL = "http://memory/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const JSON_HEADERS = { "content-type": "application/json" };
const ZONE = "topology.kubernetes.io/zone";
const VM_NAME = "vm.k8s.xenorchestra/name_label";

/** Two Nodes that are as they should be, and two processes, one of which leads. */
async function start(): Promise<XenOrchestraWorld> {
  const settings = {
    deletion: DEFAULT_DELETION,
    refreshIntervalMs: 10_000,
    replicas: 2,
    pools: 2,
    nodes: 2,
  };
  const world = new XenOrchestraWorld(7, () => settings);
  for (const replica of world.replicas) replica.start({ rate: 1, skewMs: 0 });
  for (const name of ["n1", "n2"]) {
    world.addMachine(name);
    world.join(name);
  }
  world.noteChange();
  await world.timeline.advance(20_000);
  return world;
}

function findLeader({ replicas, server }: XenOrchestraWorld): Process {
  const found = replicas.find(({ current }) => current?.process.name === server.holder);
  if (found?.current === undefined) throw new Error("Nobody leads");
  return found.current.process;
}

describe("Invariants", () => {
  test("Invariants has nothing to say of a world in which nothing goes wrong", async () => {
    const world = await start();
    await world.leave();

    expect(world.invariants.violations).toEqual([]);
    expect(world.invariants.writes).toBeGreaterThan(0);
  });

  test("Invariants judges a leader that was frozen for longer than its Lease, and finds work", async () => {
    const world = await start();
    const leader = findLeader(world);
    leader.pause();
    await world.timeline.advance(20_000);
    world.server.objects.patchNode("n1", { metadata: { labels: { [ZONE]: "wrong" } } });
    await world.timeline.advance(3_000);
    const successor = findLeader(world).name;
    leader.resume(true);
    await world.timeline.advance(1_000);
    await world.leave();

    expect(successor).not.toBe(leader.name);
    expect(world.invariants.violations).toEqual([]);
  });

  const write = { path: "/api/v1/nodes/n1", headers: {}, body: "{}" } as const;

  test("Invariants.checkSent() reports a write by a process that does not hold the Lease", async () => {
    const world = await start();
    const other = world.incarnations.find(({ process }) => process !== findLeader(world));
    if (other) world.invariants.checkSent(other.process, { ...write, method: "PATCH" });
    await world.leave();

    expect(world.invariants.violations.join()).toContain("holds the Lease");
  });

  test("Invariants.checkSent() reports two writes at once, and not two in a row", async () => {
    const world = await start();
    const leader = findLeader(world);
    world.invariants.checkSent(leader, { ...write, method: "PATCH" })();
    const afterTwo = [...world.invariants.violations];
    world.invariants.checkSent(leader, { ...write, method: "PATCH" });
    world.invariants.checkSent(leader, { ...write, method: "PATCH" });
    await world.leave();

    expect(afterTwo).toEqual([]);
    expect(world.invariants.violations.join()).toContain("two writes at once");
  });

  test("Invariants.checkSent() reports a deletion of a Node whose VM exists", async () => {
    const world = await start();
    world.invariants.checkSent(findLeader(world), { ...write, method: "DELETE" });
    await world.leave();

    expect(world.invariants.violations.join()).toContain("whose VM exists");
  });

  test.each([
    ["PATCH", { spec: { taints: [] } }, "a list without the resourceVersion"],
    ["PATCH", { status: { addresses: [] } }, "a list without the resourceVersion"],
    ["PATCH", { metadata: { resourceVersion: "1" }, spec: { taints: [] } }, ""],
    ["PATCH", { metadata: { labels: {} } }, ""],
    ["DELETE", { preconditions: { uid: "u" } }, "may meet another Node"],
    ["DELETE", { preconditions: { resourceVersion: "1" } }, "may meet another Node"],
    ["DELETE", { preconditions: { uid: "u", resourceVersion: "1" } }, ""],
  ] as const)("listLacks() of %s %j says %p", (method, body, lack) => {
    expect(listLacks({ ...write, method, body: JSON.stringify(body) }).join()).toContain(lack);
    if (lack === "")
      expect(listLacks({ ...write, method, body: JSON.stringify(body) })).toEqual([]);
  });

  test("Invariants.checkSent() reports a write to a Node of another cloud", async () => {
    const world = await start();
    world.joinForeign("foreign");
    await world.timeline.advance(10_000);
    const before = [...world.invariants.violations];
    const path = "/api/v1/nodes/foreign";
    world.invariants.checkSent(findLeader(world), { ...write, path, method: "PATCH" });
    await world.leave();

    expect(before).toEqual([]);
    expect(world.invariants.violations.join()).toContain("of another cloud");
  });

  test("Invariants.checkSent() reports a deletion of a Node whose VM is a template now", async () => {
    const world = await start();
    world.cloud.state.makeTemplate(world.machines.get("n1") ?? "");
    world.invariants.checkSent(findLeader(world), { ...write, method: "DELETE" });
    await world.leave();

    expect(world.invariants.violations.join()).toContain("is a template now");
  });

  test("Invariants.checkChange() reports a machine that two Nodes get", async () => {
    const world = await start();
    const [before, other] = [world.findNode("n1"), world.findNode("n2")];
    if (before === undefined || other === undefined) throw new Error("They are not there");
    const providerID = other.spec?.providerID ?? "";
    world.invariants.checkChange({
      author: "a1",
      before: { ...before, spec: {} },
      after: { ...before, spec: { providerID } },
    });
    await world.leave();

    expect(world.invariants.violations.join()).toContain("the machine of another Node");
  });

  test.each([
    ["deleted", undefined],
    ["emptied", ""],
  ] as const)("a Lease that was %s by hand is not taken before its time", async (_how, holder) => {
    const world = await start();
    const leader = findLeader(world);
    const other = world.incarnations.find(({ process }) => process !== leader);
    leader.pause();
    world.server.editLease(holder);
    await world.timeline.advance(5_000);
    const early = world.server.holder ?? "";
    await world.timeline.advance(15_000);
    const late = world.server.holder ?? "";
    await world.leave();

    expect([early, late]).toEqual(["", other?.process.name ?? "?"]);
    expect(world.invariants.violations).toEqual([]);
  });

  test("ApiServer.mayAct() is true of each leader that lost the Lease to a person, for its time", async () => {
    const world = await start();
    const first = findLeader(world);
    first.pause();
    world.server.editLease(undefined);
    await world.timeline.advance(7_000);
    const stranger = { metadata: LEASE, spec: { holderIdentity: "z9_", leaseDurationSeconds: 15 } };
    const body = JSON.stringify(stranger);
    await world.server.answer(
      "z9",
      new Request(LEASES_URL, { method: "POST", body, headers: JSON_HEADERS }),
    );
    world.server.editLease(undefined);
    const soon = ["z9", first.name, "nobody"].map((name) => world.server.mayAct(name));
    await world.timeline.advance(15_000);
    const later = ["z9", first.name].map((name) => world.server.mayAct(name));
    await world.leave();

    expect(soon).toEqual([true, true, false]);
    expect(later).toEqual([false, false]);
  });

  test("DeletionProofs counts again after a failed inventory, and while the Node is Ready", async () => {
    const world = await start();
    const { name } = findLeader(world);
    const vmId = world.machines.get("n1") ?? "";
    const node = world.findNode("n1");
    if (node === undefined) throw new Error("There is no n1");
    world.cloud.state.removeVm(vmId);
    const countDoubts = (): number =>
      world.invariants.proofs
        .listDoubts(name, node, vmId)
        .filter((doubt) => doubt.includes("lists lacked")).length;
    await world.timeline.advance(60_000);
    // The Node is Ready all the time.
    const whileReady = countDoubts();
    world.setReady("n1", false);
    await world.timeline.advance(1_000);
    const afterReady = countDoubts();
    await world.timeline.advance(45_000);
    const later = countDoubts();
    world.invariants.proofs.noteFailure(name);
    const afterFailure = countDoubts();
    await world.leave();

    expect([whileReady, afterReady, later, afterFailure]).toEqual([0, 1, 0, 1]);
  });

  test("DeletionProofs learns from a list, too, that a Node is not Ready any more", async () => {
    const world = await start();
    const { name } = findLeader(world);
    const vmId = world.machines.get("n1") ?? "";
    const node = world.findNode("n1");
    if (node === undefined) throw new Error("There is no n1");
    world.cloud.state.removeVm(vmId);
    await world.timeline.advance(60_000);
    const conditions = [{ type: "Ready", status: "Unknown" }];
    const silent = { ...node, status: { ...node.status, conditions } };
    const others = world.server.nodes.filter(({ metadata }) => metadata.name !== "n1");
    const countDoubts = (): number =>
      world.invariants.proofs
        .listDoubts(name, node, vmId)
        .filter((doubt) => doubt.includes("lists lacked")).length;
    world.invariants.proofs.noteNodes(name, [silent, ...others]);
    const afterList = countDoubts();
    await world.timeline.advance(45_000);
    // The watch tells what the list told.
    world.setReady("n1", false);
    await world.timeline.advance(1_000);
    const afterWatch = countDoubts();
    await world.leave();

    expect([afterList, afterWatch]).toEqual([1, 0]);
  });

  test("Invariants.checkChange() takes a name that the process knows, and not one of before", async () => {
    const world = await start();
    const { name: author } = findLeader(world);
    const before = world.findNode("n1");
    const vmId = world.machines.get("n1") ?? "";
    if (before === undefined) throw new Error("There is no n1");
    const write = (value: string): number => {
      const labels = { ...before.metadata.labels, [VM_NAME]: value };
      world.invariants.known.noteSent(author, "n1", value);
      const after = { ...before, metadata: { ...before.metadata, labels } };
      world.invariants.checkChange({ author, before, after });
      return world.invariants.violations.length;
    };
    world.cloud.state.setVm(vmId, { name_label: "second" });
    world.noteChange();
    const whileFirstIsKnown = write("n1");
    await world.timeline.advance(30_000);
    world.cloud.state.setVm(vmId, { name_label: "third" });
    world.noteChange();
    const whileSecondIsKnown = write("second");
    const long = write("first");
    await world.leave();

    expect([whileFirstIsKnown, whileSecondIsKnown, long]).toEqual([0, 0, 1]);
  });

  test("Invariants.checkSettings() reports wrong settings that are used, and good ones that are refused", async () => {
    const world = await start();
    const [one] = world.incarnations;
    if (one === undefined) throw new Error("Nobody runs");
    world.invariants.checkSettings(one, true);
    const right = world.invariants.violations.length;
    world.invariants.checkSettings(one, false);
    one.seen = { text: "", said: undefined };
    world.invariants.checkSettings(one, false);
    world.invariants.checkSettings(one, true);
    await world.leave();

    expect(right).toBe(0);
    expect(world.invariants.violations).toEqual([
      `${one.process.name} refuses good settings`,
      `${one.process.name} uses wrong settings`,
    ]);
  });

  test("a settings file that changes is in use within 20 s, and a wrong one never is", async () => {
    const world = await start();
    const { said } = world;
    const next: Said = { ...said, labels: { zoneFrom: "pool" }, refreshIntervalMs: 5_000 };
    const write = (saying: Saying): void => {
      for (const { file } of world.replicas) file.write(saying);
    };
    world.said = next;
    write(toSaying(world.cloud, next));
    await world.timeline.advance(20_000);
    const inUse = world.incarnations.map(({ uses }) => uses.at(-1)?.said);
    await world.timeline.advance(5_000);
    const untrue = listUntrue(world);
    write({ text: "refreshInterval: soon", said: undefined });
    await world.timeline.advance(30_000);
    const kept = world.incarnations.map(({ uses }) => uses.at(-1)?.said);
    await world.leave();

    expect(inUse).toEqual([next, next]);
    expect(untrue).toEqual([]);
    expect(kept).toEqual(inUse);
    expect(world.invariants.violations).toEqual([]);
  });

  test("Invariants.checkChange() tells what a process changes that it may not", async () => {
    const world = await start();
    const before = world.findNode("n1");
    if (before === undefined) throw new Error("There is no n1");
    const { metadata, spec } = before;
    const labels = { ...metadata.labels, "example.com/theirs": "other", [ZONE]: "elsewhere" };
    const after = {
      ...before,
      metadata: { ...metadata, labels },
      spec: { ...spec, providerID: "x" },
    };
    world.invariants.checkChange({ author: "a1", before, after });
    await world.leave();

    const told = world.invariants.violations.join();
    for (const part of ["what is not ours", "provider ID", "was not true"]) {
      expect(told).toContain(part);
    }
  });
});
