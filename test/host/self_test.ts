import { expect, test } from "bun:test";
import { CERTIFICATE_COMMAND, runSelf } from "../../lib/host/self.ts";

test("runSelf() leaves a program that runs from source alone", () => {
  expect(runSelf([CERTIFICATE_COMMAND, "localhost"])).toBeUndefined();
});
