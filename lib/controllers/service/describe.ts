/**
 * Describes the load balancer of a Service for the debug pages. Pure.
 * @module
 */
import type {
  LoadBalancerPart,
  LoadBalancerPlan,
  LoadBalancerProblem,
} from "../../cloud/capabilities/load_balancers.ts";
import {
  type LastReconcile,
  type ReconcileOutcome,
  toLastReconcile,
} from "../../engine/workers.ts";
import type { Service } from "../../kube/kinds/service.ts";
import type { Managed, ServiceState } from "./managed.ts";
import type { NodeReading } from "./node_set.ts";
import { toClaim } from "./spec.ts";

/** What the debug pages show about a Service with a load balancer. Times are ISO 8601. */
export interface ServiceReport {
  readonly state: ServiceState;
  /** What the status shows: IPs and hostnames; after a hostname the IP that it must lead to. */
  readonly addresses: readonly string[];
  /** `tcp 80`, `udp 53`. */
  readonly ports: readonly string[];
  /** Names of the Nodes that can get traffic. Absent: it has no backends, because it sends no traffic itself. */
  readonly backends?: readonly string[];
  /** How many of them get traffic from each port; the fewest if they differ. Absent: not known. */
  readonly serving?: number;
  readonly parts: readonly LoadBalancerPart[];
  readonly problems: readonly LoadBalancerProblem[];
  /** What is left to do by the last look at the cloud. */
  readonly steps: readonly string[];
  /** What the work on it is doing, or waits for. */
  readonly waitsFor?: string;
  /** Why it is not ready. */
  readonly failure?: string;
  /** Since when it has not been ready. Absent if it is. */
  readonly notReadySince?: string;
  /** It is being removed. */
  readonly isLeaving?: true;
  readonly lastReconcile: LastReconcile | null;
}

/** What is known about a Service besides itself. */
export interface ServiceFacts {
  readonly managed: Managed;
  /** The last attempt, if it failed. */
  readonly failed: ReconcileOutcome | undefined;
  /** By the last look at the cloud. */
  readonly plan: LoadBalancerPlan | undefined;
  /** The Nodes that may get traffic from it. Absent: load balancers have no backends. */
  readonly nodes: NodeReading | undefined;
  readonly isLeaving: boolean;
  /** Now, in monotonic milliseconds, and in milliseconds since the epoch. */
  readonly now: { readonly monotonicMs: number; readonly ms: number };
}

/** Describes a Service. */
export function describeService(service: Service, facts: ServiceFacts): ServiceReport {
  const { managed, plan, nodes, isLeaving, now } = facts;
  const { ports = [] } = toClaim(service);
  const overview = plan?.overview?.();
  const { state, waitsFor, failure } = managed;
  const readyAt = now.ms - (now.monotonicMs - managed.readyAtMs);
  return {
    state,
    addresses: listAddresses(service, overview?.address),
    ports: ports.map(({ protocol, port }) => `${protocol.toLowerCase()} ${port}`),
    ...(nodes !== undefined && {
      backends: isLeaving ? [] : (overview?.backends ?? listNames(nodes)),
    }),
    ...(overview?.serving !== undefined && { serving: overview.serving }),
    parts: plan?.parts ?? [],
    problems: plan?.problems ?? [],
    steps: plan?.steps.map(({ summary }) => summary) ?? [],
    ...(waitsFor !== undefined && { waitsFor: waitsFor() }),
    ...(failure !== undefined && { failure }),
    ...(state !== "ready" && { notReadySince: toTime(readyAt) }),
    ...(isLeaving && { isLeaving }),
    lastReconcile: findLast(facts),
  };
}

function listNames(nodes: NodeReading): readonly string[] {
  return "problem" in nodes ? [] : nodes.backends.map(({ nodeName }) => nodeName);
}

function listAddresses(service: Service, address: string | undefined): readonly string[] {
  const { ingress } = toClaim(service);
  const shown = ingress.map((one) => ("ip" in one ? one.ip : one.hostname));
  const hidesAddress = ingress.some((one) => "hostname" in one) && address !== undefined;
  return hidesAddress && !shown.includes(address) ? [...shown, address] : shown;
}

function findLast({ managed, failed }: ServiceFacts): LastReconcile | null {
  const { succeededAt, state } = managed;
  if (failed !== undefined && failed.at >= (succeededAt ?? 0)) return toLastReconcile(failed);
  if (succeededAt === undefined) return null;
  return { at: toTime(succeededAt), outcome: state === "waiting" ? "waiting" : "ok" };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
