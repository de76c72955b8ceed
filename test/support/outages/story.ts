/**
 * What a controller must do while a cloud misleads it, told once for every way in which one can.
 *
 * Five of ten Nodes are not Ready, and all ten machines are there. Meanwhile one machine is halted, two move to another
 * host, and two that have Nodes of their own are deleted.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION, type DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import type { OutOfServiceSettings } from "../../../lib/cloud/deletion/off_streaks.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { readExtent } from "../extent.ts";
import { OutageRig, type PoolName, REFRESH_MS } from "./rig.ts";

/** A way in which a cloud can mislead. */
export interface Outage {
  readonly title: string;
  /** Begins it. Returns what ends it; nothing when it ends by itself. */
  readonly begin: (rig: OutageRig) => unknown;
  /** How long it lasts, in milliseconds. @default {four minutes; what can be ended lasts longer for a new process} */
  readonly lastsMs?: number;
  /** Pools whose machines are listed as they are meanwhile. @default {none} */
  readonly lists?: readonly PoolName[];
  /** Pools that prove meanwhile what is gone from them. @default {none} */
  readonly proves?: readonly PoolName[];
  /** The same for a controller that was started meanwhile. @default {proves} */
  readonly provesAnew?: readonly PoolName[];
  /** Whether more machines look gone than the fleet limit lets go, so that none goes meanwhile. */
  readonly isMass?: boolean;
  /** Nodes whose machines move to the other pool. */
  readonly movesPool?: readonly string[];
  /** Whether it looks in every way like a deletion, so that only time tells. */
  readonly needsTime?: boolean;
}

/** Nothing but the proof stands between a Node and its deletion. */
const PROOF_ALONE: DeletionSettings = {
  ...DEFAULT_DELETION,
  confirmations: 1,
  holdOffMs: 0,
  fleetShare: 1,
};
/** Nothing but the proof stands between a Node and the out-of-service taint. */
const POWER_PROOF_ALONE: OutOfServiceSettings = { confirmations: 1, graceMs: 0 };
const LASTS_MS = 240_000;
/** What a process never saw it does not miss before. */
const NEVER_SEEN_MS = 600_000;
/** So long that a process that starts meanwhile misses what it never saw. */
const LASTS_ANEW_MS = 750_000;
const STEPS = 8;
/** Before this step a new process takes over. */
const ANEW_STEP = 2;
/** The period of the lifecycle controller and the time between two looks at a machine that is missing. */
const PERIOD_MS = 5_000;
const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";
const SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown";
const FALLEN = ["alpha-1", "alpha-2", "alpha-3", "alpha-4", "alpha-5"];
const LIVE = [...FALLEN, "beta-1", "beta-2", "beta-3", "beta-4", "beta-5"];
const HALTED = "beta-1";
const MOVED = ["alpha-2", "beta-2"];
const GONE = ["alpha-gone", "beta-gone"];

type Labels = Readonly<Record<string, string>>;

/** How careful the controller is, and whether it is started anew in the middle. */
interface Manner {
  readonly deletion: DeletionSettings;
  readonly isAnew: boolean;
  /** Whether the cloud tells of changes as they happen. */
  readonly hasEvents: boolean;
  /** The out-of-service controller runs, too, as careful as this says. */
  readonly outOfService?: OutOfServiceSettings;
}

/**
 * Defines the tests of some outages.
 *
 * With the proof alone each outage is tested twice: with and without the out-of-service controller. What differs is
 * only that controller, so without it they run where all tests do. So do those of a cloud without events: less can go
 * wrong there.
 */
export function describeOutages(title: string, outages: readonly Outage[]): void {
  const onlyInCi: [string, Manner][] = [
    [
      "out of the box, where the cloud has no events",
      { deletion: DEFAULT_DELETION, isAnew: false, hasEvents: false },
    ],
    [
      "with nothing but the proof of absence",
      { deletion: PROOF_ALONE, isAnew: false, hasEvents: true },
    ],
    [
      "with the proof alone, by a process that starts meanwhile",
      { deletion: PROOF_ALONE, isAnew: true, hasEvents: true },
    ],
  ];
  const manners: [string, Manner][] = [
    ["out of the box", { deletion: DEFAULT_DELETION, isAnew: false, hasEvents: true }],
    ...(readExtent() === "all" ? onlyInCi : []),
    [
      "where Nodes are taken out of service by nothing but the proof",
      { deletion: PROOF_ALONE, isAnew: false, hasEvents: true, outOfService: POWER_PROOF_ALONE },
    ],
    [
      "where Nodes are taken out of service by the proof alone, by a process that starts meanwhile",
      { deletion: PROOF_ALONE, isAnew: true, hasEvents: true, outOfService: POWER_PROOF_ALONE },
    ],
  ];
  describe.each(manners)(`no live Node is lost ${title}, %s`, (_title, manner) => {
    const rows = outages.filter(
      ({ needsTime }) => !needsTime || manner.deletion === DEFAULT_DELETION,
    );
    test.each(rows.map((row) => [row.title, row] as const))("%s", async (_row, outage) => {
      const { deletion, hasEvents, outOfService } = manner;
      const more = outOfService && { outOfService };
      await using rig = await OutageRig.start(deletion, hasEvents, more);
      await new Story(rig, outage, manner).tell();
    });
  });
}

