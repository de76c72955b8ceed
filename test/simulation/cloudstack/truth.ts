/**
 * What is true of a virtual machine of CloudStack, worked out from its records alone: an oracle that shares no code
 * with what it judges.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Vm } from "../../../lib/simulator/cloudstack/mod.ts";
import type { CloudStackState } from "../../../lib/simulator/cloudstack/world/state.ts";
import { REGION, toAll, TYPE, ZONE, type Span, type Truth } from "../world/cloud.ts";
import type { Timeline } from "../timeline.ts";
import type { LabelSettings } from "../world/settings_file.ts";

/** What is told of a machine, for a while. */
interface Fact {
  readonly fromMs: number;
  readonly zone: string;
  readonly offering: string;
  /** Whether it is off: it has no kubelet, and may be started or recovered. */
  readonly isOff: boolean;
  /** Whether the user may see it. */
  readonly isShown: boolean;
}

const ON: ReadonlySet<string> = new Set(["Running", "Starting", "Stopping", "Migrating"]);
const OFF: ReadonlySet<string> = new Set(["Stopped", "Shutdown", "Destroyed"]);

interface Machines {
  readonly state: CloudStackState;
  /** The names that machines of Nodes were made with, by ID. */
  readonly names: ReadonlyMap<string, string>;
  find(vmId: string): Vm | undefined;
  isOwned(vm: Vm): boolean;
  isShown(vm: Vm): boolean;
}

/** What is true now, and what was. */
export class CloudStackTruth implements Truth {
  readonly #cloud: Machines;
  readonly #timeline: Timeline;
  /** By the machine's ID, oldest first. */
  readonly #facts = new Map<string, Fact[]>();

  constructor(cloud: Machines, timeline: Timeline) {
    this.#cloud = cloud;
    this.#timeline = timeline;
  }

  /** A machine of the user's, whether it shows just now or not. One of another account's is none. */
  find(vmId: string): Vm | undefined {
    const vm = this.#cloud.find(vmId);
    const isThere = vm !== undefined && !vm.isRemoved && vm.state !== "Expunging";
    return isThere && this.#cloud.isOwned(vm) ? vm : undefined;
  }

  has(vmId: string): boolean {
    return this.find(vmId) !== undefined;
  }

  isGone(vmId: string): boolean {
    return !this.has(vmId);
  }

  isRunning(vmId: string): boolean {
    return ON.has(this.find(vmId)?.state ?? "");
  }

  note(): void {
    const fromMs = this.#timeline.monotonic();
    for (const id of this.#cloud.names.keys()) {
      const known = this.#facts.get(id);
      const before = known?.at(-1);
      const fact = this.#toFact(id, before, fromMs);
      if (fact === undefined || (before && isSame(before, fact))) continue;
      if (known) known.push(fact);
      else this.#facts.set(id, [fact]);
    }
  }

  /** Zones and types are told of every machine, whatever its state is. */
  wasTrue(
    vmId: string,
    key: string,
    value: string | undefined,
    { sinceMs, labels }: Span,
  ): boolean {
    return this.#listSince(vmId, sinceMs).some((fact) =>
      labels.some((said) => toLabels(fact, said)[key] === value),
    );
  }

  toLabels(vmId: string, settings: LabelSettings): Readonly<Record<string, string>> {
    const fact = this.#toFact(vmId, undefined, 0);
    return fact === undefined ? {} : toLabels(fact, settings);
  }

  findAddress(vmId: string): string | undefined {
    return this.find(vmId)?.nics.find(({ isDefault }) => isDefault)?.ipAddress;
  }

  /** Whether a machine was off at some moment since then. */
  wasOff(vmId: string, sinceMs: number): boolean {
    return this.#listSince(vmId, sinceMs).some(({ isOff }) => isOff);
  }

  /** Whether a machine was hidden from the user at some moment since then. */
  wasHidden(vmId: string, sinceMs: number): boolean {
    return this.#listSince(vmId, sinceMs).some(({ isShown }) => !isShown);
  }

  #listSince(vmId: string, sinceMs: number): readonly Fact[] {
    const all = this.#facts.get(vmId) ?? [];
    return all.filter((_one, at) => (all[at + 1]?.fromMs ?? Infinity) > sinceMs);
  }

  #toFact(vmId: string, before: Fact | undefined, fromMs: number): Fact | undefined {
    const { state } = this.#cloud;
    const vm = this.#cloud.find(vmId);
    if (vm === undefined || vm.isRemoved) return before && { ...before, fromMs, isShown: false };
    return {
      fromMs,
      zone: state.zones.get(vm.zoneId)?.name ?? "",
      offering: state.offerings.get(vm.offeringId)?.name ?? "",
      isOff: OFF.has(vm.state),
      isShown: this.#cloud.isShown(vm),
    };
  }
}

function isSame({ fromMs: _1, ...one }: Fact, { fromMs: _2, ...other }: Fact): boolean {
  return isDeepStrictEqual(one, other);
}

/** The stories name zones so that each name is a label value as it stands. */
function toLabels({ zone, offering }: Fact, { region, typeStyle }: LabelSettings) {
  const type = offering.replaceAll(" ", typeStyle === "sanitised" ? "-" : "");
  return { ...toAll(REGION, region ?? zone), ...toAll(ZONE, zone), ...toAll(TYPE, type) };
}
