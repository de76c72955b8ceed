/**
 * The capability of a cloud to make load balancers for Services.
 *
 * The caller works in one loop for each Service: observe, plan, apply the first step, and again from the start, until a
 * plan has no steps. A plan always starts from what the cloud shows, also after a crash between two steps or a
 * change by hand.
 * @module
 */
import type { Cidr } from "../../core/net/ip.ts";
import type { Finding } from "../inspection.ts";

/** The Service that a load balancer is for. */
export interface LoadBalancerOwner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * A Service with everything that may say which load balancer it has, also when what it asks for cannot be read any
 * more.
 */
export interface LoadBalancerClaim {
  readonly owner: LoadBalancerOwner;
  /** All annotations of the Service: each cloud reads its own, except {@linkcode LoadBalancerClaim.record}. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** `spec.loadBalancerIP`, not checked. */
  readonly address?: string;
  /** Its ports, not checked. Absent if they cannot be read. */
  readonly ports?: readonly Pick<LoadBalancerPort, "port" | "protocol">[];
  /** With traffic policy `Local`: the selector of its Pods, equal selectors in one form; empty if it has none. */
  readonly localPods?: string;
  /** What the status of the Service shows now. */
  readonly ingress: readonly LoadBalancerIngress[];
  /**
   * The text that this cloud kept on the Service, see {@linkcode LoadBalancerRecord}. A hint, never a proof: people who
   * may edit the Service may change it, and a backup copies it.
   */
  readonly record?: string;
}

/** A port of a Service. */
export interface LoadBalancerPort {
  readonly name?: string;
  readonly protocol: "TCP" | "UDP" | "SCTP";
  readonly port: number;
  /** Absent if the Service has none (`allocateLoadBalancerNodePorts: false`). */
  readonly nodePort?: number;
  readonly appProtocol?: string;
}

/** A Node that traffic may go to. */
export interface LoadBalancerBackend {
  readonly nodeName: string;
  /**
   * The cloud's ID of its instance. Absent: not known now. It may then be behind any backend that the cloud shows, so
   * none may be removed.
   */
  readonly instanceId?: string;
  /** Its InternalIPs: they choose the network interface. */
  readonly internalIps: readonly string[];
}

/** What a Service asks for. Checked: every value has the form that it should have. */
export interface LoadBalancerSpec extends LoadBalancerClaim {
  /** At least one; no two with the same protocol and port. */
  readonly ports: readonly LoadBalancerPort[];
  /** CIDRs in canonical form, sorted, at least one. Absent: the Service does not restrict its clients. */
  readonly sourceRanges?: readonly string[];
  /** Whether a client stays with one backend: `spec.sessionAffinity: ClientIP`. @default {false} */
  readonly hasClientIpAffinity?: true;
  readonly trafficPolicy: "Cluster" | "Local";
  /** In the order of the Service: the first is the main one. */
  readonly ipFamilies: readonly ("IPv4" | "IPv6")[];
  readonly ipFamilyPolicy: "SingleStack" | "PreferDualStack" | "RequireDualStack";
  /** Empty: no Node may get traffic. */
  readonly backends: readonly LoadBalancerBackend[];
  /**
   * The cloud's IDs of the instances of Nodes that must get no traffic: they go also while the instance of another Node
   * is not known. @default {none}
   */
  readonly excludedInstanceIds?: ReadonlySet<string>;
}

/** One entry of `status.loadBalancer.ingress`: an IP with its mode, or a hostname. */
export type LoadBalancerIngress =
  { readonly ip: string; readonly ipMode?: "VIP" | "Proxy" } | { readonly hostname: string };

/** Why a load balancer is not as the Service asks, for an Event. */
export interface LoadBalancerProblem {
  /** Reason of the Event, in CamelCase: `AddressNotOurs`. */
  readonly reason: string;
  /** What is wrong, where, and what to do; no full stop, no secret. */
  readonly message: string;
  /**
   * Whether the Service must wait: it keeps its status and its finalizer, and is planned again after a while. If not,
   * this is only worth knowing. @default {true}
   */
  readonly isWaiting?: boolean;
  /** Whether its Event is written once, until it changes or ends. @default {it is repeated from time to time} */
  readonly isOnce?: boolean;
  /** Other Services that have the same problem with this one: they are planned again, too. @default {none} */
  readonly others?: readonly LoadBalancerOwner[];
  /** What to say on other Services, which may be of any type and class, with the same reason. @default {nothing} */
  readonly elsewhere?: readonly { readonly owner: LoadBalancerOwner; readonly message: string }[];
}

/** A part of a load balancer, for the debug pages. */
export interface LoadBalancerPart {
  /** What it is, in words of the cloud: `rule`, `firewall rule`, `address`. */
  readonly kind: string;
  /** Which one: `tcp 443`, `192.0.2.10`. */
  readonly name: string;
  /** Absent if it should not exist. */
  readonly wanted?: string;
  /** Absent if it does not exist. */
  readonly actual?: string;
  /** Whether it is not known yet what should exist; then {@linkcode wanted} is absent. @default {false} */
  readonly isUndecided?: boolean;
}