class Story {
  readonly #rig: OutageRig;
  readonly #outage: Outage;
  readonly #manner: Manner;
  readonly #before: ReadonlyMap<string, Node>;
  #lastsMs = LASTS_MS;

  constructor(rig: OutageRig, outage: Outage, manner: Manner) {
    this.#rig = rig;
    this.#outage = outage;
    this.#manner = manner;
    this.#before = new Map([...LIVE, ...GONE].map((name) => [name, this.#read(name)]));
  }

  async tell(): Promise<void> {
    const { clock } = this.#rig;
    const { deletion, isAnew } = this.#manner;
    const end = await this.#outage.begin(this.#rig);
    const canLast = isAnew && typeof end === "function";
    this.#lastsMs = this.#outage.lastsMs ?? (canLast ? LASTS_ANEW_MS : LASTS_MS);
    this.#happen();
    await this.#endure();
    this.#expectMeanwhile();
    if (typeof end === "function") await end();
    await clock.advance(REFRESH_MS + PERIOD_MS);
    this.#expectLive("right one refresh after the end");
    this.#expectLabels("after the end", [...MOVED, ...this.#listMovingPool()]);
    expect(this.#listShutdown()).toEqual([HALTED]);
    const { outOfService } = this.#manner;
    await clock.advance(deletion.holdOffMs + REFRESH_MS);
    await this.#untilGone(isAnew ? NEVER_SEEN_MS : 0);
    expect(this.#rig.listNodes()).toEqual(LIVE.toSorted());
    expect(LIVE.filter((name) => isOutOfService(this.#read(name)))).toEqual(
      outOfService ? [HALTED] : [],
    );
    for (const name of FALLEN) this.#rig.setReady(name, true);
    await this.#expectRest();
  }

  /** Waits until the Nodes of machines that are gone are gone as well, or for so long. */
  async #untilGone(ms: number): Promise<void> {
    const { clock } = this.#rig;
    const endMs = clock.monotonic() + ms;
    while (GONE.some((name) => this.#rig.readNode(name)) && clock.monotonic() < endMs) {
      await clock.advance(REFRESH_MS);
    }
  }

  /** What would happen without an outage, too. */
  #happen(): void {
    const rig = this.#rig;
    const { state } = rig.servers.cloud;
    for (const name of [...FALLEN, ...GONE, HALTED]) rig.setReady(name, false);
    state.setPower(rig.toVmId(HALTED), "Halted");
    for (const name of MOVED)
      state.migrateLive(rig.toVmId(name), rig.pools[toPool(name)].hostIds[1]);
    for (const name of GONE) state.removeVm(rig.toVmId(name));
  }

  async #endure(): Promise<void> {
    const { clock } = this.#rig;
    const lastsMs = this.#lastsMs;
    const startMs = clock.monotonic();
    for (let step = 1; step <= STEPS; step += 1) {
      if (this.#manner.isAnew && step === ANEW_STEP) {
        await this.#rig.stopApp();
        await this.#rig.startApp();
      }
      // What ends by itself has not ended yet at the last look.
      const untilMs = startMs + (lastsMs * step) / STEPS - 1;
      await clock.advance(untilMs - clock.monotonic());
      this.#expectLive(`step ${step}`);
    }
  }

  #expectMeanwhile(): void {
    const { lists = [], proves = [], provesAnew = proves } = this.#outage;
    const lastsMs = this.#lastsMs;
    const { isMass = false } = this.#outage;
    const { deletion, isAnew } = this.#manner;
    const isListed = (name: string): boolean => lists.includes(toPool(name));
    // In less than one refresh it may be seen, or not yet.
    if (lastsMs > REFRESH_MS + PERIOD_MS) {
      this.#expectLabels("meanwhile", MOVED.filter(isListed));
      const tainted = isListed(HALTED) ? [HALTED] : [];
      expect({ tainted: this.#listShutdown() }).toEqual({ tainted });
    }
    const isLimited = isMass && deletion.fleetShare < 1;
    // How long the process that runs at the end had for it, and how long it needs.
    const hadMs = isAnew ? (lastsMs * (STEPS - ANEW_STEP + 1)) / STEPS : lastsMs;
    const needsMs = (isAnew ? NEVER_SEEN_MS : deletion.holdOffMs) + REFRESH_MS + PERIOD_MS;
    const going = isLimited ? [] : isAnew ? provesAnew : proves;
    const isGoing = (name: string): boolean => going.includes(toPool(name));
    const gone = GONE.filter((name) => this.#rig.readNode(name) === undefined);
    expect({ tooEarly: gone.filter((name) => !isGoing(name)) }).toEqual({ tooEarly: [] });
    if (hadMs > needsMs) {
      expect({ gone }).toEqual({ gone: GONE.filter(isGoing) });
    }
  }

  /** Of live Nodes none is or was asked to be deleted, tainted without reason, or given false labels or addresses. */
  #expectLive(when: string): void {
    const rig = this.#rig;
    const deleted = rig.servers.kubernetes.requests.entries
      .filter(({ verb, resource }) => verb === "delete" && resource === "nodes")
      .map(({ name }) => name)
      .filter((name) => !GONE.includes(name));
    const missing = LIVE.filter((name) => rig.readNode(name) === undefined);
    const wrong = rig.versions.flatMap((node) => this.#listFaults(node));
    expect({ when, deleted, missing, wrong }).toEqual({
      when,
      deleted: [],
      missing: [],
      wrong: [],
    });
  }

  #listFaults(node: Node): string[] {
    const { name, labels = {} } = node.metadata;
    const before = this.#before.get(name);
    const allowed = [before?.metadata.labels ?? {}, this.#toFollowing(name)];
    const faults: string[] = [];
    if (!allowed.some((one) => one && Bun.deepEquals(one, labels))) {
      faults.push(`labels of ${name}: ${JSON.stringify(labels)}`);
    }
    const addresses = JSON.stringify(node.status?.addresses);
    if (addresses !== JSON.stringify(before?.status?.addresses)) {
      faults.push(`addresses of ${name}: ${addresses}`);
    }
    if (name !== HALTED && hasShutdown(node)) faults.push(`taint of ${name}`);
    const mayBeOff = name === HALTED || GONE.includes(name);
    if (!mayBeOff && isOutOfService(node)) faults.push(`${name} is out of service`);
    return faults;
  }

  /** The machines of `followers` show where they are, all others where they were. */
  #expectLabels(when: string, followers: readonly string[]): void {
    for (const name of LIVE) {
      const before = this.#before.get(name)?.metadata.labels;
      const wanted = followers.includes(name) ? this.#toFollowing(name) : before;
      expect({ when, name, ...this.#read(name).metadata.labels }).toEqual({
        when,
        name,
        ...wanted,
      });
    }
  }

  /** Labels of a Node that follow its machine to where it went; absent when it went nowhere. */
  #toFollowing(name: string): Labels | undefined {
    const labels = this.#before.get(name)?.metadata.labels ?? {};
    const from = toPool(name);
    if (this.#listMovingPool().includes(name)) {
      return toMoved(this.#rig, labels, { from, to: toOther(from), host: 0 });
    }
    if (!MOVED.includes(name)) return undefined;
    return toMoved(this.#rig, labels, { from, to: from, host: 1 });
  }

  #listMovingPool(): readonly string[] {
    return this.#outage.movesPool ?? [];
  }

  /** Kubelets are back: nothing is left to do, and nothing is done. */
  async #expectRest(): Promise<void> {
    const rig = this.#rig;
    await rig.clock.advance(REFRESH_MS);
    const writes = rig.countWrites();
    await rig.clock.advance(2 * REFRESH_MS);
    expect(rig.countWrites()).toBe(writes);
    expect(this.#listShutdown()).toEqual([HALTED]);
    const metrics = rig.metrics.render();
    expect(metrics).not.toMatch(/^landfall_node_deletions_blocked\{/m);
    expect(metrics).not.toMatch(/^workqueue_depth\{.*\} [^0]/m);
    expect(metrics).not.toMatch(/^landfall_inventory_covered\{.*\} 0/m);
    this.#expectLive("at the end");
  }

  #listShutdown(): string[] {
    return this.#rig.listNodes().filter((name) => hasShutdown(this.#read(name)));
  }

  #read(name: string): Node {
    const node = this.#rig.readNode(name);
    if (node === undefined) throw new Error(`Node ${name} is gone`);
    return node;
  }
}

function toPool(name: string): PoolName {
  return name.startsWith("alpha") ? "alpha" : "beta";
}

function toOther(pool: PoolName): PoolName {
  return pool === "alpha" ? "beta" : "alpha";
}

function isOutOfService({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) ?? false;
}

function hasShutdown({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === SHUTDOWN) ?? false;
}

/** Labels after a move from the first host of a pool. */
function toMoved(
  { pools }: OutageRig,
  labels: Labels,
  { from, to, host }: { from: PoolName; to: PoolName; host: 0 | 1 },
): Labels {
  const { id: poolId, hostIds } = pools[to];
  const own = "topology.k8s.xenorchestra";
  return {
    ...labels,
    "topology.kubernetes.io/zone": hostIds[host],
    "failure-domain.beta.kubernetes.io/zone": hostIds[host],
    "topology.kubernetes.io/region": poolId,
    "failure-domain.beta.kubernetes.io/region": poolId,
    [`${own}/pool_id`]: poolId,
    [`${own}/pool_name_label`]: to,
    [`${own}/host_id`]: hostIds[host],
    [`${own}/host_name_label`]: `${to}-${host + 1}`,
    [`${own}/original_host_id`]: pools[from].hostIds[0],
    ...(from !== to && { [`${own}/original_pool_id`]: pools[from].id }),
  };
}
