import { expect, test } from "bun:test";
import { toElection } from "../../../lib/cli/flags/election.ts";
import { FLAGS } from "../../../lib/cli/flags/table.ts";
import { GivenFlags } from "../../../lib/cli/flags/given.ts";
import type { ConfigIssue } from "../../../lib/core/errors.ts";

test("toElection() reads the Lease and its times as the Go controllers have them", () => {
  const issues: ConfigIssue[] = [];
  expect(toElection(new GivenFlags([], FLAGS), issues)).toEqual({
    namespace: "kube-system",
    name: "cloud-controller-manager",
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2_000,
  });
  expect(issues).toEqual([]);
});
