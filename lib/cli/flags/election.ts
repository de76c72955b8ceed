/**
 * The flags of leader election, and the limits between their times.
 * @module
 */
import type { ElectionSettings } from "../../app/options.ts";
import { formatDuration, mustBe, mustBeText } from "../../core/text/values.ts";
import type { ConfigIssue } from "../../core/errors.ts";
import { isSubdomain } from "../../core/text/label.ts";
import type { LeaseName } from "../../kube/election/lease.ts";
import { RETRY_JITTER } from "../../kube/election/leader.ts";
import type { GivenFlags, Range } from "./given.ts";

const DURATION_MS: Range = [1_000, 3_600_000];
const PERIOD_MS: Range = [100, 600_000];

/**
 * Reads the flags `--leader-elect-…`. The limits between the times are those of the Go controllers
 * (k8s.io/client-go, `leaderelection`): a leader tries more than once, and gives up before others may take over.
 *
 * @param issues Takes what is wrong
 */
export function toElection(given: GivenFlags, issues: ConfigIssue[]): ElectionSettings {
  const leaseDurationMs = given.durationMs("leader-elect-lease-duration", DURATION_MS, issues);
  const renewDeadlineMs = given.durationMs("leader-elect-renew-deadline", PERIOD_MS, issues);
  const retryPeriodMs = given.durationMs("leader-elect-retry-period", PERIOD_MS, issues);
  if (renewDeadlineMs >= leaseDurationMs) {
    const what = `less than --leader-elect-lease-duration (${formatDuration(leaseDurationMs)})`;
    const message = mustBe(what, formatDuration(renewDeadlineMs));
    issues.push({ source: "--leader-elect-renew-deadline", message });
  }
  if (retryPeriodMs * RETRY_JITTER >= renewDeadlineMs) {
    const limit = `--leader-elect-renew-deadline (${formatDuration(renewDeadlineMs)})`;
    const what = `less than ${limit} divided by ${RETRY_JITTER}`;
    const message = mustBe(what, formatDuration(retryPeriodMs));
    issues.push({ source: "--leader-elect-retry-period", message });
  }
  const namespace = readName(given, "leader-elect-resource-namespace", issues);
  const name = readName(given, "leader-elect-resource-name", issues);
  return { namespace, name, leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}

/** The Lease of the flags, also with `--leader-elect=false`, which does not check the form of its name. */
export function toOwnLease(given: GivenFlags): LeaseName {
  return {
    namespace: given.text("leader-elect-resource-namespace"),
    name: given.text("leader-elect-resource-name"),
  };
}

const NAME = 'a Kubernetes name (lower-case letters, digits, "-" and ".")';

function readName(given: GivenFlags, flag: string, issues: ConfigIssue[]): string {
  const name = given.text(flag);
  if (!isSubdomain(name)) {
    issues.push({ source: `--${flag}`, message: mustBeText(NAME, name) });
  }
  return name;
}
