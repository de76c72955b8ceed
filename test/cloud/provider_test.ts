import { describe, expect, test } from "bun:test";
import { CloudError } from "../../lib/cloud/errors.ts";
import { toUnanswered } from "../../lib/cloud/provider.ts";

describe("toUnanswered()", () => {
  test.each([
    ["the kind of a cloud that does not answer", new CloudError("denied", "no"), "denied", "no"],
    ["unreachable for any other error", new Error("what?"), "unreachable", "what?"],
    [
      "the causes, too",
      new CloudError("protocol", "bad", { cause: new Error("why") }),
      "protocol",
      "bad: why",
    ],
  ] as const)("says %s", (_what, error, reason, message) => {
    expect(toUnanswered(error)).toEqual({ kind: "unknown", reason, message });
  });
});
