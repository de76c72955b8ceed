import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion_guard.ts";
import type { Process } from "./process.ts";
import { World } from "./world.ts";

const ZONE = "topology.kubernetes.io/zone";

/** Two Nodes that are as they should be, and two processes, one of which leads. */
async function start(): Promise<World> {
  const settings = {
    deletion: DEFAULT_DELETION,
    refreshIntervalMs: 10_000,
    replicas: 2,
    pools: 2,
    nodes: 2,
  };
  const world = new World(7, () => settings);
  for (const replica of world.replicas) replica.start({ rate: 1, skewMs: 0 });
  for (const name of ["n1", "n2"]) {
    world.addMachine(name);
    world.join(name);
  }
  world.noteChange();
  await world.timeline.advance(20_000);
  return world;
}

function findLeader({ replicas, server }: World): Process {
  const found = replicas.find(({ current }) => current?.process.name === server.holder);
  if (found?.current === undefined) throw new Error("Nobody leads");
  return found.current.process;
}

describe("Invariants", () => {
  test("Invariants has nothing to say of a world in which nothing goes wrong", async () => {
    const world = await start();
    world.leave();

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
    world.leave();

    expect(successor).not.toBe(leader.name);
    expect(world.invariants.violations).toEqual([]);
  });

  const write = { path: "/api/v1/nodes/n1", headers: {}, body: "{}" } as const;

  test("Invariants.checkSent() tells of a write by a process that does not hold the Lease", async () => {
    const world = await start();
    const other = world.incarnations.find(({ process }) => process !== findLeader(world));
    if (other) world.invariants.checkSent(other.process, { ...write, method: "PATCH" });
    world.leave();

    expect(world.invariants.violations.join()).toContain("holds the Lease");
  });

  test("Invariants.checkSent() tells of two writes at once, and not of two in a row", async () => {
    const world = await start();
    const leader = findLeader(world);
    world.invariants.checkSent(leader, { ...write, method: "PATCH" })();
    const afterTwo = [...world.invariants.violations];
    world.invariants.checkSent(leader, { ...write, method: "PATCH" });
    world.invariants.checkSent(leader, { ...write, method: "PATCH" });
    world.leave();

    expect(afterTwo).toEqual([]);
    expect(world.invariants.violations.join()).toContain("two writes at once");
  });

  test("Invariants.checkSent() tells of a deletion of a Node whose VM exists", async () => {
    const world = await start();
    world.invariants.checkSent(findLeader(world), { ...write, method: "DELETE" });
    world.leave();

    expect(world.invariants.violations.join()).toContain("whose VM exists");
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
    world.leave();

    const told = world.invariants.violations.join();
    for (const part of ["what is not ours", "provider ID", "was never true"]) {
      expect(told).toContain(part);
    }
  });
});
