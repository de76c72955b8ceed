/**
 * Which stickiness policies a network's router takes.
 * @module
 */
import { toInvalid } from "../../replies.ts";
import type { LoadBalancerRule } from "../../world/load_balancing.ts";
import type { CloudStackState } from "../../world/state.ts";
import {
  HAPROXY_METHODS,
  readStoredParameters,
  toStoredParameters,
  type StickinessMethod,
} from "../../world/stickiness.ts";

/** A policy that is asked for. */
interface WantedPolicy {
  readonly methodName: string;
  readonly entries: readonly (readonly [name: string, value: string | undefined])[];
}

/** A rule can have two policies for the time of a job only. */
const POLICIES_MAX = 1;
const TIME = /^[+-]?\d+[dhms]$/;
const SIZE = /^[+-]?\d+[kmg]$/;
const NUMBER = /^[+-]?\d+$/;

/** Refuses a policy. @throws {ApiError} 431 */
export function checkPolicy(
  rule: LoadBalancerRule,
  { methodName, entries }: WantedPolicy,
  state: CloudStackState,
): void {
  const { id, networkId } = rule;
  if (rule.state === "Revoke") throw toInvalid(`Failed: LB rule: ${id} is in deleting state: `);
  const methods = state.networks.get(networkId)?.stickiness ?? HAPROXY_METHODS;
  if (methods.length === 0) {
    throw toInvalid(`Failed:  No Stickiness method available for LB rule:${id}`);
  }
  const method = methods.find(({ name }) => isSameWord(name, methodName));
  if (method === undefined) {
    throw toInvalid(`Failed to match Stickiness method name for LB rule:${id}`);
  }
  checkNames(method, entries);
  const policies = [...state.stickinessPolicies.values()].filter(({ ruleId }) => ruleId === id);
  if (policies.filter(({ isRevoked }) => !isRevoked).length > POLICIES_MAX) {
    throw toInvalid(`Failed to create Stickiness policy: Already two policies attached ${id}`);
  }
  if (rule.protocol === "udp") {
    throw toInvalid(`Failed to create Stickiness policy: Validation Failed ${id}`);
  }
  checkValues(id, method, entries);
}

function checkNames({ parameters }: StickinessMethod, entries: WantedPolicy["entries"]): void {
  for (const [name, value] of entries) {
    const known = parameters.find((one) => isSameWord(one.name, name));
    if (known === undefined) {
      throw toInvalid(`Failed : Stickiness policy does not support param name :${name}`);
    }
    if (!known.isFlag && value === undefined) {
      throw toInvalid(`Failed : Value expected for the Param :${known.name}`);
    }
  }
  for (const { name, isRequired } of parameters) {
    if (!isRequired || entries.some(([one]) => one === name)) continue;
    throw toInvalid(`Failed : Missing Manadatory Param :${name}`);
  }
}

/** HAProxy wants units with times and sizes; it looks at no value of `LbCookie`. */
function checkValues(
  ruleId: string,
  method: StickinessMethod,
  entries: WantedPolicy["entries"],
): void {
  const stored = readStoredParameters(toStoredParameters(entries));
  const check = (name: string, form: RegExp, what: string): void => {
    const found = Object.entries(stored).find(([one]) => isSameWord(one, name));
    if (found === undefined || form.test(found[1])) return;
    throw toInvalid(
      `Failed LB in validation rule id: ${ruleId} Cause: ${name} is not ${what}: ${found[1]}`,
    );
  };
  if (method.name === "SourceBased") {
    check("expire", TIME, "in timeformat");
    check("tablesize", SIZE, "in size format");
  }
  if (method.name === "AppCookie") {
    check("length", NUMBER, "a number");
    check("holdtime", /^[+-]?\d+[dhms]?$/, "in timeformat");
  }
}

function isSameWord(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
