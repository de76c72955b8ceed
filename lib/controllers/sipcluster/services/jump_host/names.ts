/**
 * What the objects of a jump host are called.
 * @module
 */
import type { RoleRule } from "../../../definition.ts";
import type { SipCluster } from "../../resource/sip_cluster.ts";
import { toAccountName, toLabels, toObjectName } from "../names.ts";

/** Names of the objects of one jump host. */
export interface JumpHostNames {
  /** Of the Service, Deployment and ConfigMap. */
  readonly name: string;
  /** Of the ServiceAccount, Role and RoleBinding. */
  readonly account: string;
  /** Of the Secret with its host key. */
  readonly hostKeys: string;
  /** Of the ConfigMap through which it asks for reboots. */
  readonly requests: string;
}

/** The beginning of these names, and the component in labels. */
const JUMP_HOST = "jumphost";

/** What the account of a jump host may do, with one ConfigMap: the one through which it asks for reboots. */
export const JUMP_HOST_RULE: RoleRule = {
  apiGroup: "",
  resources: ["configmaps"],
  verbs: ["get", "patch"],
};

/** @param index Position in `spec.services.jumpHost`, from 0 */
export function toJumpHostNames({ metadata }: SipCluster, index: number): JumpHostNames {
  const name = toObjectName(JUMP_HOST, metadata.name, index);
  const account = toAccountName(name);
  return { name, account, hostKeys: `${name}-host-keys`, requests: `${name}-requests` };
}

/** Labels of a jump host's objects, which select its Pod. @param name From {@linkcode toJumpHostNames} */
export function toJumpHostLabels(name: string): Readonly<Record<string, string>> {
  return toLabels({ component: JUMP_HOST, app: JUMP_HOST, instance: name });
}
