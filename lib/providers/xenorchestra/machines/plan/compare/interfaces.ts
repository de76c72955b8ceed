/**
 * Compares the network interfaces of a VM with what it must have. Pure.
 * @module
 */
import type {
  MachineInterface,
  MachineProblem,
  MachineSpec,
} from "../../../../../cloud/capabilities/machines.ts";
import { quote } from "../../../../../core/text/printable.ts";
import type { Stock, Vif, Vm } from "../../look/view.ts";
import { type Comparison, joinComparisons, toComparison } from "./comparison.ts";
import { nameNetwork } from "../names.ts";
import { toNotice } from "../problems.ts";
import type { Wanted, WantedInterface } from "../wanted/wanted.ts";

/** What to compare. */
export interface InterfacesQuestion {
  readonly spec: Pick<MachineSpec, "interfaces">;
  readonly vm: Vm;
  /** Without those whose network was not found: these are not compared. */
  readonly wanted: Pick<Wanted, "interfaces">;
  readonly stock: Pick<Stock, "networks" | "vifs">;
}

/** Compares by device. Landfall adds what is missing, and takes nothing away. */
export function compareInterfaces(question: InterfacesQuestion): Comparison {
  const { spec, wanted } = question;
  const vifs = listVifs(question);
  const more = vifs.filter(({ device }) => !(Number(device) < spec.interfaces.length));
  const found = new Set(wanted.interfaces.map(({ name }) => name));
  const unclear = spec.interfaces.filter(({ name }) => !found.has(name));
  return joinComparisons([
    ...wanted.interfaces.map((one) => compareOne(question, one)),
    ...unclear.map(showUnclear),
    ...more.map((vif) => compareMore(question, vif)),
  ]);
}

/** Its network was not found, so nothing is said about the interface that the machine has. */
function showUnclear({ name, mac, network }: MachineInterface): Comparison {
  const wanted = `${mac} in network ${quote(network)}, which was not found`;
  return toComparison({ name: `interface ${name}`, wanted }, undefined);
}

function listVifs({ vm, stock }: InterfacesQuestion): readonly Vif[] {
  return stock.vifs.get(vm.id) ?? [];
}

function compareOne(question: InterfacesQuestion, wanted: WantedInterface): Comparison {
  const { vm, stock } = question;
  const vifs = listVifs(question);
  const { name, device, mac, networkId, mtu } = wanted;
  const actual = vifs.find((one) => one.device === device);
  const isMtuKnown = actual === undefined || actual.mtu !== undefined;
  const part = {
    name: `interface ${name}`,
    wanted: format(stock, wanted, isMtuKnown ? mtu : undefined),
  };
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
  // If the spec has none, that of the network is right.
  const actualMtu = mtu === undefined ? undefined : actual.mtu;
  const compared = { ...part, actual: format(stock, actual, actualMtu) };
  const isSameMtu = actualMtu === undefined || actualMtu === mtu;
  if (actual.mac === mac && actual.networkId === networkId && isSameMtu)
    return toComparison(compared, undefined);
  const what = `interface ${name} of ${vm.name} is ${compared.actual} instead of ${compared.wanted}`;
  const problem = toNotice("InterfaceDiffers", `${what}. ${ADVICE}`);
  return toComparison(compared, { problem });
}

/** Which of both is right, only a person knows. */
const ADVICE =
  "Correct the spec if the machine is right. Otherwise remove the interface in Xen Orchestra: Landfall then adds " +
  "the one that the spec asks for";

/** Why a missing interface must not be added: each MAC address exists once. */
function findObstacle(
  { name: vm }: Vm,
  { name, device, mac, takenBy }: WantedInterface,
  vifs: readonly Vif[],
): MachineProblem | undefined {
  const twin = vifs.find((one) => one.mac === mac);
  if (twin !== undefined) {
    const where = `is device ${twin.device} instead of ${device}`;
    return toNotice("InterfaceDiffers", `interface ${name} of ${vm} ${where}. ${ADVICE}`);
  }
  if (takenBy === undefined) return undefined;
  const what = `interface ${name} of ${vm} is missing, and VM ${takenBy} has its MAC address ${mac}`;
  return toNotice("MacTaken", `${what}: remove the interface of that VM`);
}

function compareMore({ spec, vm, wanted, stock }: InterfacesQuestion, vif: Vif): Comparison {
  const part = { name: `interface of device ${vif.device}`, actual: format(stock, vif) };
  // As long as the spec has a wrong network, it is not known which interfaces are too many.
  if (wanted.interfaces.length < spec.interfaces.length) return toComparison(part, undefined);
  const what = `${vm.name} has an interface that the spec does not have: device ${vif.device}, ${part.actual}`;
  const advice = "Add it to the spec, or remove it in Xen Orchestra if nothing uses it";
  const problem = toNotice("InterfaceNotWanted", `${what}. Landfall removes none. ${advice}`);
  return toComparison(part, { problem });
}

function format(
  stock: Pick<Stock, "networks">,
  { mac, networkId }: Pick<Vif, "mac" | "networkId">,
  mtu?: number,
): string {
  const size = mtu === undefined ? "" : ` with MTU ${mtu}`;
  return `${mac} in ${nameNetwork(stock, networkId)}${size}`;
}
