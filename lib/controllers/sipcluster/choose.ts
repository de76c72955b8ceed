/**
 * Chooses the hosts of a cluster: decides, reads the addresses of the hosts that would be taken, and decides again
 * without those that cannot serve.
 * @module
 */
import type { AddressReader, HostNetworks } from "./hosts/address_reader.ts";
import { forgiveErrors, listErrorTimes } from "./hosts/errors.ts";
import type { HostIndex } from "./hosts/host_index.ts";
import { type AddressResult, toAddresses } from "./hosts/network_data.ts";
import type { AllowsHost } from "./hosts/record.ts";
import type { Role, SipCluster, SipClusterSpec } from "./resource/sip_cluster.ts";
import { toMatcher } from "./schedule/label_selector.ts";
import { byKey } from "./schedule/own_hosts.ts";
import { REFUSED_MAX } from "./schedule/report.ts";
import { schedule } from "./schedule/schedule.ts";
import { type HostFacts, LATE, type RoleReport, type Schedule } from "./schedule/types.ts";
import { listNetworks } from "./services/machines.ts";
import type { Clock } from "../../core/clock.ts";
import { type Key, toKey } from "../../kube/cache/store.ts";
import type { BareMetalHost } from "../../kube/kinds/bare_metal_host.ts";

/** What a {@linkcode HostChooser} needs. */
interface HostChooserOptions {
  readonly index: Pick<
    HostIndex,
    "listOf" | "listOfOthers" | "listClaimants" | "listFree" | "find"
  >;
  readonly addresses: Pick<AddressReader, "readAll" | "readFree" | "findKnown">;
  readonly allows: AllowsHost;
  readonly clock: Pick<Clock, "now">;
  /** How long an error of a host must last, in milliseconds. */
  readonly errorGraceMs: number;
}

/** A decision, and the hosts that were refused because of their network data. */
export interface Choice {
  readonly schedule: Schedule;
  readonly missed: readonly Key[];
}

/** Why hosts are rejected whose namespace the operator does not allow. */
const NOT_ALLOWED = "in a namespace that --sip-host-namespaces does not allow";
/** Why hosts are rejected that another cluster has: tenants see no names. */
const OF_OTHERS = "of other SIPClusters";
/** Rounds before it reads ahead: most hosts have what they need. */
const ROUNDS_ALONE = 3;
/** Rounds in which it avoids equal addresses. As many double what it reads ahead beyond all hosts. */
const TWIN_ROUNDS_MAX = 16;
/** How many hosts it reads ahead then, doubled with each round. */
const READ_AHEAD = 4;

/**
 * Whether a cluster could use one more host, by its labels. A role that lacks none after all counts, too: a host for it
 * may set another free for the role that does.
 */
export function toWants(
  { nodes = {} }: SipClusterSpec,
  { reports }: Pick<Schedule, "reports">,
): (host: Pick<HostFacts, "labels">) => boolean {
  const short = [...reports].filter(([, { wanted, have }]) => wanted > have);
  const matchers = short.map(([role]) => toMatcher(nodes[role]?.labelSelector));
  return ({ labels }) => matchers.some((matches) => matches(labels));
}

/** A cluster, and its hosts as the decision sees them. */
interface Choosing {
  readonly key: Key;
  readonly spec: SipClusterSpec;
  readonly own: readonly HostFacts[];
  /** IDs of the networks on which each host needs an address. */
  readonly networks: readonly string[];
  /** What hosts said. Each is asked once, so that the decision ends also if the reader forgets it. */
  readonly answers: Map<Key, HostNetworks>;
}

/** Chooses hosts. It writes nothing. */
export class HostChooser {
  readonly #options: HostChooserOptions;

  constructor(options: HostChooserOptions) {
    this.#options = options;
  }

