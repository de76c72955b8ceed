import { expect, test } from "bun:test";
import { PROCESS_EVENTS } from "../../lib/app/words.ts";

test("PROCESS_EVENTS are frozen", () => {
  const words = Object.values(PROCESS_EVENTS).map(({ reason, type }) => `${type} ${reason}`);
  expect(words).toEqual([
    "Warning FailedToCheckClient",
    "Normal ConfigApplied",
    "Warning ConfigRefused",
    "Warning CloudCredentialExpires",
  ]);
});
