/**
 * Reports tag prefixes of the settings `zoneLabelFrom` and `instanceTypeTag` that no host or VM has. Pure.
 * @module
 */
import type { Finding } from "../../../cloud/inspection.ts";
import { quote } from "../../../core/text/printable.ts";
import { findTagValue } from "../model/instance_type.ts";
import type { XenOrchestraSettings } from "../settings/config.ts";
import type { Host, Vm } from "../wire/schema.ts";

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
