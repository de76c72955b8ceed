/**
 * The manifests of a controller that is installed by itself, beside an installation for a cloud or without any.
 * @module
 */
import { listRights, type Policy, toPolicy } from "../lib/app/rights.ts";
import { type ControllerDefinition, isSeparable } from "../lib/controllers/definition.ts";
import { assert } from "../lib/core/errors.ts";
import { type Cloud, CLOUD } from "./clouds.ts";
import { renderResources } from "./kustomization.ts";
import {
  type Installed,
  LEASE,
  NAME,
  NAMESPACE,
  toCloudArgs,
  toInstalled,
  toOwnCloud,
  WRITTEN,
} from "./names.ts";
import { createRbac, createSecretExample, createService, createServiceAccount } from "./objects.ts";
import {
  COMMON_ARGS,
  CONFIG_MOUNT,
  createConfigVolume,
  createContainer,
  type Piece,
  POD_COMMENTS,
  POD_SECURITY,
  toDeploymentAffinity,
  TOLERATIONS,
} from "./pod.ts";
import { renderUserRights } from "./user_rights.ts";
import { type Comments, toYaml, toYamlFile, under } from "./yaml.ts";

const OF_KINDS: Comments = {
  resources:
    "crd.yaml is not here, so that kubectl delete -k leaves the kinds: with them, Kubernetes deletes all their\n" +
    "objects. Apply it first: kubectl apply -f crd.yaml",
};

/** The files of a controller with a folder, by their paths below deploy/; none of any other. */
export function renderStandaloneFiles(one: ControllerDefinition): [string, string][] {
  const { name, folder } = one;
  if (folder === undefined) return [];
  assert(isSeparable(one), `${name} has manifests, but cannot run alone`);
  const policy = toOwnPolicy(one);
  const installed = toInstalled(one);
  const cloud = one.needsCloud ? toOwnCloud(CLOUD, installed) : undefined;
  return [
    [`manifests/${folder}/deployment.yaml`, renderDeployment(one, { installed, policy, cloud })],
    [`manifests/${folder}/kustomization.yaml`, renderResources(["deployment.yaml"], OF_KINDS)],
    [
      `manifests/${folder}/rbac-user.yaml`,
      renderUserRights({ name: `${NAME}-user-${folder}`, policy }),
    ],
    ...(cloud === undefined
      ? []
      : [toFile(`manifests/${folder}/secret.example.yaml`, renderSecret(one, cloud, installed))]),
  ];
}

function toFile(path: string, text: string): [string, string] {
  return [path, text];
}

/** How a controller is installed alone. */
interface Alone {
  readonly installed: Installed;
  readonly policy: Policy;
  /** With its own Secret. Absent: it needs none. */
  readonly cloud: Cloud | undefined;
}

/** What a process with this controller alone needs. */
function toOwnPolicy(one: ControllerDefinition): Policy {
  const controllers = new Set([one.name]);
  const needs = { registry: [one], controllers, lease: LEASE, hasSecurePort: true };
  return toPolicy(listRights(needs));
}

function renderDeployment(one: ControllerDefinition, alone: Alone): string {
  const { installed, policy, cloud } = alone;
  const { name, labels } = installed;
  const needs =
    cloud === undefined
      ? `It needs no cloud, and no settings of one.`
      : `It has its own Secret
${cloud.secret}, with another user of the cloud than Landfall for Nodes: see secret.example.yaml.`;
  const head = `${WRITTEN}

Landfall as a Deployment that runs only the controller ${one.name}. ${needs}
It may run beside Landfall for a cloud. Set your image in kustomization.yaml, then:
kubectl apply -f crd.yaml && kubectl apply -k .`;
  return toYamlFile(head, [
    toYaml(createServiceAccount(installed)),
    ...createRbac({ kind: "ServiceAccount", name }, { name, policy, labels }).map((object) =>
      toYaml(object),
    ),
    toYaml(createService(installed)),
    toYaml(createDeployment(one, alone), COMMENTS),
  ]);
}

function renderSecret({ name }: ControllerDefinition, cloud: Cloud, installed: Installed): string {
  const head = `${WRITTEN}

The settings of the cloud for the controller ${name} alone. Replace the values by yours. Its user has more rights than
that of Landfall for Nodes, so do not share the Secret. All keys become files in /etc/landfall.`;
  return toYamlFile(head, [toYaml(createSecretExample(cloud, installed))]);
}

function createDeployment({ name: controller }: ControllerDefinition, alone: Alone): Piece {
  const { installed, cloud } = alone;
  const { name, selector, labels } = installed;
  const args = [
    ...(cloud === undefined ? [] : toCloudArgs(cloud)),
    `--controllers=${controller}`,
    ...COMMON_ARGS,
  ];
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
        spec: createPodSpec(args, alone),
      },
    },
  };
}

/** Its pods are in the pod network: they initialise no Node, and no port of theirs is taken on any host. */
function createPodSpec(args: readonly string[], { installed, cloud }: Alone): Piece {
  const { name, selector } = installed;
  const { fsGroup: _, fsGroupChangePolicy: __, ...withoutFiles } = POD_SECURITY;
  return {
    serviceAccountName: name,
    automountServiceAccountToken: true,
    priorityClassName: "system-cluster-critical",
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 30,
    securityContext: cloud === undefined ? withoutFiles : POD_SECURITY,
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
    ...(cloud === undefined
      ? { containers: [createContainer(args)] }
      : {
          containers: [createContainer(args, CONFIG_MOUNT)],
          volumes: [createConfigVolume(cloud)],
        }),
  };
}

const { hostNetwork: _host, "containers.0.resources": _measured, ...SHARED } = POD_COMMENTS;
const COMMENTS: Comments = under("spec.template.spec.", SHARED);
