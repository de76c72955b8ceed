import { expect, test } from "bun:test";
import {
  type PowerRefusal,
  RefusedPowerError,
} from "../../../../../lib/cloud/capabilities/machine_power.ts";
import { toPowerRefusal } from "../../../../../lib/providers/xenorchestra/machines/power/refusals.ts";
import { ChangeRefusal } from "../../../../../lib/providers/xenorchestra/machines/wire/refusal.ts";

test.each<[PowerRefusal, ConstructorParameters<typeof ChangeRefusal>[2]]>([
  ["state", { code: "VM_BAD_POWER_STATE" }],
  ["notGraceful", { code: "VM_LACKS_FEATURE" }],
  ["busy", { code: "OTHER_OPERATION_IN_PROGRESS" }],
  ["noRoom", { code: "HOST_NOT_ENOUGH_FREE_MEMORY" }],
  ["blocked", { isBlocked: true }],
  ["denied", { missing: ["vm start"] }],
  ["notOurs", { isMissing: true }],
])("toPowerRefusal() says %s of %o", (refusal, why) => {
  const error = toPowerRefusal(new ChangeRefusal("protocol", "no", why), "on");
  expect(error).toBeInstanceOf(RefusedPowerError);
  expect(error).toMatchObject({ refusal });
});

test("toPowerRefusal() leaves other errors as they are", () => {
  const unknown = new ChangeRefusal("protocol", "no", { code: "ODD" });
  const other = new Error("x");
  expect(toPowerRefusal(unknown, "on")).toBe(unknown);
  expect(toPowerRefusal(other, "on")).toBe(other);
});
