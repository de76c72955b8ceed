/**
 * Publishes machines as BareMetalHosts with their Secrets, and takes hosts back that are not wanted any more.
 * @module
 */
import type { MachineOwner } from "../../../../cloud/capabilities/machines.ts";
import type { Clock } from "../../../../core/clock.ts";
import { mapAtOnce } from "../../../../core/concurrency.ts";
import type { KeySource } from "../../../../engine/object_loop.ts";
import type { KubeClient } from "../../../../kube/api/client.ts";
import { type StoreReader, toKey, type Key } from "../../../../kube/cache/store.ts";
import { type BareMetalHost, VINO_UID } from "../../../../kube/kinds/bare_metal_host.ts";
import { formatNetworkData } from "../../guest/network_data.ts";
import type { Vino } from "../../resource/vino.ts";
import { doesExist, type HostFacts, toHostFacts, isPaused } from "../host_facts.ts";
import { HostWriter, type WriteResult } from "./host_writer.ts";
import { type HostPlan, type HostSurroundings, planHost, planRemoval } from "../plan.ts";
import { SecretWriter, type SecretProblem, CHECK_INTERVAL_MS, toSecrets } from "./secret_writer.ts";
import type { HostOutcome, WantedHost } from "../types.ts";
import { isDeepStrictEqual } from "node:util";
import type { ObjectMeta } from "../../../../kube/kinds/resource.ts";
import { mayBeHostOf } from "../names.ts";

/** What a {@linkcode HostPublisher} needs. */
interface HostPublisherOptions {
  readonly client: Pick<KubeClient, "read" | "create" | "patch" | "delete">;
  readonly clock: Clock;
  readonly hosts: StoreReader<BareMetalHost>;
  readonly vinoes: Pick<StoreReader<Vino>, "values">;
  /** Gives each host its management controller. @default {hosts have none} */
  readonly addBmcs?: AddBmcs | undefined;
}

/** What must become of the hosts of a Vino. Hosts that are in neither list stay as they are. */
export interface PublishRequest {
  readonly owner: MachineOwner;
  /** Complete machines. */
  readonly hosts: readonly WantedHost[];
  /** Names of hosts to take back, because the spec does not want them any more. */
  readonly unwanted: readonly string[];
  /**
   * Names of hosts that were paused or moved when the status was written last: after a restart Landfall knows by them
   * that such a host was moved to another cluster if it is gone.
   */
  readonly paused: ReadonlySet<string>;
  /** Whether hosts that were moved to another cluster are made again here: a user asks for it by an annotation. */
  readonly publishesMoved: boolean;
}

/**
 * Gives each host to publish its management controller.
 *
 * @returns The hosts, in the order of the request
 * @throws {KubeError} if another try may help
 */
export type AddBmcs = (
  request: Pick<PublishRequest, "hosts" | "owner">,
  signal: AbortSignal,
) => Promise<readonly WantedHost[]>;

/** What {@linkcode HostPublisher.publish} did. */
export interface Published {
  /** Those to publish, in the order of the request. */
  readonly hosts: readonly HostOutcome[];
  /** Those to take back, in the order of the request. */
  readonly unwanted: readonly HostOutcome[];
  /** When to publish again although nothing changes, in milliseconds. */
  readonly againMs: number;
}

/** The BareMetalHosts of Vinos, as what reconciles their machines uses them. */
export type BareMetalHosts = Pick<HostPublisher, "find" | "forget" | "list" | "publish">;

/** Hosts that are worked on at once. */
const AT_ONCE = 8;

/** Publishes hosts. It is the only one that writes them and their Secrets. */
export class HostPublisher {
  readonly #options: HostPublisherOptions;
  readonly #hosts: VinoHosts;
  readonly #writer: HostWriter;
  readonly #secrets: SecretWriter;
  /** Hosts that were deleted because their machines are others now. */
  readonly #replaced = new Set<string>();

  constructor(options: HostPublisherOptions) {
    const { client, clock, hosts, vinoes } = options;
    this.#options = options;
    this.#hosts = new VinoHosts(hosts, vinoes);
    this.#writer = new HostWriter(client, clock);
    this.#secrets = new SecretWriter(client, clock);
  }

  /** Changes of hosts by their Vinos, for the loop. */
  get source(): KeySource {
    return this.#hosts;
  }

