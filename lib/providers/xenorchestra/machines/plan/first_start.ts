/**
 * Plans the first start of a complete VM, on its host. Pure.
 *
 * A tag says that it is due. It goes after the start, so that a crash in between repeats the start, which does no harm.
 * @module
 */
import {
  type MachineProblem,
  type MachineSpec,
  toMachineName,
} from "../../../../cloud/capabilities/machines.ts";
import type { View, Vm } from "../look/view.ts";
import type { Step } from "../steps.ts";
import { START_TAG } from "../words.ts";
import { toChain, toNews, toRetry, toStep } from "./problems.ts";

/** How to start it, or why it cannot be started now. */
export interface FirstStart {
  readonly steps: readonly Step[];
  readonly problems: readonly MachineProblem[];
}

/** Whether a complete VM was never started since. Until then it must not be published: metal3 would keep it off. */
export function awaitsFirstStart({ tags, power }: Pick<Vm, "tags" | "power">): boolean {
  return tags.includes(START_TAG) && power === "stopped";
}

/** Plans it for a VM that is off. */
export function planFirstStart(view: View, spec: MachineSpec, vm: Vm): FirstStart {
  const name = toMachineName(spec);
  const vmId = vm.id;
  const hostId = vm.mark?.hostId ?? spec.hostId;
  const host = view.hostsById.get(hostId);
  if (host?.isEnabled !== true || host.poolId !== vm.poolId) {
    const message = `host ${host?.name ?? hostId} cannot start ${name} now: enable it, or start the VM on another host`;
    return { steps: [], problems: [toRetry("HostNotUsable", message)] };
  }
  const summary = `start VM ${name} on host ${host.name}`;
  const start = toNews(toStep(spec, summary, { kind: "start", vmId, hostId }));
  return { steps: toChain([start, toStartedNote(spec, vm)]), problems: [] };
}

/** The step that notes that the first start is over. */
export function toStartedNote(spec: MachineSpec, { id: vmId }: Vm): Step {
  const summary = `note that ${toMachineName(spec)} was started`;
  return toStep(spec, summary, { kind: "removeTag", vmId, tag: START_TAG });
}
