import { expect, test } from "bun:test";
import { RefusedPowerError } from "../../../lib/cloud/capabilities/machine_power.ts";
import { CloudError } from "../../../lib/cloud/errors.ts";

test("RefusedPowerError says why, and that the cloud answered", () => {
  const error = new RefusedPowerError("notGraceful", "VM a has no tools");
  expect(error).toBeInstanceOf(CloudError);
  expect(error).toMatchObject({ refusal: "notGraceful", message: "VM a has no tools" });
  expect(error.status).toBeUndefined();
});
