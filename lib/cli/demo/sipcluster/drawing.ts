/**
 * Draws racks in a terminal: one mark for each host says who has it. Pure.
 * @module
 */
import { CLUSTER_NAME, STANDBY } from "../../../controllers/sipcluster/words.ts";
import type { ApiObject } from "../../../simulator/kubernetes/mod.ts";
import { objectAt, stringAt } from "../../../simulator/kubernetes/patches/json.ts";
import { HOST_LABELS } from "../../../simulator/metal3/hosts.ts";
import { labelOf } from "../kind_story/objects.ts";
import { consumerOf } from "../../../simulator/metal3/host_state.ts";

/** What the marks mean. */
export const LEGEND =
  "b blue has it   B and a machine runs on it   b* standby   r, R the same of red   . free   x broken";

/** A line for each rack: `r1  control-plane b .   worker B b* . x`. */
export function drawRacks(hosts: readonly ApiObject[]): readonly string[] {
  const racks = Map.groupBy(hosts, (host) => labelOf(host, HOST_LABELS.rack));
  return [...racks].map(([rack, inside]) => {
    const flavors = Map.groupBy(inside, (host) => labelOf(host, HOST_LABELS.flavor));
    const parts = [...flavors].map(
      ([flavor, some]) => `${flavor} ${some.map((host) => toMark(host).padEnd(2)).join(" ")}`,
    );
    return `     ${rack}   ${parts.join("   ")}`.trimEnd();
  });
}

function toMark(host: ApiObject): string {
  const cluster = labelOf(host, CLUSTER_NAME);
  const isBroken = stringAt(objectAt(host, "status"), "errorMessage") !== "";
  if (isBroken) return "x";
  if (cluster === "") return ".";
  const letter = cluster.slice(0, 1);
  const mark = consumerOf(host) === undefined ? letter : letter.toUpperCase();
  return labelOf(host, STANDBY) === "true" ? `${mark}*` : mark;
}
