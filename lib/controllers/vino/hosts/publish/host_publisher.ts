/**
 * Publishes a machine as a BareMetalHost with its Secrets, and takes a host back that is not wanted any more.
 * @module
 */
import type { MachineOwner } from "../../../../cloud/capabilities/machines.ts";
import type { Clock } from "../../../../core/clock.ts";
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
  /** Gives a host its management controller, and takes it back. @default {hosts have none} */
  readonly bmcs?: HostBmcs | undefined;
}

/** The host of a machine. */
export interface HostRequest {
  readonly owner: MachineOwner;
  /** Of the host. */
  readonly name: string;
  /**
   * Whether it was paused or moved when the status of its machine was written last: after a restart Landfall knows by
   * that that it was moved to another cluster if it is gone.
   */
  readonly wasPaused: boolean;
  /** Whether hosts that were moved to another cluster are made again here: a user asks for it by an annotation. */
  readonly publishesMoved: boolean;
  /** Whether its Vino ends without the cloud, which does not answer: nothing waits for it. @default {false} */
  readonly isWithoutCloud?: boolean;
}

/** The management controllers of hosts. Both methods throw {@linkcode KubeError} if another try may help. */
export interface HostBmcs {
  /** Gives a host to publish its management controller. */
  add(host: WantedHost, owner: MachineOwner, signal: AbortSignal): Promise<WantedHost>;
  /**
   * Takes from its clients the machine of a host that is gone, and undoes what they set for a time.
   *
   * @param host Its name
   * @returns Why another try is needed, as a sentence without a full stop. `undefined`: it is done
   */
  release(host: string, owner: MachineOwner, signal: AbortSignal): Promise<string | undefined>;
}

/** How far a host is. */
export interface Published {
  readonly outcome: HostOutcome;
  /** When to look at it again although nothing changes, in milliseconds. */
  readonly againMs: number;
}

/** The BareMetalHosts of Vinos, as what reconciles their machines uses them. */
export type BareMetalHosts = Pick<
  HostPublisher,
  "find" | "forget" | "isGone" | "publish" | "remove"
