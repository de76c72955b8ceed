/**
 * Metrics of the Redfish service.
 * @module
 */
import type { ManagementAnswer } from "../../cloud/capabilities/machine_management.ts";
import type { MetricsRegistry } from "../../core/metrics.ts";

/** Why a user and a password, or a session, were not accepted. `throttled`: they were not even looked at. */
type LoginFailure = "wrong" | "throttled";

/** What the service counts. */
export interface RedfishMetrics {
  /** Counts a request that was answered, except those of probes. */
  countRequest(method: string, status: number): void;
  /** Counts a request that was not let in. One without any user is not counted: clients begin so. */
  countLoginFailure(reason: LoginFailure): void;
  /** Counts a change of power. @param type A word of Redfish: `ForceOff` */
  countReset(type: string, result: ManagementAnswer<void>["kind"]): void;
}

const REASONS: readonly LoginFailure[] = ["wrong", "throttled"];

/** Registers the metrics. */
export function createRedfishMetrics(registry: MetricsRegistry): RedfishMetrics {
  const requests = registry.counter({
    name: "landfall_redfish_requests_total",
    help: "Requests to the Redfish service by method and code of the reply, without those of probes.",
  });
  const logins = registry.counter({
    name: "landfall_redfish_login_failures_total",
    help:
      "Requests to the Redfish service that were not let in, by reason: wrong (user or password) or throttled (after " +
      "too many of those).",
  });
  const resets = registry.counter({
    name: "landfall_redfish_resets_total",
    help:
      "Changes of power that clients of the Redfish service asked for, by type and result: done, refused, or silent " +
      "(the cloud did not answer; it may have done it).",
  });
  // The first failure must be a rise.
  for (const reason of REASONS) logins.inc({ reason }, 0);
  return {
    countRequest: (method, status) => requests.inc({ method, code: String(status) }),
    countLoginFailure: (reason) => logins.inc({ reason }),
    countReset: (type, result) => resets.inc({ type, result }),
  };
}
