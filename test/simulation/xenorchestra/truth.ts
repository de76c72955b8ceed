/**
 * What is true of a virtual machine, worked out from its records alone: an oracle that shares no code with what it
 * judges.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { XoRecord } from "../../../lib/simulator/xenorchestra/mod.ts";
import type { Timeline } from "../timeline.ts";
import { type Span, type Truth, REGION, toAll, TYPE, ZONE } from "../world/cloud.ts";
import type { LabelSettings } from "../world/settings_file.ts";
import type { StateWithCopies } from "./copies.ts";
import { drawFrom, type Random, type Seed } from "../../support/random.ts";

/** Begins the keys of tags that become labels. */
export const TAG_PREFIX = "tags.example/";

/** The labels that they become. */
export const TAG_LABELS: readonly string[] = ["a", "b", "c"].map((key) => TAG_PREFIX + key);

/** What labels tell of a machine, for a while. */
interface Fact {
  readonly fromMs: number;
  readonly poolId: string;
  /** Absent while it does not run. */
  readonly hostId: string | undefined;
  readonly name: string;
  readonly size: string;
  /** What its tag says of its type. */
  readonly tagged: string | undefined;
  /** What its tags say of labels. */
  readonly tags: Readonly<Record<string, string>>;
}

/** What labels tell of a copy of a machine, while there is one. */
interface CopyFact {
  readonly fact: Fact;
  /** `Infinity` while there is one. */
  readonly untilMs: number;
}

/** A name, for a while. */
interface Naming {
  readonly fromMs: number;
  readonly name: string;
}

const PREFIX = "topology.k8s.xenorchestra";
const HOST_ID = `${PREFIX}/host_id`;
const POOL_ID = `${PREFIX}/pool_id`;
const VM_NAME = "vm.k8s.xenorchestra/name_label";
const ORIGINS: Readonly<Record<string, string>> = {
  [`${PREFIX}/original_host_id`]: HOST_ID,
  [`${PREFIX}/original_pool_id`]: POOL_ID,
};
const POOL_NAME = `${PREFIX}/pool_name_label`;
const HOST_NAME = `${PREFIX}/host_name_label`;
/** Labels of where a machine runs. */
const KEPT: ReadonlySet<string> = new Set([...ZONE, HOST_ID, HOST_NAME]);
const HOST_ZONE: LabelSettings = { zoneFrom: "host" };
const GIB = 2 ** 30;
/** Begins the tag of a machine that may say its type. */
export const TYPE_TAG = "size-";

/** Every label that may be ours. */
export const OUR_LABELS: ReadonlySet<string> = new Set([
  ...REGION,
  ...ZONE,
  ...TYPE,
  HOST_ID,
  HOST_NAME,
  POOL_ID,
  POOL_NAME,
  VM_NAME,
  ...Object.keys(ORIGINS),
  ...TAG_LABELS,
]);

/** Labels of ours that people edit: those that follow the machine. Others are never put right. */
export const EDITED_LABELS: readonly string[] = [...OUR_LABELS].filter(
  (key) => !ORIGINS[key] && !TAG_LABELS.includes(key),
);

/** What is true now, and what was. */
export class XenOrchestraTruth implements Truth {
  readonly #cloud: { readonly state: StateWithCopies };
  readonly #timeline: Timeline;
  /** By the machine's UUID, oldest first. */
  readonly #facts = new Map<string, Fact[]>();
  /** By the machine's UUID. The cloud may show these in its place. */
  readonly #copies = new Map<string, CopyFact[]>();
  /** By the ID of a host or pool, oldest first. */
  readonly #names = new Map<string, Naming[]>();

  constructor(cloud: { readonly state: StateWithCopies }, timeline: Timeline) {
    this.#cloud = cloud;
    this.#timeline = timeline;
  }

  /** A machine, whether it shows just now or not; absent when there is none. */
  find(vmId: string): XoRecord | undefined {
    return this.#cloud.state.all("vms").get(vmId);
  }

  has(vmId: string): boolean {
    return this.find(vmId) !== undefined;
  }

  isGone(vmId: string): boolean {
    return !this.has(vmId) && !this.isTemplate(vmId);
  }

  /** Whether a machine was turned into a template. */
  isTemplate(vmId: string): boolean {
    return this.#cloud.state.all("vm-templates").has(vmId);
  }

