/**
 * What a controller must do while a cloud misleads it, told once for every way in which one can.
 *
 * Five of ten Nodes are not Ready, and all ten machines are there. Meanwhile one machine is halted, two change in a way
 * that labels follow, and two that have Nodes of their own are deleted.
 * @module
 */
import { expect } from "bun:test";
import { DEFAULT_DELETION, type DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { FALLEN, GONE, HALTED, type Labels, LIVE, MOVED, type PartName, toPart } from "./fleet.ts";
import { type OutageStage, REFRESH_MS } from "./stage.ts";

/** A stage with a cloud, as the story needs it. */
export interface StoryStage extends OutageStage {
  /** Whether a process can prove that a machine is gone that it never saw. */
  readonly provesUnseen: boolean;
  /** What would happen without an outage, too. */
  happen(): void;
  /** Machines are deleted: those of {@linkcode GONE}. */
  lose(): void;
  /** Labels of a Node that follow its machine; absent when it did not change. */
  toFollowing(name: string, labels: Labels, movesPart: boolean): Labels | undefined;
}

/** A way in which a cloud can mislead. @typeParam R The stage that it happens on */
export interface Misleading<R> {
  readonly title: string;
  /** Begins it. Returns what ends it; nothing when it ends by itself. */
  readonly begin: (rig: R) => unknown;
  /** How long it lasts, in milliseconds. @default {four minutes; what can be ended lasts longer for a new process} */
  readonly lastsMs?: number;
  /** Parts whose machines are listed as they are meanwhile. @default {none} */
  readonly lists?: readonly PartName[];
  /** Parts that prove meanwhile what is gone from them. @default {none} */
  readonly proves?: readonly PartName[];
  /** The same for a controller that was started meanwhile. @default {proves} */
  readonly provesAnew?: readonly PartName[];
  /** Whether more machines look gone than the fleet limit lets go, so that none goes meanwhile. */
  readonly isMass?: boolean;
  /** Nodes whose machines move to the other part. */
  readonly movesPool?: readonly string[];
  /** Whether it looks in every way like a deletion, so that only time tells. */
  readonly needsTime?: boolean;
  /** Whether the controller forgets what it saw, so that it can only prove what goes after the end. */
  readonly forgets?: boolean;
}

/** How careful the controller is, and whether it is started anew in the middle. */
export interface TellingManner {
  readonly deletion: DeletionSettings;
  readonly isAnew: boolean;
  readonly outOfService?: unknown;
}

/** Nothing but the proof stands between a Node and its deletion. */
export const PROOF_ALONE: DeletionSettings = {
  ...DEFAULT_DELETION,
  confirmations: 1,
  holdOffMs: 0,
  fleetShare: 1,
};
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

/** The story of one outage. */
export class Story<R extends StoryStage> {
  readonly #rig: R;
  readonly #outage: Misleading<R>;
  readonly #manner: TellingManner;
  readonly #before: ReadonlyMap<string, Node>;
  #lastsMs = LASTS_MS;

  constructor(rig: R, outage: Misleading<R>, manner: TellingManner) {
    this.#rig = rig;
    this.#outage = outage;
    this.#manner = manner;
    this.#before = new Map([...LIVE, ...GONE].map((name) => [name, this.#read(name)]));
  }

  /** Begins the outage, lets time go on, ends it, and expects at each step what must be so. */
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
    if (this.#losesLate) this.#rig.lose();
    await clock.advance(deletion.holdOffMs + REFRESH_MS);
    await this.#untilGone(isAnew || this.#losesLate ? NEVER_SEEN_MS : 0);
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

  /** Whether machines are deleted only after the end, because what is deleted before is never proven gone. */
  get #losesLate(): boolean {
    const { forgets = false } = this.#outage;
    return forgets || (this.#manner.isAnew && !this.#rig.provesUnseen);
  }

  /** What would happen without an outage, too. */
  #happen(): void {
    for (const name of [...FALLEN, ...GONE, HALTED]) this.#rig.setReady(name, false);
    this.#rig.happen();
    if (!this.#losesLate) this.#rig.lose();
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
    const isListed = (name: string): boolean => lists.includes(toPart(name));
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
    const going = isLimited || this.#losesLate ? [] : isAnew ? provesAnew : proves;
    const isGoing = (name: string): boolean => going.includes(toPart(name));
    const gone = GONE.filter((name) => this.#rig.readNode(name) === undefined);
    expect({ tooEarly: gone.filter((name) => !isGoing(name)) }).toEqual({ tooEarly: [] });
    if (hadMs > needsMs) {
      expect({ gone }).toEqual({ gone: GONE.filter(isGoing) });
    }
  }

  /** Of live Nodes none is or was asked to be deleted, tainted without reason, or given false labels or addresses. */
  #expectLive(when: string): void {
    const rig = this.#rig;
    const deleted = rig.kubernetes.requests.entries
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
    return this.#rig.toFollowing(name, labels, this.#listMovingPool().includes(name));
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

function isOutOfService({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) ?? false;
}

function hasShutdown({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === SHUTDOWN) ?? false;
}