/** A load balancer in short, for the debug pages. */
export interface LoadBalancerOverview {
  /** Where clients reach it, also while the status shows a hostname. Absent: it has no address. */
  readonly address?: string;
  /** Names of the Nodes that can get traffic from it. */
  readonly backends: readonly string[];
  /** How many of them get traffic from each of its ports; the fewest if they differ. Absent: not known. */
  readonly serving?: number;
}

/** One change of the cloud. Plain data that only the cloud itself understands. */
export interface LoadBalancerStep {
  /** What it does, for logs and the debug page: `create rule tcp 443 on 192.0.2.10`. */
  readonly summary: string;
  /** Steps with the same lock run one at a time, because the cloud does no two of them at once. @default {any time} */
  readonly lock?: string;
  /** What the lock is for, for people: `network web`. */
  readonly lockName?: string;
  /**
   * Which part of the load balancer it is for: `port 443`. If the cloud refuses it, the steps of other parts go on; see
   * {@linkcode LoadBalancers.mayGoOn}. @default {all steps after it need it}
   */
  readonly part?: string;
}

/** What is to do for one Service. */
export interface LoadBalancerPlan<S extends LoadBalancerStep = LoadBalancerStep> {
  /** In this order. The caller applies the first and plans again. Empty: there is nothing to do now. */
  readonly steps: readonly S[];
  readonly problems: readonly LoadBalancerProblem[];
  /** What the status must show now. Absent: it keeps what it shows. Empty for a release that is done. */
  readonly ingress?: readonly LoadBalancerIngress[];
  /**
   * Annotations that the Service must have now, for programs that work on the load balancer, too; `undefined` removes
   * one. Written together with the status, and alone while the Service waits. @default {nothing changes}
   */
  readonly annotations?: Readonly<Record<string, string | undefined>>;
  /**
   * The record that the Service must have now, in place of the one it has; see {@linkcode LoadBalancerRecord}. Written
   * together with the annotations, for a cloud that needs no record before that. @default {nothing changes}
   */
  readonly record?: string;
  readonly parts: readonly LoadBalancerPart[];
  /** Counts only when it is called. Absent: the cloud sends no traffic itself, or what it would do is not known. */
  readonly overview?: () => LoadBalancerOverview;
}

/** Which namespaces may use some addresses, as the operator says. */
export interface SharingRule {
  readonly addresses: readonly Cidr[];
  /** Names, or `*` for all. */
  readonly namespaces: readonly string[];
}

/** What the cloud shows. */
export interface LoadBalancerObservation {
  /** When the cloud was asked, in monotonic milliseconds. What this process changed since is in it, too. */
  readonly takenAtMs: number;
}

/** What the caller asks to look at. */
export interface LoadBalancerQuestion {
  /**
   * Every Service that this process manages, each with its newest state. Only an answer in memory; call it again. For a
   * Service that did not change it gives the same object.
   */
  readonly claims: () => Iterable<LoadBalancerClaim>;
  /**
   * The cloud's IDs of the instances of Nodes, as far as they are known. They say where load balancers may be, and by
   * them a cloud is recognized. Only an answer in memory; the same object while nothing changes. @default {none}
   */
  readonly instanceIds?: () => ReadonlySet<string>;
  /** The same function in every question. @default {not known: every Service may have a load balancer} */
  readonly findHolder?: FindHolder;
  /** Which namespaces may use which addresses, as the operator says now. @default {the operator says nothing} */
  readonly listSharingRules?: () => readonly SharingRule[];
  /**
   * How old a look may be, in milliseconds. What this process changed itself is in every look. 0: look now; callers
   * that ask at the same time share one look.
   */
  readonly maxAgeMs: number;
}

/** Where a cloud keeps what it must know after a restart: one annotation of the Service. */
export interface LoadBalancerRecord {
  /**
   * Keeps a text, at most 1 KiB; `undefined` removes it. Resolves when Kubernetes has it: a process that starts after a
   * crash then finds it.
   *
   * @throws {KubeError} if Kubernetes refuses; then the step must not go on
   */
  save(text: string | undefined, signal: AbortSignal): Promise<void>;
}

/** A public address that was taken for a Service of this cluster which does not exist any more. */
export interface LoadBalancerLeftover {
  readonly ip: string;
  /** The cloud's ID of the address. */
  readonly id: string;
  /** `namespace/name` of the Service, as the address says. Not checked: only for people. */
  readonly service?: string;
  /** UID of the Service, as the address says. */
  readonly serviceUid: string;
  /** How many rules of load balancers are on it. */
  readonly rules: number;
}

/** A public address that stays when its Service goes, for the next one of the namespace that names it. */
export interface KeptAddress {
  readonly ip: string;
  /** The cloud's ID of the address. */
  readonly id: string;
  readonly namespace: string;
  /** `namespace/name` of the Service that it was taken for, as the address says. Not checked: only for people. */
  readonly service?: string;
  /** How many rules of load balancers are on it. */
  readonly rules: number;
}

