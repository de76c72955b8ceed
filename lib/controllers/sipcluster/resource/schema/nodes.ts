/**
 * The schema of the hosts that a SIPCluster wants.
 * @module
 */
import type {
  HostCount,
  LabelRequirement,
  LabelSelector,
  NodeSet,
  Scheduling,
} from "../sip_cluster.ts";
import {
  labelKey,
  labelKeyOrEmpty,
  labels,
  labelValue,
  list,
  mapOf,
  object,
  oneOf,
  optional,
  required,
  type Schema,
  textSet,
  trueOrFalse,
  wholeNumber,
  withRules,
} from "../../../kinds/parts.ts";

/** More hosts than this are a typing error. */
const HOSTS_MAX = 5000;

const REQUIREMENT: Schema<LabelRequirement> = withRules(
  object<LabelRequirement>({
    key: required(labelKey(), "The key of the label."),
    operator: required(
      oneOf(["In", "NotIn", "Exists", "DoesNotExist"]),
      "How the label compares with the values.",
    ),
    values: optional(
      list(labelValue(), 256),
      "The values for In and NotIn. Exists and DoesNotExist have none.",
    ),
  }),
  [
    {
      cel:
        "self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 " +
        ": !has(self.values) || size(self.values) == 0",
      message: "In and NotIn need values, Exists and DoesNotExist have none",
      holds: ({ operator, values = [] }) =>
        (operator === "In" || operator === "NotIn") === values.length > 0,
    },
  ],
);

const SELECTOR: Schema<LabelSelector> = object<LabelSelector>({
  matchLabels: optional(labels(), "Labels that a host must have."),
  matchExpressions: optional(list(REQUIREMENT, 64), "Further demands. All must hold."),
});

const COUNT: Schema<HostCount> = object<HostCount>({
  active: optional(wholeNumber(0, HOSTS_MAX), "Hosts that are used.", 0),
  standby: optional(
    wholeNumber(0, HOSTS_MAX),
    "Spare hosts, for example for upgrades. They have the label sip.airshipit.org/standby=true.",
    0,
  ),
});

const NODE_SET: Schema<NodeSet> = object<NodeSet>({
  labelSelector: optional(SELECTOR, "Which BareMetalHosts qualify. Empty: all."),
  topologyKey: optional(
    labelKeyOrEmpty(),
    "A label of BareMetalHosts, such as vino.airshipit.org/rack. No two hosts of the role have the same value of it. " +
      "A host without the label is not limited. Empty: no limit.",
  ),
  topologyKeys: optional(
    textSet(labelKey(), 8),
    "Further labels with the same meaning. With several, each of them limits the choice.",
  ),
  count: optional(COUNT, "How many hosts the role has."),
});

/** The schema of `spec.nodes`. */
export const NODES: Schema<Record<string, NodeSet>> = withRules(mapOf(NODE_SET, 2), [
  {
    cel: "self.all(role, role in ['ControlPlane', 'Worker'])",
    message: "the roles are ControlPlane and Worker",
    holds: (nodes) =>
      Object.keys(nodes).every((role) => role === "ControlPlane" || role === "Worker"),
  },
]);

/** The schema of `spec.scheduling`. */
export const SCHEDULING: Schema<Scheduling> = object<Scheduling>({
  spreadAcrossRoles: optional(
    trueOrFalse(),
    "Whether hosts of different roles must differ in the topology labels, too.",
    false,
  ),
  releaseConsumedHosts: optional(
    trueOrFalse(),
    "Whether the cluster may give back hosts that have a consumer or are provisioned.",
    false,
  ),
});
