/**
 * Compares the network interfaces of a VM with what it must have. Pure.
 * @module
 */
import type { MachineProblem, MachineSpec } from "../../../../../cloud/capabilities/machines.ts";
import type { Vif, Vm } from "../../look/view.ts";
import { type Comparison, joinComparisons, toComparison } from "./comparison.ts";
import { toNotice } from "../problems.ts";
import type { Wanted, WantedInterface } from "../wanted/wanted.ts";

/** What to compare. */
export interface InterfacesQuestion {
  readonly spec: Pick<MachineSpec, "interfaces">;
  readonly vm: Vm;
  /** Without those whose network was not found: these are not compared. */
  readonly wanted: Pick<Wanted, "interfaces">;
  readonly vifs: readonly Vif[];
}

/** Compares by device. Landfall adds what is missing, and takes nothing away. */
export function compareInterfaces({ spec, vm, wanted, vifs }: InterfacesQuestion): Comparison {
  const more = vifs.filter(({ device }) => !(Number(device) < spec.interfaces.length));
  return joinComparisons([
    ...wanted.interfaces.map((one) => compareOne(vm, one, vifs)),
    ...more.map((vif) => compareMore(vm, vif)),
  ]);
}

function compareOne(vm: Vm, wanted: WantedInterface, vifs: readonly Vif[]): Comparison {
  const { name, device, mac, networkId, mtu } = wanted;
  const part = { name: `interface ${name}`, wanted: format(wanted) };
  const actual = vifs.find((one) => one.device === device);
  if (actual === undefined) {
    const problem = findObstacle(vm, wanted, vifs);
    if (problem !== undefined) return toComparison(part, { problem });
    const change = {
      kind: "addInterface",
      vmId: vm.id,
      device,
      networkId,
      mac,
      ...(mtu !== undefined && { mtu }),
    } as const;
    const summary = `add interface ${name} to ${vm.name}`;
    return toComparison(part, { fix: { summary, change } });
  }
  const isSame = actual.mac === mac && actual.networkId === networkId;
  if (isSame) return toComparison({ ...part, actual: format(actual) }, undefined);
  const differs = `${format(actual)} instead of ${format(wanted)}`;
  const advice = "remove it in Xen Orchestra, then Landfall adds the right one";
  const message = `interface ${name} of ${vm.name} has ${differs}: ${advice}`;
  const problem = toNotice("InterfaceDiffers", message);
  return toComparison({ ...part, actual: format(actual) }, { problem });
}

/** Why a missing interface must not be added: each MAC address exists once. */
function findObstacle(
  { name: vm }: Vm,
  { name, device, mac, takenBy }: WantedInterface,
  vifs: readonly Vif[],
): MachineProblem | undefined {
  const twin = vifs.find((one) => one.mac === mac);
  if (twin !== undefined) {
    const where = `is device ${twin.device} instead of ${device}`;
    const advice = "remove it in Xen Orchestra, then Landfall adds the right one";
    return toNotice("InterfaceDiffers", `interface ${name} of ${vm} ${where}: ${advice}`);
  }
  if (takenBy === undefined) return undefined;
  const what = `interface ${name} of ${vm} is missing, and VM ${takenBy} has its MAC address ${mac}`;
  return toNotice("MacTaken", `${what}: remove the interface of that VM`);
}

function compareMore(vm: Vm, vif: Vif): Comparison {
  const part = { name: `interface of device ${vif.device}`, actual: format(vif) };
  const where = `device ${vif.device}, ${format(vif)}`;
  const message = `${vm.name} has an interface that is not asked for (${where}): remove it, or ask for it`;
  return toComparison(part, { problem: toNotice("InterfaceNotWanted", message) });
}

function format({ mac, networkId }: Pick<Vif, "mac" | "networkId">): string {
  return `${mac} in network ${networkId}`;
}