  /** The hosts of a Vino, as they were last seen: those that nothing wants any more, too. */
  list(vinoUid: string): readonly HostFacts[] {
    return Array.from(this.#hosts.list(vinoUid), toHostFacts);
  }

  /** The host of a name as it was last seen, also one that is not ours. */
  find(namespace: string, name: string): HostFacts | undefined {
    const host = this.#hosts.find(namespace, name);
    return host && toHostFacts(host);
  }

  /** Forgets a Vino that is gone. */
  forget(vinoUid: string): void {
    for (const host of this.#hosts.list(vinoUid)) this.#writer.forget(toKey(host));
    this.#hosts.forget(vinoUid);
    this.#writer.forgetVino(vinoUid);
    this.#secrets.forget(vinoUid);
  }

  /**
   * Brings hosts and Secrets to what is wanted. Writes nothing if all is so.
   *
   * @throws {KubeError} if another try may help
   */
  async publish(request: PublishRequest, signal: AbortSignal): Promise<Published> {
    const { addBmcs } = this.#options;
    const pass = new PublishPass();
    const options = { atOnce: AT_ONCE, signal };
    const all = addBmcs ? await addBmcs(request, signal) : request.hosts;
    const unwanted = await mapAtOnce(request.unwanted, options, (name, both) =>
      this.#remove(name, { request, pass, signal: both }),
    );
    const hosts = await mapAtOnce(all, options, async (wanted, both) => {
      const outcome = await this.#publishOne(wanted, { request, pass, signal: both });
      const { error } = this.find(request.owner.namespace, wanted.name) ?? {};
      const isBroken = error !== undefined && doesExist(outcome.state);
      return pass.withBmc({ ...outcome, ...(isBroken && { error }) }, wanted);
    });
    return { hosts, unwanted, againMs: pass.againMs };
  }

  async #publishOne(wanted: WantedHost, call: Call): Promise<HostOutcome> {
    const { request, pass, signal } = call;
    const { owner } = request;
    const { name } = wanted;
    const host = this.#hosts.find(owner.namespace, name);
    const surroundings = this.#look(request, name);
    if (host !== undefined) this.#writer.forgetProof(owner, name);
    const plan = planHost(wanted, host && toHostFacts(host), surroundings);
    if (plan.change?.kind === "create") return await this.#make(wanted, plan, call);
    if (plan.change?.kind === "delete") this.#replaced.add(toHostKey(request, name));
    const result = host && (await this.#change(host, wanted, plan, signal));
    const outcome = pass.toOutcome(plan, result);
    if (!plan.hasSecrets) return outcome;
    const problem = await this.#ensureSecrets(wanted, host?.metadata.uid, call);
    return problem && outcome.state === "Published" ? pass.toProblem(plan, problem) : outcome;
  }

  #look({ owner, paused, publishesMoved }: PublishRequest, name: string): HostSurroundings {
    const isMoved = paused.has(name) || this.#hosts.isMoved(owner.uid, name);
    return { vinoUid: owner.uid, isMoved: isMoved && !publishesMoved };
  }

  /** First the Secrets, then the host, then the Secrets become the host's. */
  async #make(wanted: WantedHost, plan: HostPlan, call: Call): Promise<HostOutcome> {
    const { request, pass, signal } = call;
    if (!pass.mayMake()) return pass.toOutcome(plan, { kind: "overtaken" });
    const problem = await this.#ensureSecrets(wanted, undefined, call);
    if (problem) return pass.toProblem(plan, problem);
    const result = await this.#writer.create(request.owner, wanted, signal);
    if (result.kind !== "done") return pass.toOutcome(plan, result);
    // If this fails, the next look at the Secrets mends it.
    const later = await this.#ensureSecrets(wanted, result.uid, call);
    if (later) return pass.toProblem(plan, later);
    const isMade = !this.#replaced.delete(toHostKey(request, wanted.name));
    const made = { ...(isMade && { isMade }), notices: plan.notices };
    return { name: wanted.name, state: "Published", ...made };
  }

