/**
 * The manifests of a controller that is installed by itself, without a cloud.
 * @module
 */
import { listRights, type Policy, toPolicy } from "../lib/app/rights.ts";
import type { ControllerDefinition } from "../lib/controllers/definition.ts";
import { isStandalone } from "../lib/controllers/load.ts";
import { assert } from "../lib/core/assert.ts";
import { renderResources } from "./kustomization.ts";
import { type Installed, LEASE, NAME, NAMESPACE, toInstalled, WRITTEN } from "./names.ts";
import { createRbac, createService, createServiceAccount } from "./objects.ts";
import {
  COMMON_ARGS,
  createContainer,
  type Piece,
  POD_COMMENTS,
  POD_SECURITY,
  toDeploymentAffinity,
  TOLERATIONS,
} from "./pod.ts";
import { renderUserRights } from "./user_rights.ts";
import { type Comments, toYaml, toYamlFile, under } from "./yaml.ts";

/** The files of a controller with a folder, by their paths below deploy/; none of any other. */
export function renderStandaloneFiles(one: ControllerDefinition): [string, string][] {
  const { name, folder } = one;
  if (folder === undefined) return [];
  assert(isStandalone(one), `${name} has manifests, but cannot run alone`);
  const policy = toOwnPolicy(one);
  return [
    [`manifests/${folder}/deployment.yaml`, renderDeployment(one, policy)],
    [`manifests/${folder}/kustomization.yaml`, renderResources(["crd.yaml", "deployment.yaml"])],
    [
      `manifests/${folder}/rbac-user.yaml`,
      renderUserRights({ name: `${NAME}-user-${folder}`, policy }),
    ],
  ];
}

/** What a process with this controller alone needs. */
function toOwnPolicy(one: ControllerDefinition): Policy {
  const controllers = new Set([one.name]);
  const needs = { registry: [one], controllers, lease: LEASE, hasSecurePort: true };
  return toPolicy(listRights(needs));
}

function renderDeployment(one: ControllerDefinition, policy: Policy): string {
  const installed = toInstalled(one);
  const { name, labels } = installed;
  const head = `${WRITTEN}

Landfall as a Deployment that runs only the controller ${one.name}. It needs no cloud, and no settings of one.
It may run beside Landfall for a cloud. Set your image in kustomization.yaml, then: kubectl apply -k .`;
  return toYamlFile(head, [
    toYaml(createServiceAccount(installed)),
    ...createRbac({ kind: "ServiceAccount", name }, { name, policy, labels }).map((object) =>
      toYaml(object),
    ),
    toYaml(createService(installed)),
    toYaml(createDeployment(one, installed), COMMENTS),
  ]);
}

function createDeployment({ name: controller }: ControllerDefinition, installed: Installed): Piece {
  const { name, selector, labels } = installed;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, labels, namespace: NAMESPACE },
    spec: {
      replicas: 2,
      revisionHistoryLimit: 3,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels: selector },
      template: {
        metadata: { labels },
        spec: createPodSpec([`--controllers=${controller}`, ...COMMON_ARGS], installed),
      },
    },
  };
}

/** Its pods are in the pod network: they initialise no Node, and no port of theirs is taken on any host. */
function createPodSpec(args: readonly string[], { name, selector }: Installed): Piece {
  const { fsGroup: _, fsGroupChangePolicy: __, ...securityContext } = POD_SECURITY;
  return {
    serviceAccountName: name,
    automountServiceAccountToken: true,
    priorityClassName: "system-cluster-critical",
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 30,
    securityContext,
    tolerations: TOLERATIONS.filter(({ key }) => `${key}`.startsWith("node-role.")),
    affinity: toDeploymentAffinity(selector),
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "kubernetes.io/hostname",
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels: selector },
      },
    ],
    containers: [createContainer(args)],
  };
}

const { hostNetwork: _host, "containers.0.resources": _measured, ...SHARED } = POD_COMMENTS;
const COMMENTS: Comments = under("spec.template.spec.", SHARED);
