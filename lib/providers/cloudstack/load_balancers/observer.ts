/**
 * Observes CloudStack for all who ask, as rarely as they allow.
 * @module
 */
import type {
  LoadBalancerClaim,
  LoadBalancerProblem,
  LoadBalancerQuestion,
} from "../../../cloud/capabilities/load_balancers.ts";
import { CloudError } from "../../../cloud/errors.ts";
import { abortable, type Clock } from "../../../core/clock.ts";
import { Limiter } from "../../../core/concurrency.ts";
import type { Backends } from "../model/matching.ts";
import type { Facts } from "../session/facts.ts";
import type { LoadBalancingApi } from "../wire/load_balancing_api.ts";
import { listAsked, observe } from "./observe.ts";
import { parseRecord } from "./record.ts";
import { isOfCluster, parseLbName, toLbName, toWaiting } from "./words.ts";
import type { Found, ObservationScope, ObservationStore, OpenObservation } from "./store.ts";
import type { Rule, Observation } from "./observation.ts";
import type { AllocatedBy } from "./allocated_by.ts";

/** What a {@linkcode Observer} needs of the rest of the provider. */
export interface ObserverSource {
  readonly facts: Pick<Facts, "inProject" | "readVersion">;
  readonly memory: {
    /** The VMs of Nodes. */
    readonly nodeVmIds: ReadonlySet<string>;
    /** Whether these are known yet. */
    readonly hasInventory: boolean;
    /** The VMs of the last list; `undefined` before the first. */
    readonly backends: Backends | undefined;
  };
  /** Those of a list that was requested since then, in monotonic milliseconds. Asks CloudStack if need be. */
  readBackends(sinceMs: number, signal: AbortSignal): Promise<Backends>;
}

/** What a {@linkcode Observer} needs. */
export interface ObserverOptions {
  readonly api: LoadBalancingApi;
  readonly source: ObserverSource;
  /** Asks whose API user took addresses, see `readAllocatedBy`. */
  readonly readAllocatedBy: (
    asked: ReadonlyMap<string, number>,
    projectId: string | undefined,
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<string, AllocatedBy> | undefined>;
  /** The key that signs records now. */
  readonly readSigningKey: () => Promise<Uint8Array>;
  readonly store: ObservationStore;
  readonly clock: Clock;
}

interface Running {
  readonly open: OpenObservation;
  readonly startedAtMs: number;
  readonly done: Promise<void>;
}

/** What is known of Nodes: their networks, and what these were found from. */
interface KnownNodes extends Pick<ObserverSource["memory"], "nodeVmIds" | "backends"> {
  readonly instanceIds: ReadonlySet<string>;
  readonly networkIds: ReadonlySet<string>;
}

const TOO_EARLY =
  "Landfall waits for the first list of VMs: it shows whether this is the CloudStack of the cluster";
const NONE: ReadonlySet<string> = new Set();
/** Questions about single rules, VMs and lists at once. An observation must not hold up what else asks CloudStack. */
const CONCURRENCY_MAX = 4;

/**
 * Observes CloudStack.
 *
 * Guarantees: one observation runs at a time. Those who ask while it runs share it if it is young enough for them, else
 * the next one. An observation that failed changes nothing: the last one stays, for those who may use it.
 */
export class Observer {
  readonly #options: ObserverOptions;
  #claims: () => Iterable<LoadBalancerClaim> = () => [];
  #instanceIds: () => ReadonlySet<string> = () => NONE;
  #running: Running | undefined;
  #next: Promise<void> | undefined;
  #nodes: KnownNodes = {
    nodeVmIds: NONE,
    instanceIds: NONE,
    backends: undefined,
    networkIds: NONE,
  };

  constructor(options: ObserverOptions) {
    this.#options = options;
  }

  /**
   * Shows CloudStack as it was at most so long ago, with all changes that this process made since.
   *
   * @throws {CloudError} when CloudStack does not answer, or not in full
   */
  async observe(question: LoadBalancerQuestion, signal: AbortSignal): Promise<Observation> {
    const { maxAgeMs, claims, instanceIds } = question;
    signal.throwIfAborted();
    this.#options.store.setServices(question);
    this.#claims = claims;
    this.#instanceIds = instanceIds ?? this.#instanceIds;
    const sinceMs = this.#options.clock.monotonic() - maxAgeMs;
    if (!this.#isEnough(sinceMs)) await abortable(this.#observeSince(sinceMs), signal);
    return this.#observation;
  }

  get #observation(): Observation {
    const { store, source } = this.#options;
    const { backends } = source.memory;
    if (backends !== undefined) store.setVms(backends.vms);
    if (store.observation !== undefined) return store.observation;
    throw new CloudError("unreachable", "the settings changed while Landfall looked at CloudStack");
  }

