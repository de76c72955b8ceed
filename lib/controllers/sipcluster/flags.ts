/**
 * Flags of the SIPCluster controller.
 * @module
 */
import type { V1Toleration } from "@kubernetes/client-node";
import { isLabelKey, isLabelValue, isNamespaceOrAll } from "../../core/text/label.ts";
import { parseList } from "../../core/text/values.ts";
import type { Raw } from "../../kube/kinds/resource.ts";
import { type FlagValues, type NumberFlag, readTextFlag, type TextFlag } from "../definition.ts";

/** How often network data is read again. */
export const NETWORK_DATA_FLAG: NumberFlag = {
  name: "sip-network-data-period",
  type: "duration",
  default: "10m0s",
  help:
    "How often Landfall reads the network data of the hosts of SIPClusters again; 100 clusters of 10 hosts make 1.7 " +
    "requests per second",
  range: [60_000, 24 * 3_600_000],
};

/** How long a host is in error before it is replaced. */
export const ERROR_GRACE_FLAG: NumberFlag = {
  name: "sip-host-error-grace",
  type: "duration",
  default: "10m0s",
  help:
    "How long a BareMetalHost of a SIPCluster that nothing uses is in error before Landfall replaces it; also the " +
    "time between two such replacements of one role",
  range: [1_000, 24 * 3_600_000],
};

/** In `--sip-tolerations`: the taints of control planes, by the old and the new name of that role. */
const CONTROL_PLANE = "control-plane";
const EFFECTS: ReadonlySet<string> = new Set(["NoSchedule", "PreferNoSchedule", "NoExecute"]);

/** On which Nodes the Pods of services may run: those who write SIPClusters do not decide it. */
export const TOLERATIONS_FLAG: TextFlag = {
  name: "sip-tolerations",
  type: "string",
  default: CONTROL_PLANE,
  help:
    "Taints that the Pods of load balancers, jump hosts and OIDC providers tolerate: KEY, KEY:EFFECT or " +
    `KEY=VALUE:EFFECT, separated by commas; ${CONTROL_PLANE}: those of control planes; empty: none`,
  findProblem: (text) =>
    parseTolerations(text) === undefined
      ? `KEY, KEY:EFFECT or KEY=VALUE:EFFECT, separated by commas; an EFFECT is ${[...EFFECTS].join(" or ")}`
      : undefined,
};

/** The tolerations that the operator set. */
export function readTolerations(flags: FlagValues): readonly Raw<V1Toleration>[] {
  return parseTolerations(readTextFlag(flags, TOLERATIONS_FLAG)) ?? [];
}

function parseTolerations(text: string): readonly Raw<V1Toleration>[] | undefined {
  const parsed = parseList(text)
    .flatMap((one) =>
      one === CONTROL_PLANE
        ? ["control-plane", "master"].map((role) => `node-role.kubernetes.io/${role}:NoSchedule`)
        : one,
    )
    .map(parseToleration);
  return parsed.every((one) => one !== undefined) ? parsed : undefined;
}

function parseToleration(text: string): Raw<V1Toleration> | undefined {
  const [, key = "", value, effect] = /^([^=:]+)(?:=([^:]*))?(?::(.+))?$/.exec(text) ?? [];
  if (!isLabelKey(key) || !isLabelValue(value ?? "") || !EFFECTS.has(effect ?? "NoSchedule"))
    return undefined;
  return {
    key,
    operator: value === undefined ? "Exists" : "Equal",
    ...(value !== undefined && { value }),
    ...(effect !== undefined && { effect }),
  };
}

/** Whose BareMetalHosts clusters may take. */
export const HOST_NAMESPACES_FLAG: TextFlag = {
  name: "sip-host-namespaces",
  type: "string",
  default: "",
  help:
    "Namespaces whose BareMetalHosts every SIPCluster may take, separated by commas; * is every namespace. It may " +
    "always take those of its own. Users who may write BareMetalHosts there can offer hosts to every SIPCluster",
  findProblem: (text) =>
    parseList(text).every(isNamespaceOrAll)
      ? undefined
      : "names of namespaces, separated by commas, or *",
};