>;

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
    hosts.subscribe((key, _before, after) => {
      if (after === undefined) this.#writer.forget(key);
    });
  }

  /** Changes of hosts by their Vinos, for the loop. */
  get source(): KeySource {
    return this.#hosts;
  }

  /** The host of a name as it was last seen, also one that is not ours. */
  find(namespace: string, name: string): HostFacts | undefined {
    const host = this.#hosts.find(namespace, name);
    return host && toHostFacts(host);
  }

  /**
   * Whether the API server itself said that a host that must go does not exist, nothing was seen of it since, and its
   * management controller is taken back.
   */
  isGone(request: HostRequest): boolean {
    const { owner, name } = request;
    const shown = this.find(owner.namespace, name);
    const { state } = planRemoval(name, shown, this.#look(request));
    return state === "Gone" && this.#writer.isProvenGone(owner, name);
  }

  /** Forgets a Vino that is gone. */
  forget(vinoUid: string): void {
    this.#hosts.forget(vinoUid);
    this.#writer.forgetVino(vinoUid);
    this.#secrets.forget(vinoUid);
  }

  /**
   * Brings the host of a complete machine and its Secrets to what is wanted. Writes nothing if all is so.
   *
   * @throws {KubeError} if another try may help
   */
  async publish(
    request: HostRequest,
    machine: WantedHost,
    signal: AbortSignal,
  ): Promise<Published> {
    const { owner, name } = request;
    const wanted = (await this.#options.bmcs?.add(machine, owner, signal)) ?? machine;
    const published = await this.#publish(request, wanted, signal);
    const { error } = this.find(owner.namespace, name) ?? {};
    const isBroken = error !== undefined && doesExist(published.outcome.state);
    const outcome = { ...published.outcome, ...(isBroken && { error }) };
    return withBmc({ ...published, outcome }, wanted);
  }

  /**
   * Takes back a host that is not wanted any more, and then its management controller.
   *
   * @throws {KubeError} if another try may help
   */
  async remove(request: HostRequest, signal: AbortSignal): Promise<Published> {
    const { owner, name, isWithoutCloud = false } = request;
    const shown = this.#hosts.find(owner.namespace, name);
    const surroundings = this.#look(request);
    const first = planRemoval(name, shown && toHostFacts(shown), surroundings);
    if (first.state !== "Gone") this.#writer.forgetProof(owner, name);
    const isProven = first.state !== "Gone" || this.#writer.isProvenGone(owner, name);
    // What follows destroys the machine: that the view shows no host is no proof.
    const host = isProven ? shown : await this.#writer.readForProof(owner, name, signal);
    const plan = isProven ? first : planRemoval(name, host && toHostFacts(host), surroundings);
    if (plan.change !== undefined && host !== undefined)
      return toPublished(plan, await this.#writer.delete(host, signal));
    if (isProven || plan.state !== "Gone") return toPublished(plan);
    const { bmcs } = this.#options;
    const message = isWithoutCloud ? undefined : await bmcs?.release(name, owner, signal);
    if (message !== undefined) return toRefused({ ...toOutcome(plan), state: "Removing", message });
    this.#writer.noteGone(owner, name);
    return toPublished(plan);
  }

  async #publish(
    request: HostRequest,
    wanted: WantedHost,
    signal: AbortSignal,
  ): Promise<Published> {
    const { owner, name } = request;
    const host = this.#hosts.find(owner.namespace, name);
    if (host !== undefined) this.#writer.forgetProof(owner, name);
    const plan = planHost(wanted, host && toHostFacts(host), this.#look(request));
    if (plan.change?.kind === "create") return await this.#make(owner, wanted, plan, signal);
    if (plan.change?.kind === "delete") this.#replaced.add(`${owner.namespace}/${name}`);
    const result = host && (await this.#change(host, wanted, plan, signal));
    const published = toPublished(plan, result);
    if (!plan.hasSecrets) return published;
    const problem = await this.#ensureSecrets(owner, wanted, host?.metadata.uid, signal);
    const isAsWanted = problem === undefined || published.outcome.state !== "Published";
    return isAsWanted ? published : toProblem(plan, problem);
  }

  #look({ owner, name, wasPaused, publishesMoved }: HostRequest): HostSurroundings {
    const isMoved = wasPaused || this.#hosts.isMoved(owner.uid, name);
    return { vinoUid: owner.uid, isMoved: isMoved && !publishesMoved };
  }

  /** First the Secrets, then the host, then the Secrets become the host's. */
  async #make(
    owner: MachineOwner,
    wanted: WantedHost,
    plan: HostPlan,
    signal: AbortSignal,
  ): Promise<Published> {
    const problem = await this.#ensureSecrets(owner, wanted, undefined, signal);
    if (problem) return toProblem(plan, problem);
    const result = await this.#writer.create(owner, wanted, signal);
    if (result.kind !== "done") return toPublished(plan, result);
    // If this fails, the next look at the Secrets mends it.
    const later = await this.#ensureSecrets(owner, wanted, result.uid, signal);
    if (later) return toProblem(plan, later);
    const { name, notices } = plan;
    const isMade = !this.#replaced.delete(`${owner.namespace}/${name}`);
    const outcome = { name, state: "Published" as const, ...(isMade && { isMade }), notices };
    return { outcome, againMs: CHECK_INTERVAL_MS };
  }

  async #ensureSecrets(
    owner: MachineOwner,
    host: WantedHost,
    hostUid: string | undefined,
    signal: AbortSignal,
  ): Promise<SecretProblem | undefined> {
    const networkData = formatNetworkData(host.interfaces);
    const isNew = hostUid === undefined;
    for (const secret of toSecrets({ owner, host, hostUid, networkData })) {
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
}

/** How soon to go on after another program was quicker. */
const SOON_MS = 1_000;
/** How soon to try again what was refused: a quota grows, a name becomes free. */
const REFUSED_MS = 60_000;

/** How far a host is after a write. */
export function toPublished(plan: HostPlan, result?: WriteResult): Published {
  const outcome = toOutcome(plan);
  const { name } = plan;
  switch (result?.kind) {
    case "overtaken":
      return { outcome, againMs: SOON_MS };
    case "held": {
      const notice = `${name}: another program changes its labels again and again`;
      const againMs = Math.min(result.pauseMs, CHECK_INTERVAL_MS);
      return { outcome: { ...outcome, notices: [...outcome.notices, notice] }, againMs };
    }
    case "taken":
      return toRefused({ ...outcome, state: "NameTaken", message: result.why });
    case "refused":
      return toRefused({
        ...outcome,
        state: "Refused",
        message: `BareMetalHost ${name}: ${result.why}`,
      });
    default:
      return plan.state === "NameTaken"
        ? toRefused(outcome)
        : { outcome, againMs: CHECK_INTERVAL_MS };
  }
}

function toRefused(outcome: HostOutcome): Published {
  return { outcome, againMs: REFUSED_MS };
}

/** How far a host is whose Secret is not as wanted. */
function toProblem(plan: HostPlan, { state, message }: SecretProblem): Published {
  const againMs = state === "Publishing" ? SOON_MS : REFUSED_MS;
  return { outcome: { ...toOutcome(plan), state, message }, againMs };
}

/** Adds what is to say about the management controller, whose credentials a person may change at any time. */
function withBmc(
  { outcome, againMs }: Published,
  { bmcProblem, bmcNotice, bmcAgainMs = Infinity }: WantedHost,
): Published {
  const soonMs = Math.min(againMs, bmcAgainMs);
  if (bmcProblem === undefined) {
    const noticed = bmcNotice === undefined ? outcome : { ...outcome, bmcNotice };
    return { outcome: noticed, againMs: soonMs };
  }
  const notices = [...outcome.notices, bmcProblem];
  return { outcome: { ...outcome, notices, bmcProblem }, againMs: Math.min(soonMs, REFUSED_MS) };
}

/** How far a host is by its plan. */
function toOutcome({ name, state, message, notices, differences }: HostPlan): HostOutcome {
  return {
    name,
    state,
    ...(message !== undefined && { message }),
    notices,
    ...(differences && { differences }),
  };
}

/**
 * The hosts by their names, and which hosts of a Vino were moved to another cluster.
 *
 * As a {@linkcode KeySource}: a change of a host names its Vino, unless nothing changes that counts for it. A host that
 * is of no Vino, or of another one, can stand in the way of one by its name: it names that Vino, too.
 */
class VinoHosts implements KeySource {
  readonly reader: StoreReader<BareMetalHost>;
  readonly #vinoes: Pick<StoreReader<Vino>, "values">;
  /** Names of hosts that were deleted while they were paused, and not made again, by the UID of their Vino. */
  readonly #moved = new Map<string, Set<string>>();
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

  /** Whether a host of a Vino was deleted while it was paused. */
  isMoved(vinoUid: string, name: string): boolean {
    return this.#moved.get(vinoUid)?.has(name) === true;
  }

  /** Forgets what was deleted of a Vino that is gone. */
  forget(vinoUid: string): void {
    this.#moved.delete(vinoUid);
  }

  #update(before: BareMetalHost | undefined, after: BareMetalHost | undefined): void {
    const [old, now] = [before, after].map((host) => host?.metadata.labels?.[VINO_UID]);
    if (before !== undefined && after === undefined && old !== undefined && isPaused(before)) {
      const moved = this.#moved.get(old) ?? new Set();
      this.#moved.set(old, moved.add(before.metadata.name));
    }
    if (after !== undefined && now !== undefined) {
      this.#moved.get(now)?.delete(after.metadata.name);
    }
    if (old === now && before && after && isSame(before, after)) return;
    this.#tell(new Set([old, now]), (after ?? before)?.metadata);
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
