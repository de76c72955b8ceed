import { expect, test } from "bun:test";
import { RefusedMachineError } from "../../../../../lib/cloud/capabilities/refused_errors.ts";
import { explainRefusal } from "../../../../../lib/providers/xenorchestra/machines/apply/explain.ts";
import { ChangeRefusal } from "../../../../../lib/providers/xenorchestra/machines/wire/refusal.ts";
import { IDENTITY } from "../scene.ts";

const start = { kind: "start", vmId: "v", hostId: "h" } as const;
const seed = { label: "cidata", files: { "user-data": "s3cret" } };
const attach = {
  kind: "attachSeed",
  vmId: "v",
  poolId: "p",
  storageId: "s",
  position: "2",
  seed,
  record: {},
} as const;
const toStep = (change: typeof start | typeof attach) => ({
  summary: "do it",
  identity: IDENTITY,
  change,
});

test.each<[string, string, ConstructorParameters<typeof ChangeRefusal>[2]]>([
  ["NoRoom", "retry", { code: "HOST_NOT_ENOUGH_FREE_MEMORY" }],
  ["HostNotUsable", "retry", { code: "HOST_DISABLED" }],
  ["StorageFull", "retry", { code: "SR_BACKEND_FAILURE_44" }],
  ["NoRight", "decision", { missing: ["vm start"] }],
  ["OperationBlocked", "decision", { isBlocked: true }],
])("explainRefusal() says %s", (reason, kind, why) => {
  const error = explainRefusal(new ChangeRefusal("protocol", "no", why), toStep(start));
  expect(error).toBeInstanceOf(RefusedMachineError);
  expect(error).toMatchObject({ problem: { reason, kind } });
});

test("explainRefusal() leaves other errors as they are", () => {
  const other = new ChangeRefusal("protocol", "no", { code: "ODD" });
  expect(explainRefusal(other, toStep(start))).toBe(other);
  const bug = new RangeError("x");
  expect(explainRefusal(bug, toStep(start))).toBe(bug);
});

test("explainRefusal() says that a seed does not fit, and shows nothing of it", () => {
  const error = explainRefusal(new RangeError("the files do not fit"), toStep(attach));
  expect(error).toMatchObject({ problem: { reason: "SeedNotUsable", kind: "decision" } });
  expect(String(error)).not.toContain("s3cret");
});