  /** Whether a machine runs. */
  isRunning(vmId: string): boolean {
    return this.find(vmId)?.["power_state"] === "Running";
  }

  /** Whether a machine is in a pool, or ever was. */
  wasIn(vmId: string, poolId: string): boolean {
    return this.#facts.get(vmId)?.some((fact) => fact.poolId === poolId) ?? false;
  }

  /** Takes in what is true now. To be called after each change. */
  note(): void {
    const fromMs = this.#timeline.monotonic();
    const { state } = this.#cloud;
    for (const collection of ["pools", "hosts"] as const) {
      for (const [id, record] of state.all(collection)) {
        const known = this.#names.get(id) ?? [];
        const name = toName(record);
        if (known.at(-1)?.name !== name) this.#names.set(id, [...known, { fromMs, name }]);
      }
    }
    for (const [id, vm] of state.all("vms")) {
      const known = this.#facts.get(id) ?? [];
      const fact = this.#toFact(vm, fromMs);
      if (!isSame(known.at(-1), fact)) this.#facts.set(id, [...known, fact]);
    }
    this.#noteCopies(fromMs);
  }

  #noteCopies(nowMs: number): void {
    const { copies } = this.#cloud.state;
    for (const [id, known] of this.#copies) {
      const end = (one: CopyFact): CopyFact => ({ ...one, untilMs: Math.min(one.untilMs, nowMs) });
      this.#copies.set(id, known.map(end));
    }
    for (const [id, copy] of copies) {
      const fact = this.#toFact(copy, nowMs);
      const known = this.#copies.get(id) ?? [];
      const others = known.filter((one) => one.fact.poolId !== fact.poolId);
      this.#copies.set(id, [...others, { fact, untilMs: Infinity }]);
    }
  }

  /**
   * Whether a label of ours was true of a machine, or that it had none, at some moment of a span that ends now.
   * Machines, hosts and pools are lists of their own, so a place may be told with the name that it had at another
   * moment of the span.
   *
   * Two things may be of any time: where a machine came from, which is the past itself, and where one is that does not
   * run, for that stays as it was told last.
   */
  wasTrue(
    vmId: string,
    key: string,
    value: string | undefined,
    { sinceMs, labels, past }: Span,
  ): boolean {
    const known = this.#facts.get(vmId) ?? [];
    const copies = this.#copies.get(vmId) ?? [];
    const all = [...copies.map(({ fact }) => fact), ...known];
    const shown = copies.flatMap(({ fact, untilMs }) => (untilMs > sinceMs ? [fact] : []));
    const facts = [...shown, ...listSince(known, sinceMs)];
    const origin = ORIGINS[key];
    if (origin !== undefined)
      return all.some((fact) => toLabels(fact, HOST_ZONE)[origin] === value);
    const tells = (one: Fact, settings: readonly LabelSettings[], fromMs: number): boolean => {
      if (key === HOST_NAME) return this.#hadName(one.hostId, value ?? "", fromMs);
      if (key === POOL_NAME) return this.#hadName(one.poolId, value ?? "", fromMs);
      return settings.some((said) => toLabels(one, said)[key] === value);
    };
    if (facts.some((fact) => tells(fact, labels, sinceMs))) return true;
    const isKept = KEPT.has(key) && facts.some(({ hostId }) => hostId === undefined);
    return isKept && all.some((fact) => tells(fact, past, -Infinity));
  }

  /** The labels that are true of a machine now. One that does not run has no host. */
  toLabels(vmId: string, settings: LabelSettings): Readonly<Record<string, string>> {
    const vm = this.find(vmId);
    if (vm === undefined) return {};
    const { state } = this.#cloud;
    const fact = this.#toFact(vm, this.#timeline.monotonic());
    const { poolId, hostId } = fact;
    return {
      ...toLabels(fact, settings),
      [POOL_NAME]: toName(state.all("pools").get(poolId)),
      ...(hostId !== undefined && { [HOST_NAME]: toName(state.all("hosts").get(hostId)) }),
    };
  }

  #hadName(id: string | undefined, name: string, sinceMs: number): boolean {
    return listSince(this.#names.get(id ?? "") ?? [], sinceMs).some((one) => one.name === name);
  }

  #toFact(vm: XoRecord, fromMs: number): Fact {
    const hostId = String(vm["$container"]);
    const isPlaced = vm["power_state"] === "Running" && this.#cloud.state.all("hosts").has(hostId);
    const all = vm["tags"] as readonly string[];
    const tag = all.find((one) => one.startsWith(TYPE_TAG));
    const pairs = all.filter((one) => one.startsWith(TAG_PREFIX)).map((one) => one.split("="));
    return {
      fromMs,
      poolId: String(vm["$pool"]),
      hostId: isPlaced ? hostId : undefined,
      name: toName(vm),
      size: toSize(vm),
      tagged: tag?.slice(TYPE_TAG.length),
      tags: Object.fromEntries(pairs),
    };
  }

  /** The IPv4 address that a machine reports; absent when it reports none. */
  findAddress(vmId: string): string | undefined {
    const addresses = this.find(vmId)?.["addresses"];
    const [first] = Object.values({ ...(addresses as Record<string, string> | undefined) });
    return first;
  }
}

