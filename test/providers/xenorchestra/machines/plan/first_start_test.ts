import { describe, expect, test } from "bun:test";
import {
  planFirstStart,
  toStartedNote,
} from "../../../../../lib/providers/xenorchestra/machines/plan/first_start.ts";
import { HOST, NAME, POOL, toCompleteVm, toSpec, toView } from "../scene.ts";

const vm = toCompleteVm();

describe("planFirstStart()", () => {
  test("starts it on its host, and notes that directly after", () => {
    const { steps, problems } = planFirstStart(toView({ vms: [vm] }), toSpec(), vm);
    expect(problems).toEqual([]);
    expect(steps).toMatchObject([
      { change: { kind: "start", vmId: "vm-1", hostId: HOST } },
      { change: { kind: "removeTag", vmId: "vm-1", tag: "vino:start" }, isDirect: true },
    ]);
    expect(steps[1]).toEqual({ ...toStartedNote(toSpec(), vm), isDirect: true });
  });

  test.each([
    ["is disabled", { poolId: POOL, isEnabled: false }],
    ["is in another pool", { poolId: "pool-2", isEnabled: true }],
  ])("waits for a host that %s", (_what, over) => {
    const host = { id: HOST, name: "xcp-1", tags: [], ...over };
    const view = { hostsById: new Map([[HOST, host]]) };
    const { steps, problems } = planFirstStart(toView({ vms: [vm], view }), toSpec(), vm);
    expect(steps).toEqual([]);
    expect(problems).toMatchObject([{ kind: "retry", reason: "HostNotUsable" }]);
    expect(problems[0]?.message).toContain(`host xcp-1 cannot start ${NAME} now`);
  });
});
