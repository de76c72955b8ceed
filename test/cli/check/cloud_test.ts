import { describe, expect, test } from "bun:test";
import { checkCloud, countNodes } from "../../../lib/cli/check/cloud.ts";
import type { NodesStep } from "../../../lib/cli/check/report.ts";
import { FakeProvider, toInstance } from "../../support/cloud/instances.ts";

const signal = new AbortController().signal;

describe("checkCloud()", () => {
  test("shows what a cloud without an inspection of its own lists", async () => {
    const provider = new FakeProvider();
    provider.instances.set("a", toInstance("a"));
    const { step, inventory } = await checkCloud(provider, {}, signal);
    expect(step).toMatchObject({ status: "ok", endpoint: provider.name, counts: { instances: 1 } });
    expect(inventory?.instances.size).toBe(1);
  });
});

describe("countNodes()", () => {
  const finding = { level: "ok", code: "instances", message: "3 VMs are visible" } as const;
  const step = { status: "ok", findings: [finding] } as const;
  const toPlan = (name: string, id: string): NodesStep["nodes"][number] => ({
    name,
    level: "ok",
    ready: true,
    uninitialized: false,
    presence: "present",
    instance: { id, name: id, state: "running", providerId: `x://${id}` },
    changes: [],
    problems: [],
  });

  test("says how many of the machines are Nodes, each machine once", () => {
    const nodes = [toPlan("a", "1"), toPlan("b", "2"), toPlan("c", "2")];
    expect(countNodes(step, { status: "ok", findings: [], nodes }).findings).toEqual([
      { ...finding, message: "3 VMs are visible, 2 of them match a Node" },
    ]);
  });

  test("leaves the step alone when the Nodes were not read", () => {
    expect(countNodes(step, { status: "skipped", findings: [], nodes: [] })).toBe(step);
  });
});
