/**
 * Changes of load-balancer rules and their backends.
 * @module
 */
import { RefusedStepError } from "../../../../cloud/capabilities/refused_errors.ts";
import { assert } from "../../../../core/errors.ts";
import { ApiError } from "../../session/errors.ts";
import { INTERNAL, INVALID } from "../../session/refusal.ts";
import { LB_SCHEMAS } from "../../wire/load_balancing.ts";
import type { ChangeOf } from "../steps.ts";
import { toWaiting } from "../wanted/problems.ts";
import { type Acting, compare, send, sendPlain, sendRemoval, toSorted } from "./acting.ts";

/** The result of a job that made or changed a rule. */
const RULE = { key: "loadbalancer", schema: LB_SCHEMAS.rule } as const;

/** What the server says of a rule that the load balancer of the network does not take on any address. */
const NOT_SUPPORTED = /LB service provider cannot support this rule/i;

/** What the server says before its reason: a VM is gone, is there already, or is in another network. */
const NOT_ASSIGNED = /Failed to assign load balancer rule due to:/i;

/** Makes a rule without backends. It opens no firewall: that is another step. */
export async function createRule(rule: ChangeOf<"createRule">, acting: Acting): Promise<void> {
  const { kind: _, description, cidrs, ...fields } = rule;
  const params = {
    name: rule.name,
    description,
    publicipid: rule.addressId,
    networkid: rule.networkId,
    publicport: String(rule.publicPort),
    privateport: String(rule.privatePort),
    protocol: rule.protocol,
    algorithm: rule.algorithm,
    openfirewall: "false",
    ...toCidrParam(cidrs),
  };
  const made = await send(acting, { command: "createLoadBalancerRule", params, ...RULE }).catch(
    (error: unknown) => {
      throw toUnsupported(rule, error) ?? error;
    },
  );
  acting.store.putRule(made);
  compare(acting, made, { ...fields, ...(cidrs && { cidrs: toSorted(cidrs) }) });
}

/** Changes some fields of a rule. */
export async function updateRule(change: ChangeOf<"updateRule">, acting: Acting): Promise<void> {
  const { kind: _, ruleId, cidrs, ...fields } = change;
  const params = { id: ruleId, ...fields, ...toCidrParam(cidrs) };
  const changed = await send(acting, { command: "updateLoadBalancerRule", params, ...RULE });
  acting.store.putRule(changed);
  compare(acting, changed, { ...fields, ...(cidrs && { cidrs: toSorted(cidrs) }) });
}

/** Deletes a rule with its backends and stickiness policies. */
export async function deleteRule(
  { ruleId }: ChangeOf<"deleteRule">,
  acting: Acting,
): Promise<void> {
  await sendRemoval(acting, "deleteLoadBalancerRule", ruleId);
  acting.store.dropRule(ruleId);
}

/** Sends traffic to more VMs. CloudStack adds none of them if it refuses one, or has one already. */
export async function addBackends(
  { ruleId, vmIds }: ChangeOf<"addBackends">,
  acting: Acting,
): Promise<void> {
  await sendPlain(acting, "assignToLoadBalancerRule", toMembers(ruleId, vmIds));
  acting.store.addMembers(ruleId, vmIds);
}

/** Whether CloudStack refused to send traffic to the VMs of a step. */
export function isNotAssigned(error: ApiError): boolean {
  return error.code === INTERNAL && NOT_ASSIGNED.test(error.message);
}

/** Sends traffic to fewer VMs. */
export async function removeBackends(
  { ruleId, vmIds }: ChangeOf<"removeBackends">,
  acting: Acting,
): Promise<void> {
  await sendPlain(acting, "removeFromLoadBalancerRule", toMembers(ruleId, vmIds));
  acting.store.removeMembers(ruleId, vmIds);
}

/**
 * The network does not say beforehand what its load balancer refuses: which port is its own is a setting of the server,
 * and the network lists UDP even where HAProxy does not take it.
 */
function toUnsupported(
  { protocol, publicPort }: ChangeOf<"createRule">,
  error: unknown,
): RefusedStepError | undefined {
  if (!(error instanceof ApiError && error.code === INVALID)) return undefined;
  if (!NOT_SUPPORTED.test(error.message)) return undefined;
  const why =
    protocol === "udp"
      ? "HAProxy on a virtual router takes no UDP"
      : "a virtual router keeps one port for itself, by default 8081";
  const what = `port ${publicPort}: the load balancer of the network does not take ${protocol} on it`;
  const advice = "remove the port from the Service, or use a network with another load balancer";
  const problem = toWaiting("UnsupportedService", `${what} (error ${INVALID}; ${why}): ${advice}`);
  return new RefusedStepError(problem, error);
}

function toMembers(id: string, vmIds: readonly string[]): Readonly<Record<string, string>> {
  assert(vmIds.length > 0, "a change of backends names at least one VM");
  return { id, virtualmachineids: vmIds.join(",") };
}

/** CloudStack takes an empty list for everyone. */
function toCidrParam(cidrs: readonly string[] | undefined): Readonly<Record<string, string>> {
  if (cidrs === undefined) return {};
  assert(cidrs.length > 0, "a rule that restricts its clients names at least one block");
  return { cidrlist: cidrs.join(",") };
}