function isSame(one: Fact | undefined, other: Fact): boolean {
  return (
    one?.poolId === other.poolId &&
    one.hostId === other.hostId &&
    one.name === other.name &&
    one.size === other.size &&
    one.tagged === other.tagged &&
    isDeepStrictEqual(one.tags, other.tags)
  );
}

/** What held at some moment from then on. */
function listSince<T extends { readonly fromMs: number }>(all: readonly T[], sinceMs: number): T[] {
  return all.filter((_one, at) => (all[at + 1]?.fromMs ?? Infinity) > sinceMs);
}

/** All but the names of places. */
function toLabels(fact: Fact, settings: LabelSettings): Record<string, string> {
  const { zoneFrom, typeTag, regions, zones, tagPrefix } = settings;
  const { poolId, hostId, name, size, tagged, tags } = fact;
  const usual = zoneFrom === "pool" ? poolId : hostId;
  const zone = zoneFrom === "none" ? undefined : (zones?.[poolId] ?? usual);
  return {
    ...(tagPrefix !== undefined && tags),
    ...toAll(REGION, regions?.[poolId] ?? poolId),
    ...toAll(TYPE, (typeTag && tagged) || size),
    ...(zone !== undefined && toAll(ZONE, zone)),
    ...(hostId !== undefined && { [HOST_ID]: hostId }),
    [POOL_ID]: poolId,
    [VM_NAME]: name,
  };
}

/** The stories name things so that each name is a label value as it stands. */
function toName(record: XoRecord | undefined): string {
  return String(record?.["name_label"]);
}

function toSize(vm: XoRecord): string {
  const { max } = vm["CPUs"] as { max: number };
  const { static: limits } = vm["memory"] as { static: readonly [number, number] };
  return `${max}vCPU-${limits[1] / GIB}GB`;
}

/** How many stories have such settings. */
const SHARE = 0.25;
const SALT = 0x7a65;

/** What the settings of a story say of such names and labels. */
export class OwnLabels {
  readonly #random: Random;
  readonly #isOn: boolean;

  constructor(seed: Seed) {
    this.#random = drawFrom(seed, SALT);
    this.#isOn = this.#random.chance(SHARE);
  }

  /** These settings with such names or without, whatever they had. @param pools IDs of all pools */
  draw({ zoneFrom = "host", typeTag }: LabelSettings, pools: readonly string[]): LabelSettings {
    const plain = { zoneFrom, ...(typeTag !== undefined && { typeTag }) };
    if (!this.#isOn) return plain;
    const chance = (): boolean => this.#random.chance(0.6);
    const toNames = (what: string): Record<string, string> =>
      Object.fromEntries(pools.map((id, at) => [id, `${what}-${at >> 1}`]));
    return {
      ...plain,
      ...(chance() && { regions: toNames("region") }),
      ...(chance() && { zones: toNames("zone") }),
      ...(chance() && { tagPrefix: TAG_PREFIX }),
      ...(this.#random.chance(0.15) && { zoneFrom: "none" }),
    };
  }

  /** Tags of a machine; none in other stories. */
  drawTags(): string[] {
    if (!this.#isOn) return [];
    const chosen = TAG_LABELS.filter(() => this.#random.chance(0.5));
    return chosen.map((key) => `${key}=${this.#random.pick(["1", "2"])}`);
  }
}
