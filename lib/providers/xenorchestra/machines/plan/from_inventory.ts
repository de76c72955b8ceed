/**
 * Judges a machine by the last inventory alone. It plans no change, and says whether an observation is needed. Pure.
 * @module
 */
import { type MachineSpec, toMachineName } from "../../../../cloud/capabilities/machines.ts";
import { findShown, isComplete, type Observation, type Vm } from "../observe/observation.ts";
import { compareMarks, compareSize, joinComparisons } from "./compare.ts";
import { awaitsFirstStart } from "./complete.ts";
import { isDoubtDue, judgeOwner } from "./find.ts";
import { type Plan, findLostPool, toPlan } from "./problems.ts";
import { type VmRecord, toPartsHash, toShownHash } from "../vm_record.ts";
import { START_TAG, listReadyTags, toReadyTag, toSpecHash } from "../words.ts";

/** Plans from an observation that is not for a change. */
export function planFromInventory(cloud: Observation, spec: MachineSpec, record: VmRecord): Plan {
  const all = cloud.vms.get(toMachineName(spec)) ?? [];
  const [vm, ...others] = all.filter((one) => judgeOwner(one, spec) !== "foreign");
  const poolId = vm?.poolId ?? spec.poolId;
  const lost = findLostPool(cloud.pools, poolId);
  if (lost !== undefined) return toPlan("Unknown", { problems: [lost] });
  if (vm === undefined) return toPlan("Absent", { needsLook: true });
  const machine = findShown(cloud, vm);
  if (others.length > 0) return toPlan("Unfinished", { needsLook: true });
  if (!isComplete(vm)) {
    const state = record.at === undefined ? "Unfinished" : "Creating";
    return toPlan(state, { needsLook: true, machine });
  }
  const { parts, differences } = joinComparisons([compareSize(spec, vm), compareMarks(spec, vm)]);
  // The list of VMs shows only which interfaces and disks there are, and not what they are like.
  const partsHash = toPartsHash(vm);
  const isEdited = record.parts !== partsHash;
  const isUnsure = record.vm !== vm.id || isEdited || isDoubtDue(record, cloud.atMs);
  const isBuilt = isAsWanted(vm, spec) && !isEdited;
  const needsLook = differences.length > 0 || !isBuilt || isUnsure;
  const state = awaitsFirstStart(vm) ? "Unfinished" : "Ready";
  return toPlan(state, { needsLook, machine, parts, isBuilt, shown: toShownHash(vm, partsHash) });
}

/** Whether a VM was as the specification wants it when it was looked at last. */
function isAsWanted({ tags }: Vm, spec: MachineSpec): boolean {
  const [ready, ...old] = listReadyTags(tags);
  return ready === toReadyTag(toSpecHash(spec)) && old.length === 0 && !tags.includes(START_TAG);
}
