import { describe, expect, test } from "bun:test";
import {
  RefusedMachineError,
  RefusedStepError,
} from "../../../lib/cloud/capabilities/refused_errors.ts";
import { CloudError } from "../../../lib/cloud/errors.ts";

const problem = {
  reason: "NoRight",
  message: "give the user the right",
  kind: "decision",
} as const;

describe.each([
  ["RefusedStepError", RefusedStepError],
  ["RefusedMachineError", RefusedMachineError],
])("%s", (_name, Refused) => {
  test("says the problem, and is tried again as what the cloud said", () => {
    const cause = new CloudError("throttled", "no", { status: 429, retryAfterMs: 5 });
    const error = new Refused(problem, cause);
    expect(error).toMatchObject({
      name: "CloudError",
      kind: "throttled",
      status: 429,
      retryAfterMs: 5,
      message: "give the user the right",
      problem,
      cause,
    });
  });

  test("has no status and no time if the cloud gave none", () => {
    const error = new Refused(problem, new CloudError("protocol", "no"));
    expect([error.status, error.retryAfterMs]).toEqual([undefined, undefined]);
  });
});
