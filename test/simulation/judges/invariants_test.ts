import { expect } from "bun:test";
import { LEASE } from "../world/api_server.ts";
import { listUntrue } from "./calm.ts";
import { listLacks } from "./writes.ts";
import { findLeader, readNode, settle, SETTINGS } from "../settled.ts";
import { type Said, type Saying, toSaying } from "../world/settings_file.ts";
import { XenOrchestraWorld } from "../xenorchestra/cloud.ts";
import { longTest } from "../../support/long_tests.ts";

const LEASES_URL = "http://memory/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const ZONE = "topology.kubernetes.io/zone";
const VM_NAME = "vm.k8s.xenorchestra/name_label";

/** Two Nodes that are as they should be, and two processes, one of which leads. */
function start(): Promise<XenOrchestraWorld> {
  const world = new XenOrchestraWorld(7, () => ({ ...SETTINGS, replicas: 2, nodes: 2 }));
  return settle(world, ["n1", "n2"], 20_000);
}

function findOther({ incarnations, server }: XenOrchestraWorld) {
  const found = incarnations.find(({ process }) => process.name !== server.holder);
  if (found === undefined) throw new Error("Nobody stands by");
  return found.process;
}

type Act = (world: XenOrchestraWorld) => unknown;

/** The leader sends something about a Node. Returns what tells that it has its answer. */
function send(world: XenOrchestraWorld, method: "DELETE" | "PATCH", name = "n1"): () => void {
  const write = { path: `/api/v1/nodes/${name}`, headers: {}, body: "{}", method } as const;
  return world.invariants.checkSent(findLeader(world), write);
}

/** A process changes a Node. */
function change(
  toAfter: (before: ReturnType<typeof readNode>, world: XenOrchestraWorld) => object,
) {
  return (world: XenOrchestraWorld): void => {
    const before = readNode(world, "n1");
    const after = { ...before, ...toAfter(before, world) };
    world.invariants.checkChange({ author: "a1", before, after });
  };
}

const sendAsOther: Act = (world) => {
  const write = { path: "/api/v1/nodes/n1", headers: {}, body: "{}", method: "PATCH" } as const;
  world.invariants.checkSent(findOther(world), write);
};

const sendTwice: Act = (world) => {
  send(world, "PATCH")();
  send(world, "PATCH")();
};

const sendTwiceAtOnce: Act = (world) => {
  send(world, "PATCH");
  send(world, "PATCH");
};

const joinForeign: Act = async (world) => {
  world.joinForeign("foreign");
  await world.timeline.advance(10_000);
};

const writeForeign: Act = async (world) => {
  await joinForeign(world);
  send(world, "PATCH", "foreign");
};

const deleteTemplate: Act = (world) => {
  world.cloud.state.makeTemplate(world.machines.get("n1") ?? "");
  send(world, "DELETE");
};

const claimOther = change((_before, world) => {
  const { providerID = "" } = readNode(world, "n2").spec ?? {};
  return { spec: { providerID } };
});

const spoil = change(({ metadata, spec }) => {
  const labels = { ...metadata.labels, "example.com/theirs": "other", [ZONE]: "elsewhere" };
  return { metadata: { ...metadata, labels }, spec: { ...spec, providerID: "x" } };
});

/** Frozen for longer than its Lease, a leader finds work when it goes on. */
const outlive: Act = async (world) => {
  const leader = findLeader(world);
  leader.pause();
  await world.timeline.advance(20_000);
  world.server.objects.patchNode("n1", { metadata: { labels: { [ZONE]: "wrong" } } });
  await world.timeline.advance(3_000);
  expect(findLeader(world).name).not.toBe(leader.name);
  leader.resume(true);
  await world.timeline.advance(1_000);
};

longTest.each<readonly [what: string, act: Act, ...said: string[]]>([
  ["nothing", () => undefined],
  ["a leader that was frozen for longer than its Lease, and finds work", outlive],
  ["a write by a process that does not hold the Lease", sendAsOther, "holds the Lease"],
  ["two writes in a row", sendTwice],
  ["two writes at once", sendTwiceAtOnce, "two writes at once"],
  ["a deletion of a Node whose VM exists", (world) => send(world, "DELETE"), "whose VM exists"],
  ["a deletion of a Node whose VM is a template now", deleteTemplate, "is a template now"],
  ["a Node of another cloud", joinForeign],
  ["a write to a Node of another cloud", writeForeign, "of another cloud"],
  ["a machine that two Nodes get", claimOther, "the machine of another Node"],
  [
    "what a process changes that it may not",
    spoil,
    "what is not ours",
    "provider ID",
    "was not true",
  ],
])("Invariants judges %s", async (_what, act, ...said) => {
  await using world = await start();
  await act(world);
  const { violations, writes } = world.invariants;
  expect(writes).toBeGreaterThan(0);
  if (said.length === 0) expect(violations).toEqual([]);
  for (const part of said) expect(violations.join()).toContain(part);
});

longTest.each([
  ["PATCH", { spec: { taints: [] } }, "a list without the resourceVersion"],
  ["PATCH", { status: { addresses: [] } }, "a list without the resourceVersion"],
  ["PATCH", { metadata: { resourceVersion: "1" }, spec: { taints: [] } }, ""],
  ["PATCH", { metadata: { labels: {} } }, ""],
  ["DELETE", { preconditions: { uid: "u" } }, "may meet another Node"],
  ["DELETE", { preconditions: { resourceVersion: "1" } }, "may meet another Node"],
  ["DELETE", { preconditions: { uid: "u", resourceVersion: "1" } }, ""],
] as const)("listLacks() of %s %j says %p", (method, body, lack) => {
  const write = { path: "/api/v1/nodes/n1", headers: {}, body: JSON.stringify(body), method };
  expect(listLacks(write)).toEqual(lack === "" ? [] : [expect.stringContaining(lack)]);
});

