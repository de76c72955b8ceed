import { expect, test } from "bun:test";
import { RefusedMachineError } from "../../../lib/cloud/capabilities/refused_machine_error.ts";
import { CloudError } from "../../../lib/cloud/errors.ts";

test("RefusedMachineError keeps what the cloud said, and has the message of the problem", () => {
  const cause = new CloudError("denied", "Xen Orchestra answered 403", { status: 403 });
  const problem = {
    reason: "NoRight",
    message: "the user has no right",
    kind: "decision",
  } as const;
  const error = new RefusedMachineError(problem, cause);
  expect(error).toMatchObject({
    name: "CloudError",
    kind: "denied",
    status: 403,
    message: "the user has no right",
    problem,
    cause,
  });
  expect(error.retryAfterMs).toBeUndefined();
});
