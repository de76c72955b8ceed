/**
 * Reports settings that have no effect: entries of `regions` and `zones` that name no pool or host, or several, and tag
 * prefixes of `zoneLabelFrom` and `instanceTypeTag` that no host or VM has.
 * @module
 */
import type { Finding } from "../../../cloud/inspection.ts";
import type { Logger } from "../../../core/log.ts";
import { MessageDedup } from "../../../core/message_dedup.ts";
import { quote } from "../../../core/text/printable.ts";
import { findTagValue } from "../model/instance_type.ts";
import { listUnfitEntries, type Places, type UnfitEntry } from "../model/topology.ts";
import type { XenOrchestraSettings } from "../settings/config.ts";
import type { Host, Vm } from "../wire/schema.ts";

type Settings = Pick<XenOrchestraSettings, "regions" | "zones">;

/** Logs such entries if they changed. */
export class UnfitEntries {
  readonly #settings: Settings;
  readonly #log: Logger;
  readonly #reported = new MessageDedup();

  constructor(settings: Settings, log: Logger) {
    this.#settings = settings;
    this.#log = log;
  }

  /** Checks the entries with the pools and hosts that are shown now. */
  log(places: Places): void {
    const { regions, zones } = this.#settings;
    if (regions === undefined && zones === undefined) return;
    const unfit = listUnfitEntries(places, this.#settings);
    if (unfit.length === 0) this.#reported.end();
    else if (this.#reported.isNew(JSON.stringify(unfit))) {
      for (const one of unfit) {
        const { message, advice } = toFinding(one);
        this.#log.warn("An entry of regions or zones has no effect", { why: message, advice });
      }
    }
  }
}

/** Returns such entries as findings, for an operator who sets up the cloud. */
export function listUnfitFindings(places: Places, settings: Settings): Finding[] {
  return listUnfitEntries(places, settings).map(toFinding);
}

function toFinding({ setting, entry, isAmbiguous }: UnfitEntry): Finding & { advice: string } {
  const places = setting === "regions" ? "pool" : "pool or host";
  const path = `${setting}: ${quote(entry)}`;
  return isAmbiguous
    ? {
        level: "warning",
        code: "ambiguousEntry",
        message: `the entry ${path} is the name of more than one ${places}, so it counts for none of them`,
        advice: "use UUIDs; their Nodes keep the labels that they have",
      }
    : {
        level: "warning",
        code: "unmatchedEntry",
        message: `the entry ${path} matches no ${places} that Xen Orchestra shows`,
        advice: `correct the UUID or name in ${setting}, or reconnect the pool`,
      };
}

/** The objects whose tags count. */
interface Tagged {
  readonly hosts: readonly Pick<Host, "tags">[];
  readonly vms: readonly Pick<Vm, "tags">[];
}

/** Warns of each prefix without a tag. Without any host or VM there is nothing to say: that is another problem. */
export function listUnmatchedTagFindings(
  { hosts, vms }: Tagged,
  {
    zoneLabelFrom,
    instanceTypeTag,
  }: Pick<XenOrchestraSettings, "instanceTypeTag" | "zoneLabelFrom">,
): Finding[] {
  const findings: Finding[] = [];
  if (zoneLabelFrom.kind === "hostTag" && !hasTag(hosts, zoneLabelFrom.prefix)) {
    findings.push({
      level: "warning",
      code: "unmatchedTag",
      message: `zoneLabelFrom: no host has a tag that begins with ${quote(zoneLabelFrom.prefix)}`,
      advice:
        "correct the prefix or tag the hosts: for a host without such a tag Landfall writes no zone label",
    });
  }
  if (instanceTypeTag !== undefined && !hasTag(vms, instanceTypeTag)) {
    findings.push({
      level: "warning",
      code: "unmatchedTag",
      message: `instanceTypeTag: no VM has a tag that begins with ${quote(instanceTypeTag)}`,
      advice:
        "correct the prefix or tag the VMs: for a VM without such a tag Landfall computes the instance type",
    });
  }
  return findings;
}

function hasTag(objects: readonly Pick<Vm, "tags">[], prefix: string): boolean {
  return (
    objects.length === 0 ||
    objects.some(({ tags }) => findTagValue(tags ?? [], prefix) !== undefined)
  );
}
