/**
 * Warns after a start if the cluster needs load balancers that Landfall does not manage.
 * @module
 */
import type { MissingLoadBalancers } from "../cloud/provider_definition.ts";
import { type BackoffOptions, toBackoffMs } from "../core/backoff.ts";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/log.ts";
import type { KubeClient } from "../kube/api/client.ts";
import { KubeError, type KubeErrorKind } from "../kube/api/errors.ts";
import { hasCloudLoadBalancer, SERVICES } from "../kube/kinds/service.ts";
import type { Announcer } from "./announcer.ts";
import { PROCESS_EVENTS } from "./words.ts";

/** Why a cluster may need load balancers, and what to say about it. */
export interface LoadBalancerNeeds extends MissingLoadBalancers {
  /** Whether `--controllers` chooses the controller `service`. */
  readonly isServiceChosen: boolean;
}

/** The Services with a load balancer of a cloud. */
export interface LoadBalancerUse {
  readonly count: number;
  /** `namespace/name` of the first ones. */
  readonly first: readonly string[];
}

/** What a process has for {@linkcode warnOfLoadBalancers}. */
export interface LoadBalancerOptions {
  /** Absent: there is nothing to say. */
  readonly loadBalancers?: LoadBalancerNeeds;
  readonly client: Pick<KubeClient, "list">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Absent: only the log says it. */
  readonly announcer?: Pick<Announcer, "announce">;
}

const SERVICES_PER_PAGE = 250;
/** More than any cluster has: a server that never ends must not keep the loop going. */
const PAGES_MAX = 2_000;
const FIRST_MAX = 5;
const RETRY: BackoffOptions = { baseMs: 1_000, capMs: 60_000 };
/** A later try can help. */
const PASSING: ReadonlySet<KubeErrorKind> = new Set(["gone", "throttled", "unavailable"]);

/**
 * Says it in the log, and in an Event if it is certain. If the rights do not allow a list of Services, says only in the
 * log that they may need load balancers. Repeats the list until the API server answers. Ends after one answer, or at
 * once if there is nothing to say. Never rejects for what the API server answers.
 */
export async function warnOfLoadBalancers(
  { loadBalancers, client, clock, log, announcer }: LoadBalancerOptions,
  signal: AbortSignal,
): Promise<void> {
  if (loadBalancers === undefined) return;
  const { message, advice, isServiceChosen } = loadBalancers;
  const warn = (why: string): void => {
    log.warn(message, { why, advice });
    announcer?.announce(PROCESS_EVENTS.noLoadBalancers, `${message}: ${why}; ${advice}`);
  };
  if (isServiceChosen) warn(SERVICE_CHOSEN);
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      const use = await findLoadBalancers(client, signal);
      if (use.count > 0) warn(describeUse(use));
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof KubeError)) throw error;
      if (!PASSING.has(error.kind)) {
        log.warn(message, { why: `${CANNOT_LIST}: ${error.message}`, advice });
        return;
      }
      await clock.sleep(toBackoffMs(failures, RETRY), signal).catch(() => undefined);
    }
  }
}

/** Why the controller `service` matters. */
export const SERVICE_CHOSEN =
  "the controller service is chosen (by * too), and Landfall does not have it";
/** Why it is not known whether Services need load balancers. */
export const CANNOT_LIST =
  "Landfall cannot list Services, so it does not know whether some need a load balancer";

/** Names the Services with a load balancer. */
export function describeUse({ count, first }: LoadBalancerUse): string {
  const more = count > first.length ? ", …" : "";
  const verb = count === 1 ? "Service has" : "Services have";
  return `${count} ${verb} a load balancer of the cloud (${first.join(", ")}${more})`;
}

/**
 * Looks for Services with a load balancer of a cloud, page by page: keeps none of them.
 *
 * @throws {KubeError} of the API server
 */
export async function findLoadBalancers(
  client: Pick<KubeClient, "list">,
  signal: AbortSignal,
): Promise<LoadBalancerUse> {
  const first: string[] = [];
  let count = 0;
  let next: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const query = { limit: SERVICES_PER_PAGE, ...(next !== undefined && { continue: next }) };
    const page = await client.list(SERVICES, query, signal);
    for (const { metadata } of page.items.filter(hasCloudLoadBalancer)) {
      count += 1;
      if (first.length < FIRST_MAX) first.push(`${metadata.namespace ?? ""}/${metadata.name}`);
    }
    next = page.continue;
    if (next === undefined) break;
  }
  return { count, first };
}
