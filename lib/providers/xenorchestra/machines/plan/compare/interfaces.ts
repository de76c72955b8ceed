/**
 * Compares the network interfaces of a VM with what it must have. Pure.
 * @module
 */
import type { Vif, Vm } from "../../look/view.ts";
import { type Comparison, joinComparisons, toComparison } from "./comparison.ts";
import { toNotice } from "../problems.ts";
import type { Wanted, WantedInterface } from "../wanted/wanted.ts";

/** What to compare. */
export interface InterfacesQuestion {
  readonly vm: Vm;
  readonly wanted: Pick<Wanted, "interfaces">;
  readonly vifs: readonly Vif[];
}

/** Compares by device. Landfall adds what is missing, and takes nothing away. */
export function compareInterfaces({ vm, wanted, vifs }: InterfacesQuestion): Comparison {
  const devices = new Set(wanted.interfaces.map(({ device }) => device));
  const more = vifs.filter(({ device }) => !devices.has(device));
  return joinComparisons([
    ...wanted.interfaces.map((one) =>
      compareOne(
        vm,
        one,
        vifs.find(({ device }) => device === one.device),
      ),
    ),
    ...more.map((vif) => compareMore(vm, vif)),
  ]);
}

function compareOne(vm: Vm, wanted: WantedInterface, actual: Vif | undefined): Comparison {
  const { name, device, mac, networkId, mtu } = wanted;
  const part = { name: `interface ${name}`, wanted: format(wanted) };
  if (actual === undefined) {
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
  const message = `interface ${name} of ${vm.name} has ${differs}: change it in Xen Orchestra`;
  const problem = toNotice("InterfaceDiffers", message);
  return toComparison({ ...part, actual: format(actual) }, { problem });
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
