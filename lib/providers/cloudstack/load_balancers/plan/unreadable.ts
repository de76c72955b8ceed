/**
 * Finds objects that are there and cannot be read, where a plan would rely on their absence. Pure.
 * @module
 */
import type { LoadBalancerProblem } from "../../../../cloud/capabilities/load_balancers.ts";
import { quote } from "../../../../core/text/printable.ts";
import { toWaiting } from "../wanted/problems.ts";
import { isNameOf, type Scene } from "./scene.ts";
import type { Unreadable } from "../view.ts";
import { isAclReasonOf } from "../words.ts";

/** Names what may be of the Service, or on one of its addresses, and cannot be read. */
export function findUnreadable(
  scene: Scene,
  addressIds: ReadonlySet<string>,
): readonly LoadBalancerProblem[] {
  return scene.view.unreadable.filter((one) => mayMatter(scene, addressIds, one)).map(toProblem);
}

/** Names addresses that cannot be read. One of them may be of the Service: it must get no other one. */
export function findUnreadableAddresses(
  { view }: Scene,
  ip?: string,
): readonly LoadBalancerProblem[] {
  return view.unreadable
    .filter(({ kind, name }) => kind === "address" && (ip === undefined || (name ?? ip) === ip))
    .map(toProblem);
}

function mayMatter(
  { lbName }: Scene,
  addressIds: ReadonlySet<string>,
  { kind, name, addressId }: Unreadable,
): boolean {
  const isOn = addressId !== undefined && addressIds.has(addressId);
  if (kind === "rule") return isOn || name === undefined || isNameOf(lbName, name);
  if (kind === "firewallRule") return isOn || (addressId === undefined && addressIds.size > 0);
  if (kind === "aclItem") return name !== undefined && isAclReasonOf(lbName, name);
  return false;
}

function toProblem({ kind, id, name, problem }: Unreadable): LoadBalancerProblem {
  const words = { address: "public IP address", rule: "load-balancer rule", network: "network" };
  const what =
    kind === "firewallRule" ? "firewall rule" : kind === "aclItem" ? "ACL item" : words[kind];
  const which = [
    name === undefined ? [] : [quote(name)],
    id === undefined ? [] : [`(${id})`],
  ].flat();
  return toWaiting("UnreadableObject", `${[what, ...which].join(" ")}: ${problem}`);
}