  /**
   * Decides for a cluster. Only Secrets of hosts that would be taken are read, and each round refuses the hosts that
   * the round before found to have no address. If that goes on, it reads ahead, twice as far each time: where no host
   * has the network, because its ID is misspelt, 10,000 hosts take 11 rounds and not 2,500. A host with an address that
   * another one of the cluster has is taken only if no other is free.
   *
   * @throws {KubeError} if the Secret of a host that the cluster has cannot be read, or the API server does not serve
   */
  async choose(cluster: SipCluster, spec: SipClusterSpec, signal: AbortSignal): Promise<Choice> {
    const networks = listNetworks(spec.services);
    const key = toKey(cluster);
    const own = this.#listOwn(cluster);
    const choosing: Choosing = { key, spec, own, networks, answers: new Map() };
    const twins = new Set<Key>();
    for (let round = 1; ; round += 1) {
      const missed = new Set<Key>();
      const choice = this.#decide(choosing, (facts) => {
        if (!this.#options.allows(key, facts.key)) return { ...facts, trouble: NOT_ALLOWED };
        const trouble = this.#findTrouble(choosing, facts);
        if (trouble === undefined)
          return twins.has(facts.key)
            ? { ...facts, late: Math.max(facts.late ?? 0, LATE.twin) }
            : facts;
        missed.add(facts.key);
        return { ...facts, trouble };
      });
      const canServe = await this.#canServe(choosing, choice, signal);
      if (canServe && (round > TWIN_ROUNDS_MAX || !this.#findTwins(choosing, choice, twins))) {
        const counted = this.#countOthers(cluster, spec, choice);
        const unreadable = choice.isSatisfied ? undefined : this.#findUnreadable(choosing, choice);
        const schedule = { ...counted, ...(unreadable !== undefined && { unreadable }) };
        return { schedule, missed: [...missed] };
      }
      const wants = toWants(spec, choice);
      const next =
        round < ROUNDS_ALONE
          ? []
          : this.#listOthers(
              (facts) => this.#options.allows(key, facts.key) && wants(facts),
              missed,
            );
      await this.#ask(choosing, next.slice(0, 2 ** round * READ_AHEAD), signal);
    }
  }

  /** Reads what free hosts say that were not asked yet. */
  async #ask(
    { answers }: Choosing,
    hosts: readonly BareMetalHost[],
    signal: AbortSignal,
  ): Promise<void> {
    const unasked = hosts.filter((host) => !answers.has(toKey(host)));
    for (const [key, answer] of await this.#options.addresses.readFree(unasked, signal))
      answers.set(key, answer);
  }

  /** What the API server says of the first Secret that it does not show, of hosts that the cluster could use. */
  #findUnreadable(choosing: Choosing, choice: Schedule): string | undefined {
    const wants = toWants(choosing.spec, choice);
    for (const facts of [...this.#options.index.listFree()].toSorted(byKey)) {
      const known = wants(facts) ? this.#findKnown(choosing, facts.key) : undefined;
      if (known?.kind === "trouble" && known.cause !== undefined) return known.cause;
    }
    return undefined;
  }

  /**
   * Adds to the reports of roles that lack hosts those that no decision looks at: hosts of other clusters, as a number,
   * and hosts with labels that no cluster has.
   */
  #countOthers(cluster: SipCluster, { nodes = {} }: SipClusterSpec, choice: Schedule): Schedule {
    if (choice.isSatisfied) return choice;
    const { index } = this.#options;
    const others = [...index.listOfOthers(toKey(cluster))];
    const claimants = ["", toKey(cluster)].flatMap((key) => [...index.listClaimants(key)]);
    const reports = Array.from(choice.reports, ([role, report]): [Role, RoleReport] => {
      if (report.missing === 0) return [role, report];
      const matches = toMatcher(nodes[role]?.labelSelector);
      const rejected = new Map(report.rejected);
      const refused = new Map(report.refused);
      const count = (reason: string): void => {
        rejected.set(reason, (rejected.get(reason) ?? 0) + 1);
      };
      for (const { labels } of others) if (matches(labels)) count(OF_OTHERS);
      for (const { key, labels, trouble = "" } of claimants.toSorted(byKey)) {
        if (!matches(labels)) continue;
        count(trouble);
        if (refused.size < REFUSED_MAX) refused.set(key, trouble);
      }
      const sorted = [...rejected].toSorted(([, a], [, b]) => b - a);
      return [role, { ...report, rejected: new Map(sorted), refused }];
    });
    return { ...choice, reports: new Map(reports) };
  }

  /** The hosts that the cluster could take and that are not known to have no address. */
  #listOthers(
    wants: (host: HostFacts) => boolean,
    missed: ReadonlySet<Key>,
  ): readonly BareMetalHost[] {
    const { index } = this.#options;
    return Array.from(index.listFree())
      .filter((facts) => wants(facts) && facts.trouble === undefined && !missed.has(facts.key))
      .map(({ key }) => key)
      .toSorted()
      .flatMap((key) => index.find(key) ?? []);
  }

  #listOwn({ status, ...cluster }: SipCluster): readonly HostFacts[] {
    const { index, clock, errorGraceMs: graceMs } = this.#options;
    const own = [...index.listOf(toKey(cluster))];
    const nowMs = clock.now();
    return forgiveErrors(own, listErrorTimes(own, status?.hosts, nowMs), { nowMs, graceMs });
  }

  #decide({ key, spec, own }: Choosing, judge: (free: HostFacts) => HostFacts): Schedule {
    const { nodes = {}, scheduling = {} } = spec;
    const hosts = [...own, ...Array.from(this.#options.index.listFree(), judge)];
    return schedule({ cluster: key, nodes, scheduling, hosts });
  }

  /** Why a host is known to have no address; `undefined` also if nothing is known. */
  #findTrouble(choosing: Choosing, { key, trouble }: HostFacts): string | undefined {
    const known = trouble === undefined ? this.#findKnown(choosing, key) : undefined;
    return known?.kind === "trouble" ? known.trouble : undefined;
  }

  #findKnown({ networks, answers }: Choosing, key: Key): AddressResult | undefined {
    const answer = answers.get(key);
    if (answer !== undefined) return toAddresses(answer, networks);
    const host = networks.length > 0 ? this.#options.index.find(key) : undefined;
    return host && this.#options.addresses.findKnown(host, networks);
  }

  /** Whether all new hosts have an address on each network. Reads those of the hosts that the cluster has, too. */
  async #canServe(
    choosing: Choosing,
    { add }: Pick<Schedule, "add">,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { own, networks, answers } = choosing;
    if (networks.length === 0 || add.length === 0) return true;
    const { index, addresses } = this.#options;
    const find = (keys: readonly Key[]): readonly BareMetalHost[] =>
      keys.filter((key) => !answers.has(key)).flatMap((key) => index.find(key) ?? []);
    const known = await addresses.readAll(find(own.map(({ key }) => key)), signal);
    for (const [key, answer] of known) answers.set(key, answer);
    await this.#ask(choosing, find(add.map(({ host }) => host)), signal);
    return add.every(({ host }) => {
      const data = answers.get(host);
      return data === undefined || toAddresses(data, networks).kind === "addresses";
    });
  }

  /**
   * Finds the free hosts with an address of a host that the cluster keeps or takes.
   *
   * @returns Whether one that it takes is new among them: then decide again
   */
  #findTwins(choosing: Choosing, { add, giveBack }: Schedule, twins: Set<Key>): boolean {
    const leaving = new Set(giveBack.map(({ host }) => host));
    const staying = choosing.own.map(({ key }) => key).filter((key) => !leaving.has(key));
    const holders = new Map<string, Key>();
    const list = (key: Key): readonly string[] => {
      const known = this.#findKnown(choosing, key);
      return known?.kind === "addresses" ? Array.from(known.addresses, (one) => one.join(" ")) : [];
    };
    for (const key of add.length === 0 ? [] : [...staying, ...add.map(({ host }) => host)])
      for (const place of list(key)) if (!holders.has(place)) holders.set(place, key);
    const isTwin = (key: Key): boolean =>
      list(key).some((place) => (holders.get(place) ?? key) !== key);
    const isNew = add.some(({ host }) => !twins.has(host) && isTwin(host));
    if (isNew)
      for (const { key } of this.#options.index.listFree()) if (isTwin(key)) twins.add(key);
    return isNew;
  }
}