/** The Services that exist, of every type and class. */
export interface LiveServices {
  readonly uids: ReadonlySet<string>;
  /** IPs in canonical form that those of type LoadBalancer ask for, or show in their status. */
  readonly addresses: ReadonlySet<string>;
}

/** What Kubernetes shows about this cluster at one time. */
export interface ClusterFacts {
  /** See {@linkcode LoadBalancers.setClusterIds}. */
  readonly ids: readonly [string, ...string[]];
  readonly services: LiveServices;
}

/** What `landfall check` knows about Nodes and Services. */
export interface LoadBalancerInspection {
  /** Every Service that Landfall serves. */
  readonly claims: readonly LoadBalancerClaim[];
  /** The Nodes that may get traffic. */
  readonly backends: readonly LoadBalancerBackend[];
  /** Asks Kubernetes now; `undefined` if it does not answer. @default {it is not known} */
  readonly readCluster?: (signal: AbortSignal) => Promise<ClusterFacts | undefined>;
  /** See {@linkcode LoadBalancerQuestion}. */
  readonly listSharingRules?: LoadBalancerQuestion["listSharingRules"];
}

/**
 * Makes load balancers.
 *
 * @typeParam V One look at the cloud. Immutable
 * @typeParam S One change
 */
export interface LoadBalancers<
  V extends LoadBalancerObservation = LoadBalancerObservation,
  S extends LoadBalancerStep = LoadBalancerStep,
> {
  /** Whether nothing outside of Kubernetes goes with a Service, so that it needs no finalizer. @default {false} */
  readonly leavesNothingBehind?: boolean;
  /**
   * The IDs that this cluster has, for tags. The first is for new tags; what has any of them belongs to this cluster.
   * Set before anything else is called.
   */
  setClusterIds(ids: readonly [string, ...string[]]): void;
  /**
   * Says what the cloud offers for load balancers. Changes nothing, and needs no {@linkcode setClusterIds}. Absent:
   * there is nothing to say.
   *
   * @throws {CloudError} when the cloud cannot answer
   */
  inspect?(known: LoadBalancerInspection, signal: AbortSignal): Promise<readonly Finding[]>;
  /**
   * Looks at the cloud. One look serves all Services; its cost does not depend on how many of them ask.
   *
   * @throws {CloudError} when the cloud cannot answer
   */
  observe(question: LoadBalancerQuestion, signal: AbortSignal): Promise<V>;
  /**
   * Lists the addresses in a look that belong to Services of this cluster which do not exist, and that no other Service
   * uses. Pure. Only for people: a restored or copied cluster lacks Services, too, so nothing may be released because
   * of it. Absent: there are none.
   *
   * @param services Besides those that exist, with the UIDs of those that are being released
   */
  listLeftovers?(view: V, services: LiveServices): readonly LoadBalancerLeftover[];
  /**
   * Lists the addresses of this cluster that are kept, by namespace and IP. Absent: none ever is.
   *
   * @throws {CloudError} when the cloud cannot answer
   */
  listKept?(signal: AbortSignal): Promise<readonly KeptAddress[]>;
  /** Plans what to do for a Service. Pure. */
  plan(view: V, spec: LoadBalancerSpec): LoadBalancerPlan<S>;
  /** Plans what a Service must have while its fields cannot be read. Pure. Absent: it keeps what it has. */
  planHeld?(view: V, claim: LoadBalancerClaim): Pick<LoadBalancerPlan, "annotations" | "record">;
  /**
   * Plans how to remove everything that Landfall made for a Service. Pure. Without steps and waiting problems, nothing
   * of it is left.
   */
  planRelease(view: V, claim: LoadBalancerClaim): LoadBalancerPlan<S>;
  /**
   * Carries out one step. Safe to repeat. The next look shows what it did. If the cloud refuses because it differs from
   * the look, the next look is a new one.
   *
   * @throws {RefusedStepError} when the cloud refuses it for a reason that a user can end
   * @throws {CloudError} when it failed, or is not over in time
   * @throws {LeadershipLostError} when this process does not lead
   */
  apply(step: S, record: LoadBalancerRecord, signal: AbortSignal): Promise<void>;
  /**
   * Whether steps of other parts may succeed after a step failed with this error: the cloud answers, and refuses only
   * this one. Absent: none may.
   */
  mayGoOn?(error: unknown): boolean;
  /**
   * Nothing is left of a Service's load balancer: its status is empty, or Kubernetes does not have it any more. Absent:
   * the next look is soon enough.
   *
   * @param uid Its UID
   */
  forget?(uid: string): void;
}

/** A Service that may have a load balancer, made by this or another controller. */
export interface LoadBalancerHolder {
  readonly claim: LoadBalancerClaim;
  /** Whether it is losing its load balancer: it is being deleted, or its type has changed. */
  readonly isLeaving: boolean;
}

/**
 * Finds the Service with a UID that a test accepts, if it may have a load balancer. Only an answer in memory, about
 * now: call it again.
 */
export type FindHolder = (isIt: (uid: string) => boolean) => LoadBalancerHolder | undefined;
