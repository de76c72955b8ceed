import { expect, test } from "bun:test";
import { RefusedStepError } from "../../../lib/cloud/capabilities/refused_step_error.ts";
import { CloudError } from "../../../lib/cloud/errors.ts";

test("RefusedStepError says the problem, and is tried again as what the cloud said", () => {
  const cause = new CloudError("throttled", "no", { status: 429, retryAfterMs: 5 });
  const problem = { reason: "AddressNotUsable", message: "name another address" };
  const error = new RefusedStepError(problem, cause);
  expect(error).toMatchObject({ kind: "throttled", status: 429, retryAfterMs: 5, problem, cause });
  expect(error.message).toBe("name another address");
  expect(new RefusedStepError(problem, new CloudError("protocol", "no"))).not.toHaveProperty(
    "status",
    429,
  );
});
