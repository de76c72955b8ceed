/**
 * Xen Orchestra in memory: what is true in it, and what it says.
 * @module
 */
import type { ProviderDefinition } from "../../../lib/cloud/provider_definition.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import { Auth } from "../../../lib/simulator/xenorchestra/auth.ts";
import { EventHub } from "../../../lib/simulator/xenorchestra/events.ts";
import { Faults } from "../../../lib/simulator/xenorchestra/faults.ts";
import type { Outcome } from "../../../lib/simulator/loopback.ts";
import { Front } from "../../../lib/simulator/xenorchestra/xenorchestra.ts";
import { toHost, toNetwork, toPool } from "../../../lib/simulator/xenorchestra/records.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import { RequestCounter } from "../../../lib/simulator/xenorchestra/requests.ts";
import { createRoutes } from "../../../lib/simulator/xenorchestra/routes.ts";
import type { XenOrchestraState } from "../../../lib/simulator/xenorchestra/state.ts";
import { drawFrom, type Random, type Seed } from "../../support/random.ts";
import type { Answer, Cloud, LabelWords, Origin, WorldSettings } from "../world/cloud.ts";
import { World } from "../world/mod.ts";
import { type LabelSettings, type Said, toDeletionKeys } from "../world/settings_file.ts";
import { StateWithCopies } from "./copies.ts";
import { XenOrchestraEvidence } from "./evidence.ts";
import {
  OwnLabels,
  TAG_LABELS,
  TAG_PREFIX,
  EDITED_LABELS,
  OUR_LABELS,
  TYPE_TAG,
  XenOrchestraTruth,
} from "./truth.ts";
import type { PoolPlace } from "./stay_judge.ts";

const TOKEN = "simulated-token-of-forty-three-characters-00";
const EVENT_PERIOD_MS = 5_000;
const HOSTS_PER_POOL = 2;
/** ARCHITECTURE.md says so. */
const REFRESH_REQUESTS_MAX = 5;
/** How many stories are of a user who may not read the connections to pools, as long as faults last. */
const BLIND_SHARE = 0.25;
/** Sets that choice apart from all others of a seed. */
const BLIND_SALT = 0x5e7e5;
/** How many machines have a tag that may say their type. */
const TAGGED_SHARE = 0.5;
const VM_PATH = /^\/rest\/v0\/vms\/([^/]+)$/;

/** A world of Xen Orchestra. */
export class XenOrchestraWorld extends World<XenOrchestraCloud> {
  /** @param options.eventPeriodMs How often the cloud looks for changes. @default {rarely, for that is dear} */
  constructor(
    seed: Seed,
    toSettings: (random: Random) => WorldSettings,
    { eventPeriodMs = EVENT_PERIOD_MS }: { readonly eventPeriodMs?: number } = {},
  ) {
    super(seed, toSettings, (origin) => new XenOrchestraCloud(origin, eventPeriodMs));
  }
}

/** Xen Orchestra. */
export class XenOrchestraCloud implements Cloud {
  readonly definition: ProviderDefinition = xenOrchestra;
  readonly providerId: RegExp = /^xenorchestra:\/\/[^/]+\/([^/]+)$/;
  readonly firstSecret: string = TOKEN;
  readonly firstLabels: LabelSettings;
  readonly undecided: readonly string[] = [];
  readonly provesOff: boolean = true;
  readonly needsRightClock: boolean = false;
  readonly labels: LabelWords = { ours: OUR_LABELS, edited: EDITED_LABELS, passing: TAG_LABELS };
  readonly state: StateWithCopies;
  readonly truth: XenOrchestraTruth;
  readonly faults: Faults = new Faults();
  readonly events: EventHub;
  /** How often it was asked for what. */
  readonly counter: RequestCounter = new RequestCounter();
  readonly firstPools: readonly PoolPlace[];
  /** Those that it is connected to, or tries to be. */
  pools: readonly PoolPlace[];
  /** Whether the connection to a pool was removed. */
  hasForgotten = false;
  /** Whether the user may read the connections to pools. */
  hasConnections = true;
  readonly #ownLabels: OwnLabels;
  readonly #random: Random;
  readonly #front: Front;
  readonly #stopped = new AbortController();
  #addressCount = 0;
  #requests = 0;
  onAnswer: (asker: string, answer: Answer) => void = () => undefined;