longTest.each([
  ["deleted", undefined],
  ["emptied", ""],
] as const)("a Lease that was %s by hand is not taken before its time", async (_how, holder) => {
  await using world = await start();
  const other = findOther(world).name;
  findLeader(world).pause();
  world.server.editLease(holder);
  await world.timeline.advance(5_000);
  expect(world.server.holder ?? "").toBe("");
  await world.timeline.advance(15_000);
  expect(world.server.holder).toBe(other);
  expect(world.invariants.violations).toEqual([]);
});

longTest(
  "ApiServer.mayAct() is true of each leader that lost the Lease to a person, for its time",
  async () => {
    await using world = await start();
    const { server, timeline } = world;
    const first = findLeader(world);
    first.pause();
    server.editLease(undefined);
    await timeline.advance(7_000);
    const stranger = { metadata: LEASE, spec: { holderIdentity: "z9_", leaseDurationSeconds: 15 } };
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify(stranger);
    await server.answer("z9", new Request(LEASES_URL, { method: "POST", body, headers }));
    server.editLease(undefined);
    const mayAct = () => ["z9", first.name, "nobody"].map((name) => server.mayAct(name));
    expect(mayAct()).toEqual([true, true, false]);
    await timeline.advance(15_000);
    expect(mayAct()).toEqual([false, false, false]);
  },
);

/** A process that leads, and how many of its lists lacked the VM of a Node, which is gone: whether it is in doubt. */
async function lose(world: XenOrchestraWorld) {
  const { name } = findLeader(world);
  const vmId = world.machines.get("n1") ?? "";
  const node = readNode(world, "n1");
  world.cloud.state.removeVm(vmId);
  await world.timeline.advance(60_000);
  const { proofs } = world.invariants;
  const isDoubted = (): boolean =>
    proofs.listDoubts(name, node, vmId).some((doubt) => doubt.includes("lists lacked"));
  return { name, node, proofs, isDoubted };
}

longTest(
  "DeletionProofs counts again after a failed inventory, and while the Node is Ready",
  async () => {
    await using world = await start();
    const { name, proofs, isDoubted } = await lose(world);
    // The Node is Ready all the time.
    expect(isDoubted()).toBe(false);
    world.setReady("n1", false);
    await world.timeline.advance(1_000);
    expect(isDoubted()).toBe(true);
    await world.timeline.advance(45_000);
    expect(isDoubted()).toBe(false);
    proofs.noteFailure(name);
    expect(isDoubted()).toBe(true);
  },
);

longTest("DeletionProofs learns from a list, too, that a Node is not Ready any more", async () => {
  await using world = await start();
  const { name, node, proofs, isDoubted } = await lose(world);
  const conditions = [{ type: "Ready", status: "Unknown" }];
  const silent = { ...node, status: { ...node.status, conditions } };
  const others = world.server.nodes.filter(({ metadata }) => metadata.name !== "n1");
  proofs.noteNodes(name, [silent, ...others]);
  expect(isDoubted()).toBe(true);
  await world.timeline.advance(45_000);
  // The watch tells what the list told.
  world.setReady("n1", false);
  await world.timeline.advance(1_000);
  expect(isDoubted()).toBe(false);
});

longTest(
  "Invariants.checkChange() takes a name that the process knows, and not one of before",
  async () => {
    await using world = await start();
    const { name: author } = findLeader(world);
    const { invariants, cloud, machines } = world;
    const before = readNode(world, "n1");
    const rename = (label: string): void => {
      cloud.state.setVm(machines.get("n1") ?? "", { name_label: label });
      world.noteChange();
    };
    const write = (value: string): number => {
      const labels = { ...before.metadata.labels, [VM_NAME]: value };
      invariants.known.noteSent(author, "n1", value);
      const after = { ...before, metadata: { ...before.metadata, labels } };
      invariants.checkChange({ author, before, after });
      return invariants.violations.length;
    };
    rename("second");
    expect(write("n1")).toBe(0);
    await world.timeline.advance(30_000);
    rename("third");
    expect(write("second")).toBe(0);
    expect(write("first")).toBe(1);
  },
);

longTest(
  "Invariants.checkSettings() reports wrong settings that are used, and good ones that are refused",
  async () => {
    await using world = await start();
    const { invariants, incarnations } = world;
    const [one] = incarnations;
    if (one === undefined) throw new Error("Nobody runs");
    invariants.checkSettings(one, true);
    expect(invariants.violations).toEqual([]);
    invariants.checkSettings(one, false);
    one.seen = { text: "", said: undefined };
    invariants.checkSettings(one, false);
    invariants.checkSettings(one, true);
    expect(invariants.violations).toEqual([
      `${one.process.name} refuses good settings`,
      `${one.process.name} uses wrong settings`,
    ]);
  },
);

longTest(
  "a settings file that changes is in use within 20 s, and a wrong one never is",
  async () => {
    await using world = await start();
    const next: Said = { ...world.said, labels: { zoneFrom: "pool" }, refreshIntervalMs: 5_000 };
    const write = (saying: Saying): void => {
      for (const { file } of world.replicas) file.write(saying);
    };
    const listUsed = () => world.incarnations.map(({ uses }) => uses.at(-1)?.said);
    world.said = next;
    write(toSaying(world.cloud, next));
    await world.timeline.advance(20_000);
    expect(listUsed()).toEqual([next, next]);
    await world.timeline.advance(5_000);
    expect(listUntrue(world)).toEqual([]);
    write({ text: "refreshInterval: soon", said: undefined });
    await world.timeline.advance(30_000);
    expect(listUsed()).toEqual([next, next]);
    expect(world.invariants.violations).toEqual([]);
  },
);
