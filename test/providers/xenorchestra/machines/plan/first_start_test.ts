import { describe, expect, test } from "bun:test";
import { planFirstStart } from "../../../../../lib/providers/xenorchestra/machines/plan/first_start.ts";
import { HOST, NAME, POOL, toCompleteVm, toSpec, toView } from "../scene.ts";

const vm = toCompleteVm();

describe("planFirstStart()", () => {
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
