import { expect, test } from "bun:test";
import { describeOtherPool } from "../../../../lib/controllers/vino/placement/other_pool.ts";
import { toKnown, toView } from "../../../support/vino/known.ts";
import { POOL } from "../../../support/vino/machines_double.ts";

const KNOWN = toKnown("worker", 0);
const NICE = { id: "pool-nice", name: "nice", isComplete: true };
const view = { ...toView([]), pools: [POOL, NICE] };

test("describeOtherPool() names the machine, both pools, and what to do", () => {
  expect(describeOtherPool(KNOWN, { view, poolId: NICE.id })).toEqual({
    reason: "MachineDiffers",
    kind: "notice",
    message:
      `${KNOWN.name} is in pool ${POOL.name}, but xenOrchestra.pool wants nice. Landfall moves no machine to another ` +
      `pool. Set xenOrchestra.pool back to ${POOL.name}, or remove the machine: lower count, and raise it again when ` +
      "it is gone",
  });
});

test("describeOtherPool() says nothing of a machine in its pool, or of one that is not shown", () => {
  const { machine: _none, ...hidden } = KNOWN;
  expect(describeOtherPool(KNOWN, { view, poolId: POOL.id })).toBeUndefined();
  expect(describeOtherPool(KNOWN, { view })).toBeUndefined();
  expect(describeOtherPool(hidden, { view, poolId: NICE.id })).toBeUndefined();
});