  async #ensureSecrets(
    wanted: WantedHost,
    hostUid: string | undefined,
    { request: { owner }, signal }: Call,
  ): Promise<SecretProblem | undefined> {
    const networkData = formatNetworkData(wanted.interfaces);
    const isNew = hostUid === undefined;
    for (const secret of toSecrets({ owner, host: wanted, hostUid, networkData })) {
      const problem = await this.#secrets.ensure(owner.uid, secret, isNew, signal);
      if (problem) return problem;
    }
    return undefined;
  }

  async #change(
    host: BareMetalHost,
    wanted: WantedHost,
    { change }: HostPlan,
    signal: AbortSignal,
  ): Promise<WriteResult | undefined> {
    if (change === undefined) return undefined;
    if (change.kind === "delete") return await this.#writer.delete(host, signal);
    if (change.kind === "create") return undefined;
    return await this.#writer.patch(host, wanted, change.patch, signal);
  }

  async #remove(name: string, { request, pass, signal }: Call): Promise<HostOutcome> {
    const { owner } = request;
    const shown = this.#hosts.find(owner.namespace, name);
    const surroundings = this.#look(request, name);
    const first = planRemoval(name, shown && toHostFacts(shown), surroundings);
    if (first.state !== "Gone") this.#writer.forgetProof(owner, name);
    const isProven = first.state !== "Gone" || this.#writer.isProvenGone(owner, name);
    // What follows destroys the machine: that the view shows no host is no proof.
    const host = isProven ? shown : await this.#writer.readForProof(owner, name, signal);
    const plan = isProven ? first : planRemoval(name, host && toHostFacts(host), surroundings);
    if (plan.state === "Gone") this.#writer.forget(toKey({ metadata: { ...owner, name } }));
    if (plan.change === undefined || host === undefined) return toOutcome(plan);
    return pass.toOutcome(plan, await this.#writer.delete(host, signal));
  }
}

/** What the hosts of one call of `publish` share. */
interface Call {
  readonly request: PublishRequest;
  readonly pass: PublishPass;
  /** Ends as soon as the work on one of them fails. */
  readonly signal: AbortSignal;
}

function toHostKey({ owner }: Pick<PublishRequest, "owner">, name: string): string {
  return `${owner.namespace}/${name}`;
}

/** Hosts that one call makes. More follow at the next call: a reconcile must end in time. */
const MADE_MAX = 100;
/** How soon to go on after that, and after another program was quicker. */
const SOON_MS = 1_000;
/** How soon to try again what was refused: a quota grows, a name becomes free. */
const REFUSED_MS = 60_000;

/** What one call of `publish` did so far. */
export class PublishPass {
  /** When to publish again although nothing changes. */
  againMs: number = CHECK_INTERVAL_MS;
  #begun = 0;

  /** Whether one more host may be made now. */
  mayMake(): boolean {
    this.#begun += 1;
    return this.#begun <= MADE_MAX;
  }

  /** How far a host is after a write. */
  toOutcome(plan: HostPlan, result: WriteResult | undefined): HostOutcome {
    const outcome = toOutcome(plan);
    switch (result?.kind) {
      case "overtaken":
        this.#again(SOON_MS);
        return outcome;
      case "held": {
        this.#again(result.pauseMs);
        const notice = `${plan.name}: another program changes its labels again and again`;
        return { ...outcome, notices: [...outcome.notices, notice] };
      }
      case "taken":
        this.#again(REFUSED_MS);
        return { ...outcome, state: "NameTaken", message: result.why };
      case "refused":
        this.#again(REFUSED_MS);
        return {
          ...outcome,
          state: "Refused",
          message: `BareMetalHost ${plan.name}: ${result.why}`,
        };
      default:
        if (plan.state === "NameTaken") this.#again(REFUSED_MS);
        return outcome;
    }
  }

  /** How far a host is whose Secret is not as wanted. */
  toProblem(plan: HostPlan, { state, message }: SecretProblem): HostOutcome {
    this.#again(state === "Publishing" ? SOON_MS : REFUSED_MS);
    return { ...toOutcome(plan), state, message };
  }

  /** Adds what is to say about the management controller, whose credentials a person may change at any time. */
  withBmc(
    outcome: HostOutcome,
    {
      bmcProblem,
      bmcNotice,
      bmcAgainMs,
    }: Pick<WantedHost, "bmcProblem" | "bmcNotice" | "bmcAgainMs">,
  ): HostOutcome {
    if (bmcAgainMs !== undefined) this.#again(bmcAgainMs);
    if (bmcProblem === undefined)
      return bmcNotice === undefined ? outcome : { ...outcome, bmcNotice };
    this.#again(REFUSED_MS);
    return { ...outcome, notices: [...outcome.notices, bmcProblem], bmcProblem };
  }