  /** Whether the last observation is young enough, and shows what Services may need that appeared since. */
  #isEnough(sinceMs: number): boolean {
    const { isValid, observation: cloud, scope } = this.#options.store;
    if (!isValid || cloud === undefined || cloud.takenAtMs <= sinceMs) return false;
    const { unclaimed, addresses, askedIds, networkIds, nodes } = scope;
    const now = this.#findNodes();
    // What is known of Nodes by now may prove which CloudStack this is.
    if (!cloud.isOurCloud && nodes !== now) return false;
    if (unclaimed.size > 0) {
      for (const { owner } of this.#claims()) if (unclaimed.has(toLbName(owner.uid))) return false;
    }
    for (const id of listAsked(this.#claims(), addresses, cloud.recordSigner).keys()) {
      if (!askedIds.has(id)) return false;
    }
    return now.networkIds.isSubsetOf(networkIds);
  }

  /** Joins the observation that runs if it began late enough, else the next one. */
  #observeSince(sinceMs: number): Promise<void> {
    const running = this.#running;
    const isLateEnough = running && !running.open.isOutdated && running.startedAtMs >= sinceMs;
    if (isLateEnough) return running.done;
    this.#next ??= this.#observeNext(running?.done);
    return this.#next;
  }

  async #observeNext(before: Promise<void> | undefined): Promise<void> {
    await before?.catch(() => {});
    this.#next = undefined;
    const open = this.#options.store.begin();
    const startedAtMs = this.#options.clock.monotonic();
    const done = this.#take(open, startedAtMs);
    const running = { open, startedAtMs, done };
    this.#running = running;
    try {
      await done;
    } finally {
      this.#running = undefined;
    }
  }

  async #take(open: OpenObservation, takenAtMs: number): Promise<void> {
    const { store } = this.#options;
    const ending = new AbortController();
    try {
      const { found, scope } = await this.#read(takenAtMs, ending.signal);
      store.finish(open, found, scope);
    } catch (error) {
      store.abandon(open);
      throw error;
    } finally {
      // Other questions of an observation that failed need no answer any more.
      ending.abort();
    }
  }

  async #read(
    takenAtMs: number,
    signal: AbortSignal,
  ): Promise<{ readonly found: Found; readonly scope: ObservationScope }> {
    const { api, source, store, clock } = this.#options;
    const takenAtWallMs = clock.now();
    store.setSigningKey(await this.#options.readSigningKey());
    const { vms, isWhole } = await source.readBackends(-Infinity, signal);
    const { networkIds, nodeVmIds, instanceIds } = this.#findNodes();
    const claims = new Map(
      [...this.#claims()].map((claim) => [toLbName(claim.owner.uid), claim] as const),
    );
    // After a refusal, also what changes rarely may be another.
    const known = { ...store.observation, ...(!store.isValid && { networksAtMs: -Infinity }) };
    const taken = await source.facts.inProject(
      async (projectId) =>
        await observe(
          {
            api,
            projectId,
            readAllocatedBy: (asked) => this.#options.readAllocatedBy(asked, projectId, signal),
            readVersion: () => source.facts.readVersion(signal),
            claims,
            recordSigner: store.recordSigner,
            vms,
            isEveryVm: isWhole,
            nodeVmIds: nodeVmIds.union(instanceIds),
            nodeNetworkIds: networkIds,
            known,
            limiter: new Limiter(CONCURRENCY_MAX),
            takenAtMs,
            takenAtWallMs,
          },
          signal,
        ),
      signal,
    );
    const recognized = await this.#recognize(taken, new Set(claims.keys()), signal);
    const found = { ...taken, ...recognized };
    const lbNames = [...found.rules.values()].flatMap(({ name }) => parseLbName(name) ?? []);
    const unclaimed = new Set(lbNames.filter((one) => !claims.has(one)));
    const { addresses } = found;
    const askedIds = new Set(listAsked(claims.values(), addresses, store.recordSigner).keys());
    return {
      found,
      scope: { nodes: this.#findNodes(), networkIds, unclaimed, addresses, askedIds },
    };
  }

  /** A list of VMs is asked for only if the observation shows no load balancer of the cluster. */
  async #recognize(
    taken: Omit<Found, "isOurCloud">,
    lbNames: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<Pick<Found, "isOurCloud" | "hasNoNodes">> {
    const { source, store } = this.#options;
    if (showsLoadBalancer(taken, { clusterIds: store.clusterIds, lbNames })) {
      return { isOurCloud: true };
    }
    const nodeVmIds = source.memory.nodeVmIds.union(this.#instanceIds());
    if (nodeVmIds.size > 0) {
      const { vms } = await source.readBackends(taken.takenAtMs, signal);
      return { isOurCloud: nodeVmIds.values().some((id) => vms.has(id)) };
    }
    if (!source.memory.hasInventory) throw new CloudError("unreachable", TOO_EARLY);
    return { isOurCloud: false, hasNoNodes: true };
  }

  #findNodes(): KnownNodes {
    const { nodeVmIds, backends } = this.#options.source.memory;
    const instanceIds = this.#instanceIds();
    const known = this.#nodes;
    const isSame = known.nodeVmIds === nodeVmIds && known.instanceIds === instanceIds;
    if (isSame && known.backends === backends) return known;
    const networkIds = new Set<string>();
    for (const vmId of nodeVmIds.union(instanceIds)) {
      for (const { networkId } of backends?.vms.get(vmId)?.nics ?? []) networkIds.add(networkId);
    }
    this.#nodes = { nodeVmIds, instanceIds, backends, networkIds };
    return this.#nodes;
  }
}

const NOT_OURS =
  "CloudStack shows neither a VM of a Node nor a load balancer of this cluster, so it may be another CloudStack, " +
  "project or account: check api-url, project-id and the keys";

/**
 * Whether an observation shows a load balancer of this cluster: an address with its tag, or a rule of one of its
 * Services.
 */
function showsLoadBalancer(
  { addresses, rules }: Pick<Observation, "addresses" | "rules">,
  { clusterIds, lbNames }: { clusterIds: readonly string[]; lbNames: ReadonlySet<string> },
): boolean {
  return (
    addresses.values().some(({ tags }) => isOfCluster(tags, clusterIds)) ||
    rules.values().some((rule) => lbNames.has(findLbName(rule)))
  );
}

/**
 * Says why nothing may be done for a Service on the basis of an observation, which may be about another CloudStack, or
 * about two that answer in turn. Without any Node, a Service need not wait that shows no sign of a load balancer, or
 * only a record about a network that the observation shows.
 *
 * @returns A problem for which the Service waits; `undefined` if there is no doubt
 */
export function findIdentityProblem(
  cloud: Observation,
  claim: LoadBalancerClaim,
): LoadBalancerProblem | undefined {
  const hasRecord = claim.record !== undefined && !showsPlace(cloud, claim);
  const hasSign = claim.ingress.length > 0 || hasRecord;
  const lbName = toLbName(claim.owner.uid);
  const mustRecognize = hasSign || cloud.hasNoNodes !== true;
  if (mustRecognize && !isRecognized(cloud, lbName)) return toWaiting("NotKnown", NOT_OURS);
  const isLost = (rule: Rule): boolean =>
    !cloud.addresses.has(rule.addressId) && findLbName(rule) === lbName;
  const lost = cloud.rules.values().find(isLost);
  if (lost === undefined || cloud.unreadable.some(({ kind }) => kind === "address"))
    return undefined;
  const what = `CloudStack shows the rule ${lost.name} without its address ${lost.ip}`;
  return toWaiting("NotKnown", `${what}: Landfall waits until it shows both`);
}

/**
 * Whether an observation shows for what the record says that an address was asked for: another CloudStack does not have
 * it.
 */
function showsPlace(
  { networks, recordSigner }: Observation,
  { record, owner }: LoadBalancerClaim,
): boolean {
  const place = parseRecord(record, owner.uid, recordSigner)?.address?.place;
  if (place === undefined) return false;
  if ("networkId" in place) return networks.has(place.networkId);
  return networks.values().some(({ vpcId }) => vpcId === place.vpcId);
}

/** What this process made since the observation counts, too: CloudStack has confirmed it. */
function isRecognized(cloud: Observation, lbName: string): boolean {
  const { isOurCloud, clusterIds } = cloud;
  return isOurCloud || showsLoadBalancer(cloud, { clusterIds, lbNames: new Set([lbName]) });
}

function findLbName({ name }: Rule): string {
  return parseLbName(name) ?? "";
}
