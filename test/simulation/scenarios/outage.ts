/**
 * What the program must do while a cloud misleads it, told once for every way in which one can.
 *
 * Five of ten Nodes are not Ready, and all ten machines are there. Meanwhile one machine is halted, two change in a way
 * that labels follow, and two that have Nodes of their own are deleted.
 * @module
 */
import { DEFAULT_DELETION, type DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import type { Cloud } from "../world/cloud.ts";
import { check, type Telling } from "./scenario.ts";
import type { Ending } from "../ending.ts";
import {
  type Care,
  FLEET,
  GONE,
  LIVE,
  type PartName,
  REFRESH_MS,
  type Stage,
  toPart,
} from "./stage.ts";

/** Ends what was begun; nothing when it ends by itself. */
type End = (() => unknown) | void;

/** A way in which a cloud can mislead. */
export interface Outage<C extends Cloud> {
  readonly name: string;
  /** Begins it. Returns what ends it. */
  readonly begin: (stage: Stage<C>) => End | Promise<End>;
  /** How long it lasts, in milliseconds. @default {four minutes; what can be ended lasts longer for a new process} */
  readonly lastsMs?: number;
  /** Parts whose machines are listed as they are meanwhile. @default {none} */
  readonly lists?: readonly PartName[];
  /** Parts that prove meanwhile what is gone from them. @default {none} */
  readonly proves?: readonly PartName[];
  /** The same for a process that was started meanwhile. @default {proves} */
  readonly provesAfterRestart?: readonly PartName[];
  /** Whether more machines look gone than the fleet limit lets go, so that none goes meanwhile. */
  readonly isMass?: boolean;
  /** Nodes whose machines move to the other part. */
  readonly movesPart?: readonly string[];
  /** Whether it looks in every way like a deletion, so that only time tells. */
  readonly needsTime?: boolean;
  /** Whether the process forgets what it saw, so that it can only prove what goes after the end. */
  readonly forgets?: boolean;
  /** Whether another outage is much like it, so that it is only in CI. */
  readonly isVariant?: boolean;
}

/** How careful the program is, and whether another process takes over in the middle. */
interface Manner extends Care {
  readonly restarts: boolean;
}

/** One of the manners in which outages are told. */
export interface OutageManner extends Manner {
  readonly name: string;
  /** Whether only CI tells them so. */
  readonly isOfCi: boolean;
}

type Labels = Readonly<Record<string, string>>;

/** What differs from cloud to cloud. */
interface OutageRules<C extends Cloud> {
  /** Whether a process can prove that a machine is gone that it never saw. */
  readonly provesUnseen: boolean;
  /** Switches a machine off. */
  readonly halt: (cloud: C, vmId: string) => void;
  /** Changes a machine in a way that labels follow. */
  readonly move: (cloud: C, vmId: string) => void;
  /** Labels that say where a machine came from, by the label of where it is. */
  readonly origins: Readonly<Record<string, string>>;
  /** Deletes a machine. */
  readonly lose: (cloud: C, vmId: string) => void;
}

/** Nothing but the proof stands between a Node and its deletion. */
export const PROOF_ALONE: DeletionSettings = {
  ...DEFAULT_DELETION,
  confirmations: 1,
  holdOffMs: 0,
  fleetShare: 1,
};
/** Nodes that are not Ready although their machines run. */
export const FALLEN: readonly string[] = LIVE.filter((name) => name.startsWith("alpha"));
/** The Node whose machine is switched off. */
const HALTED = "beta-1";
/** Nodes whose machines change in a way that labels follow. */
const MOVED: readonly string[] = ["alpha-2", "beta-2"];
const LASTS_MS = 240_000;
/** What a process never saw it does not miss before. */
const NEVER_SEEN_MS = 600_000;
/** So long that a process that starts meanwhile misses what it never saw. */
const LASTS_RESTART_MS = 750_000;
const STEPS = 8;
/** Before this step a new process takes over. */
const RESTART_STEP = 2;
/** The period of the lifecycle controller and the time between two looks at a machine that is missing. */
const PERIOD_MS = 5_000;
const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";
const SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown";

/** Tells an outage in every manner. What only time tells from a deletion needs the settings of a new installation. */
export function listTellings<C extends Cloud, M extends OutageManner>(
  outage: Outage<C>,
  manners: readonly M[],
  rules: OutageRules<C>,
  tell: (name: string, manner: M, act: (stage: Stage<C>) => Promise<void>) => Promise<Ending>,
): Telling[] {
  const { needsTime = false, isVariant = false } = outage;
  const fit = manners.filter(({ deletion }) => !needsTime || deletion === DEFAULT_DELETION);
  return fit.map((manner): Telling => {
    const name = `${outage.name}/${manner.name}`;
    const isOfCi = isVariant || (manner.isOfCi && !(needsTime && manner.name === "default"));
    const act = (stage: Stage<C>): Promise<void> =>
      new OutageStory(stage, outage, manner, rules).tell();
    return { name, isOfCi, tell: () => tell(name, manner, act) };
  });
}

/** One outage on a stage. */
class OutageStory<C extends Cloud> {
  readonly #stage: Stage<C>;
  readonly #outage: Outage<C>;
  readonly #manner: Manner;
  readonly #rules: OutageRules<C>;
  readonly #before: ReadonlyMap<string, Node>;
  readonly #faults: string[] = [];

  constructor(stage: Stage<C>, outage: Outage<C>, manner: Manner, rules: OutageRules<C>) {
    this.#stage = stage;
    this.#outage = outage;
    this.#manner = manner;
    this.#rules = rules;
    this.#before = new Map(FLEET.map((name) => [name, stage.read(name)]));
    stage.world.server.follow<Node>("nodes", ({ after }) => this.#judge(after));
  }

  /** Begins the outage, lets time go on, ends it, and expects at each step what must be so. */
  async tell(): Promise<void> {
    const stage = this.#stage;
    const { deletion, restarts, outOfService } = this.#manner;
    const end = await this.#outage.begin(stage);
    const lastsMs = this.#outage.lastsMs ?? (restarts && end ? LASTS_RESTART_MS : LASTS_MS);
    this.#happen();
    await this.#endure(lastsMs);
    this.#expectMeanwhile(lastsMs);
    await end?.();
    await stage.pass(REFRESH_MS + PERIOD_MS);
    this.#expectLive();
    this.#expectLabels([...MOVED, ...(this.#outage.movesPart ?? [])]);
    check("Nodes that are shut down", this.#listTainted(SHUTDOWN), [HALTED]);
    if (this.#losesLate) this.#lose();
    await stage.pass(deletion.holdOffMs + REFRESH_MS);
    let leftMs = restarts || this.#losesLate ? NEVER_SEEN_MS : 0;
    for (; leftMs > 0 && GONE.some((name) => stage.world.findNode(name)); leftMs -= REFRESH_MS)
      await stage.pass(REFRESH_MS);
    stage.expectGone(...GONE);
    const off = outOfService ? [HALTED] : [];
    check("Nodes that are out of service", this.#listTainted(OUT_OF_SERVICE), off);
    this.#expectLive();
  }

  /** Whether machines are deleted only after the end, because what is deleted before is never proven gone. */
  get #losesLate(): boolean {
    const { forgets = false } = this.#outage;
    return forgets || (this.#manner.restarts && !this.#rules.provesUnseen);
  }

  /** What would happen without an outage, too. */
  #happen(): void {
    const { cloud } = this.#stage;
    for (const name of [...FALLEN, ...GONE, HALTED]) this.#stage.fall(name);
    this.#rules.halt(cloud, this.#stage.toVmId(HALTED));
    for (const name of MOVED) this.#rules.move(cloud, this.#stage.toVmId(name));
    if (!this.#losesLate) this.#lose();
  }

  #lose(): void {
    for (const name of GONE) this.#rules.lose(this.#stage.cloud, this.#stage.toVmId(name));
  }

  async #endure(lastsMs: number): Promise<void> {
    const { timeline } = this.#stage.world;
    const startMs = timeline.monotonic();
    for (let step = 1; step <= STEPS; step += 1) {
      if (this.#manner.restarts && step === RESTART_STEP) await this.#stage.restart();
      // What ends by itself has not ended yet at the last look.
      const untilMs = startMs + (lastsMs * step) / STEPS - 1;
      await this.#stage.pass(Math.max(0, untilMs - timeline.monotonic()));
      this.#expectLive();
    }
  }

  #expectMeanwhile(lastsMs: number): void {
    const { lists = [], proves = [], provesAfterRestart = proves, isMass = false } = this.#outage;
    const { deletion, restarts } = this.#manner;
    const isListed = (name: string): boolean => lists.includes(toPart(name));
    // In less than one refresh it may be seen, or not yet.
    if (lastsMs > REFRESH_MS + PERIOD_MS) {
      this.#expectLabels(MOVED.filter(isListed));
      const off = isListed(HALTED) ? [HALTED] : [];
      check("Nodes that are shut down meanwhile", this.#listTainted(SHUTDOWN), off);
    }
    const isLimited = isMass && deletion.fleetShare < 1;
    // How long the process that runs at the end had for it, and how long it needs.
    const hadMs = restarts ? (lastsMs * (STEPS - RESTART_STEP + 1)) / STEPS : lastsMs;
    const needsMs = (restarts ? NEVER_SEEN_MS : deletion.holdOffMs) + REFRESH_MS + PERIOD_MS;
    const going = isLimited || this.#losesLate ? [] : restarts ? provesAfterRestart : proves;
    const gone = GONE.filter((name) => this.#stage.world.findNode(name) === undefined);
    const proven = GONE.filter((name) => going.includes(toPart(name)));
    const early = gone.filter((name) => !proven.includes(name));
    check("Nodes that are gone too early", early, []);
    if (hadMs > needsMs) check("Nodes that are gone meanwhile", gone, proven);
  }

  /** What the judges of all stories let pass: it is true, and nothing here should make the program write it. */
  #judge(node: Node | undefined): void {
    if (node === undefined) return;
    const { name } = node.metadata;
    const before = this.#before.get(name);
    if (!Bun.deepEquals(node.status?.addresses, before?.status?.addresses))
      this.#faults.push(`addresses of ${name}: ${JSON.stringify(node.status?.addresses)}`);
    if (name !== HALTED && hasTaint(node, SHUTDOWN)) this.#faults.push(`${name} is shut down`);
    const mayBeOff = name === HALTED || GONE.includes(name);
    if (!mayBeOff && hasTaint(node, OUT_OF_SERVICE)) this.#faults.push(`${name} is out of service`);
  }

  #expectLive(): void {
    this.#stage.expectKept(...LIVE);
    check("what was written of Nodes and should not be", this.#faults, []);
    check("violations", this.#stage.world.violations, []);
  }

  /** The machines of `followers` show where they are, all others where they were. */
  #expectLabels(followers: readonly string[]): void {
    const { truth, said } = this.#stage.world;
    for (const name of LIVE) {
      const before = this.#before.get(name)?.metadata.labels;
      const now = this.#stage.read(name).metadata.labels;
      const wanted = followers.includes(name)
        ? this.#toFollowing(before, truth.toLabels(this.#stage.toVmId(name), said.labels))
        : before;
      check(`labels of Node ${name}`, now, wanted);
      if (followers.includes(name) === Bun.deepEquals(now, before))
        throw new Error(`labels of Node ${name} should follow its machine, and nothing else`);
    }
  }

  #toFollowing(before: Labels = {}, after: Labels): Labels {
    const moved = Object.entries(this.#rules.origins).filter(([key]) => before[key] !== after[key]);
    const origins = moved.map(([key, origin]) => [origin, before[key] ?? ""] as const);
    return { ...before, ...after, ...Object.fromEntries(origins) };
  }

  #listTainted(key: string): string[] {
    return LIVE.filter((name) => hasTaint(this.#stage.read(name), key));
  }
}

function hasTaint({ spec }: Node, wanted: string): boolean {
  return spec?.taints?.some(({ key }) => key === wanted) ?? false;
}