  #again(ms: number): void {
    this.againMs = Math.min(this.againMs, ms);
  }
}

/** How far a host is by its plan. */
export function toOutcome({ name, state, message, notices, differences }: HostPlan): HostOutcome {
  return {
    name,
    state,
    ...(message !== undefined && { message }),
    notices,
    ...(differences && { differences }),
  };
}

/** The hosts of one Vino, by name. */
interface OfVino {
  readonly hosts: Map<string, BareMetalHost>;
  /** Names of hosts that were deleted while they were paused, and were not made again. */
  readonly moved: Set<string>;
}

/**
 * The hosts by the UID of the Vino that their label names.
 *
 * As a {@linkcode KeySource}: a change of a host names its Vino, unless nothing changes that counts for it. A host that
 * is of no Vino, or of another one, can stand in the way of one by its name: it names that Vino, too.
 */
class VinoHosts implements KeySource {
  readonly reader: StoreReader<BareMetalHost>;
  readonly #vinoes: Pick<StoreReader<Vino>, "values">;
  readonly #byUid = new Map<string, OfVino>();
  readonly #listeners = new Set<(keys: Iterable<Key>) => void>();

  /** Follows the hosts from now on, for as long as they are watched. */
  constructor(hosts: StoreReader<BareMetalHost>, vinoes: Pick<StoreReader<Vino>, "values">) {
    this.reader = hosts;
    this.#vinoes = vinoes;
    hosts.subscribe((_key, before, after) => this.#update(before, after));
  }

  subscribe(listener: (keys: Iterable<Key>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The host of a name, also one of another program. */
  find(namespace: string, name: string): BareMetalHost | undefined {
    return this.reader.get(toKey({ metadata: { namespace, name } }));
  }

  /** The hosts of a Vino. */
  list(vinoUid: string): Iterable<BareMetalHost> {
    return this.#byUid.get(vinoUid)?.hosts.values() ?? [];
  }

  /** Whether a host of a Vino was deleted while it was paused. */
  isMoved(vinoUid: string, name: string): boolean {
    return this.#byUid.get(vinoUid)?.moved.has(name) === true;
  }

  /** Forgets what was deleted of a Vino that is gone. */
  forget(vinoUid: string): void {
    const known = this.#byUid.get(vinoUid);
    known?.moved.clear();
    if (known?.hosts.size === 0) this.#byUid.delete(vinoUid);
  }

  #update(before: BareMetalHost | undefined, after: BareMetalHost | undefined): void {
    const [old, now] = [before, after].map((host) => host?.metadata.labels?.[VINO_UID]);
    if (before !== undefined && old !== undefined) {
      const known = this.#of(old);
      known.hosts.delete(before.metadata.name);
      if (after === undefined && isPaused(before)) known.moved.add(before.metadata.name);
      if (known.hosts.size === 0 && known.moved.size === 0) this.#byUid.delete(old);
    }
    if (after !== undefined && now !== undefined) {
      const known = this.#of(now);
      known.hosts.set(after.metadata.name, after);
      known.moved.delete(after.metadata.name);
    }
    if (old === now && before && after && isSame(before, after)) return;
    this.#tell(new Set([old, now]), (after ?? before)?.metadata);
  }

  #of(vinoUid: string): OfVino {
    const known = this.#byUid.get(vinoUid) ?? { hosts: new Map(), moved: new Set() };
    this.#byUid.set(vinoUid, known);
    return known;
  }

  #tell(vinoUids: ReadonlySet<string | undefined>, host: ObjectMeta | undefined): void {
    const isTold = ({ metadata: { uid, namespace, name } }: Vino): boolean => {
      if (uid !== undefined && vinoUids.has(uid)) return true;
      return host !== undefined && namespace === host.namespace && mayBeHostOf(name, host.name);
    };
    const keys = [...this.#vinoes.values()].filter(isTold).map(toKey);
    if (keys.length > 0) for (const listener of this.#listeners) listener(keys);
  }
}

function isSame(before: BareMetalHost, after: BareMetalHost): boolean {
  const [one, other] = [before, after].map((host): HostFacts => ({
    ...toHostFacts(host),
    resourceVersion: undefined,
  }));
  return isDeepStrictEqual(one, other);
}