  constructor({ seed, random, timeline: clock, settings }: Origin, periodMs: number) {
    const state = new StateWithCopies(clock);
    const user = { id: toUuid("user"), username: "admin", password: "admin" };
    const auth = new Auth(clock, [user]);
    auth.addToken(TOKEN, user, Infinity);
    const { signal } = this.#stopped;
    this.#random = random;
    this.state = state;
    this.events = new EventHub({ state, clock, signal, periodMs });
    const routes = createRoutes({ state, auth, events: this.events, clock });
    this.#front = new Front({
      answer: (request) => Promise.resolve(routes.fetch(request)),
      faults: this.faults,
      requests: this.counter,
      clock,
      signal,
    });
    this.firstPools = Array.from({ length: settings.pools }, (_, at) =>
      addPool(state, `pool-${at + 1}`),
    );
    this.pools = this.firstPools;
    this.#ownLabels = new OwnLabels(seed);
    this.firstLabels = this.#toOwnLabels({ zoneFrom: "host" });
    // Rights filter the list without a word.
    if (drawFrom(seed, BLIND_SALT).chance(BLIND_SHARE)) this.hideConnections();
    this.truth = new XenOrchestraTruth(this, clock);
  }

  get streams(): number {
    return this.events.size;
  }

  get requests(): number {
    return this.#requests;
  }

  toBudget(refreshes: number): number {
    return refreshes * REFRESH_REQUESTS_MAX;
  }

  async answer(asker: string, request: Request): Promise<Outcome> {
    this.#requests += 1;
    const outcome = await this.#front.answer(request);
    const { kind } = outcome;
    if (kind === "reply") this.onAnswer(asker, { request, response: outcome.response, text: "" });
    return outcome;
  }

  createEvidence(world: World): XenOrchestraEvidence {
    return new XenOrchestraEvidence(this, world);
  }

  findAsked({ url }: Request): string | undefined {
    return VM_PATH.exec(new URL(url).pathname)?.[1];
  }

  addVm(name: string, id: string, address: string, part?: number): void {
    const random = this.#random;
    const drawn = random.pick(this.pools);
    const pool = part === undefined ? drawn : (this.pools[part] ?? drawn);
    this.state.addVm({
      name,
      id,
      poolId: pool.id,
      hostId: random.pick(pool.hostIds),
      addresses: { "0/ipv4/0": address },
      tags: [
        ...(random.chance(TAGGED_SHARE) ? [`${TYPE_TAG}${random.pick(["small", "big"])}`] : []),
        ...this.#ownLabels.drawTags(),
      ],
    });
  }

  removeVm(vmId: string): void {
    this.state.removeVm(vmId);
  }

  /** It reports the same UUID. */
  toTwin(name: string): string {
    return `${name}-twin`;
  }

  /** Lets a machine report an address, as its guest tools do. */
  giveAddress(vmId: string): void {
    this.#addressCount += 1;
    const address = `10.1.1.${this.#addressCount % 250}`;
    this.state.setVm(vmId, { addresses: { "0/ipv4/0": address }, mainIpAddress: address });
  }

  toText({ token, refreshIntervalMs, labels, leavesAddresses, deletion }: Said): string {
    const lines = [
      `token: ${token}`,
      `refreshInterval: ${refreshIntervalMs}ms`,
      `zoneLabelFrom: ${labels.zoneFrom}`,
      ...(labels.typeTag === undefined ? [] : [`instanceTypeTag: ${labels.typeTag}`]),
      ...toBlock("regions:", labels.regions),
      ...toBlock("zones:", labels.zones),
      ...toBlock("nodeLabelsFromTags:", labels.tagPrefix && { prefixes: `[${labels.tagPrefix}]` }),
      ...toBlock("addresses:", leavesAddresses ? { mode: "leave" } : undefined),
      ...toBlock("deletion:", toDeletionKeys(deletion)),
    ];
    return `${lines.join("\n")}\n`;
  }

  drawLabels(random: Random, before: LabelSettings): LabelSettings {
    return this.#toOwnLabels(
      random.pick<LabelSettings>([
        before,
        { zoneFrom: "host" },
        { zoneFrom: "pool" },
        { zoneFrom: "host", typeTag: TYPE_TAG },
        { zoneFrom: "pool", typeTag: TYPE_TAG },
      ]),
    );
  }

  listSpoilt(text: string): readonly (string | undefined)[] {
    return [
      undefined,
      "",
      "refreshInterval: [",
      text.slice(0, text.length >> 1).replace(/\n.*$/, ": :"),
      text.replace(/refreshInterval: .*/, "refreshInterval: soon"),
      text.replace(/confirmations: .*/, "confirmations: 0"),
      text.replace(/zoneLabelFrom: .*/, "zoneLabelFrom: rack"),
      text.replace(/token: .*/, "token:"),
    ];
  }

  /** Gives machines other tags for labels; in most stories none. */
  retag(vmIds: Iterable<string>): void {
    for (const vmId of vmIds) {
      const tags = this.#ownLabels.drawTags();
      const before = this.truth.find(vmId)?.["tags"];
      if (tags.length === 0 || !Array.isArray(before)) continue;
      const kept = before.filter((tag) => !String(tag).startsWith(TAG_PREFIX));
      this.state.setVm(vmId, { tags: [...kept, ...tags] });
    }
  }

  /** Takes the right to read the connections to pools from the user, until faults end. */
  hideConnections(): void {
    this.hasConnections = false;
    this.faults.set({ kind: "json", body: [] }, { route: "GET /servers" });
  }

  endFaults(): void {
    this.state.removeCopies();
    this.hasConnections = true;
    this.faults.clear();
    this.events.mode = "right";
    for (const { id } of this.pools) {
      this.state.restorePool(id);
      this.state.hideVms(id, false);
    }
  }

  /**
   * A process misses no machine while a pool that it saw once is not shown: that the pool will not come back only
   * people know, who start the process again.
   */
  tidyUp({ trace, replicas }: World): void {
    if (!this.hasForgotten) return;
    trace.note("PERSON", "restarts all, as a pool was removed for good");
    for (const replica of replicas) replica.stop();
  }

  isBeyondProof(node: Node, vmId: string): boolean {
    // Nobody can say any more whether a machine of a pool that was removed is gone.
    const isUnknown = this.hasForgotten && !this.#isConnected(vmId);
    return this.truth.isTemplate(vmId) || isUnknown || this.#mayBeCopy(node, vmId);
  }

  /** Removes the connection to a pool. Returns what adds it again. */
  forgetPool(poolId: string): () => void {
    const { state, pools } = this;
    const servers = [...state.all("servers").values()].filter((one) => one["poolId"] === poolId);
    state.forgetPool(poolId);
    this.pools = pools.filter(({ id }) => id !== poolId);
    this.hasForgotten = true;
    return () => {
      for (const server of servers) state.put("servers", server);
      state.restorePool(poolId);
      this.pools = pools;
      this.hasForgotten = false;
    };
  }

  stop(): void {
    this.#stopped.abort(new Error("the simulation is over"));
  }

  /** Label settings with names of this story's own, or without. */
  #toOwnLabels(labels: LabelSettings): LabelSettings {
    return this.#ownLabels.draw(
      labels,
      this.pools.map(({ id }) => id),
    );
  }

  /** Whether it is connected to the pool of a machine, or tries to be. */
  #isConnected(vmId: string): boolean {
    const poolId = this.truth.find(vmId)?.["$pool"];
    return this.pools.some(({ id }) => id === poolId);
  }

  /** Whether the Node names a pool that was removed, so that its machine, which is off in another, may be a copy. */
  #mayBeCopy({ metadata, spec }: Node, vmId: string): boolean {
    if (!this.hasForgotten || this.truth.isRunning(vmId)) return false;
    const [, provided] = /^xenorchestra:\/\/([^/]*)\//.exec(spec?.providerID ?? "") ?? [];
    const { labels = {} } = metadata;
    const region = labels["topology.kubernetes.io/region"];
    // The settings may give it a name of its own.
    const isNamed = region?.startsWith("region-");
    const known = (isNamed ? labels["topology.k8s.xenorchestra/pool_id"] : region) ?? provided;
    return known !== undefined && !this.pools.some(({ id }) => id === known);
  }
}

function toBlock(
  key: string,
  entries: Readonly<Record<string, string>> | "" | undefined,
): string[] {
  if (!entries) return [];
  return [key, ...Object.entries(entries).map(([name, value]) => `  ${name}: ${value}`)];
}

function addPool(state: XenOrchestraState, name: string): PoolPlace {
  const hostIds = Array.from({ length: HOSTS_PER_POOL }, (_, at) => toUuid(`host/${name}-${at}`));
  const id = toUuid(`pool/${name}`);
  const [masterId = ""] = hostIds;
  state.addPool(toPool({ name, id, masterId }));
  hostIds.forEach((hostId, at) => {
    const address = `10.0.0.${at + 1}`;
    state.addHost(toHost({ name: `${name}-host-${at + 1}`, id: hostId, poolId: id, address }));
  });
  state.put("networks", toNetwork("eth0", id));
  return { id, hostIds };
}
