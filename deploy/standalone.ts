/**
 * The manifests of a controller that is installed by itself, beside an installation for a cloud or without any.
 * @module
 */
import { listRights } from "../lib/app/rights.ts";
import { type ControllerDefinition, isSeparable } from "../lib/controllers/definition.ts";
import { assert } from "../lib/core/errors.ts";
import { POLICY_FROM, toBindingSpec, toPolicySpec } from "./admission_policy.ts";
import { type Cloud, CLOUD } from "./clouds.ts";
import { renderComponent, renderResources } from "./kustomization.ts";
import {
  type Installed,
  LEASE,
  NAME,
  NAMESPACE,
  type ScopedPolicy,
  toCloudArgs,
  toInstalled,
  toOwnCloud,
  toScopedPolicy,
  WRITTEN,
} from "./names.ts";
import {
  createBinding,
  createRbac,
  createSecretExample,
  createService,
  createServiceAccount,
  toScopedNames,
  USER,
} from "./objects.ts";
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

const POLICY_FOLDER = "admission-policy";
/** Where an administrator names namespaces. */
const TENANTS_FOLDER = "tenant-namespaces";
const EVERYWHERE_FOLDER = "cluster-wide";
const OF_POLICY: Comments = {
  components:
    `What limits its account: remove ${POLICY_FOLDER} before Kubernetes ${POLICY_FROM}, which lacks the kind.\n` +
    `Where it may work: add ${TENANTS_FOLDER}, after you named the namespaces in it.`,
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
    [`manifests/${folder}/kustomization.yaml`, renderKustomization(policy)],
    ...(isScoped(policy) ? renderComponents(one, installed, policy) : []).map(([path, text]) =>
      toFile(`manifests/${folder}/${path}`, text),
    ),
    [
      `manifests/${folder}/rbac-user.yaml`,
      renderUserRights({ name: `${NAME}-user-${folder}`, policy }),
    ],
    ...(cloud === undefined
      ? []
      : [toFile(`manifests/${folder}/secret.example.yaml`, renderSecret(one, cloud, installed))]),
  ];
}

/** Whether an administrator must say where it may work. */
function isScoped({ tenants }: ScopedPolicy): boolean {
  return tenants.length > 0;
}

function renderKustomization(policy: ScopedPolicy): string {
  if (!isScoped(policy)) return renderResources({ resources: ["deployment.yaml"] }, OF_KINDS);
  const all = { resources: ["deployment.yaml"], components: [POLICY_FOLDER] };
  return renderResources(all, { ...OF_KINDS, ...OF_POLICY });
}

/** Where the account may work, and what limits it: each is a choice. */
function renderComponents(
  { kind: { kind }, confinement }: ControllerDefinition,
  { name, labels }: Installed,
  policy: ScopedPolicy,
): [path: string, text: string][] {
  const account = { kind: "ServiceAccount", name } as const;
  const names = toScopedNames(name);
  const bind = (role: string, namespace: string): string =>
    toYaml(createBinding(account, role, { namespace, labels }));
  const hasHosts = policy.hosts.length > 0;
  const ofTenants = `Where ${name} may work: name the namespaces that have ${kind}s, with one RoleBinding for each.

Never name ${NAMESPACE}, or a namespace with accounts of other programs: ${name} can become each account
there.${
    hasHosts
      ? `\n${names.hosts} is for other namespaces with BareMetalHosts. Remove it if there are none.`
      : ""
  }`;
  const everywhere = `${WRITTEN}

All namespaces, for ${kind}s anywhere. With this, ${name} is as good as cluster-admin: who can read and write
Secrets in all namespaces, can become any account. ${POLICY_FOLDER} takes the known ways, but not the right to read.`;
  const users = [`system:serviceaccount:${NAMESPACE}:${name}`, USER.name];
  const limits = {
    users,
    confinements: confinement ? [confinement] : [],
    service: `${name}-redfish`,
  };
  const limiting = `${WRITTEN}

Limits what the account ${name} may write, and the user ${USER.name} of rbac-user.yaml. It needs
Kubernetes ${POLICY_FROM} or newer.`;
  const head = { apiVersion: "admissionregistration.k8s.io/v1", metadata: { name, labels } };
  return [
    [`${TENANTS_FOLDER}/kustomization.yaml`, renderComponent("rolebindings.yaml")],
    [
      `${TENANTS_FOLDER}/rolebindings.yaml`,
      toYamlFile(ofTenants, [
        bind(names.tenants, "tenant-1"),
        ...(hasHosts ? [bind(names.hosts, "metal")] : []),
      ]),
    ],
    [`${EVERYWHERE_FOLDER}/kustomization.yaml`, renderComponent("clusterrolebinding.yaml")],
    [
      `${EVERYWHERE_FOLDER}/clusterrolebinding.yaml`,
      toYamlFile(everywhere, [toYaml(createBinding(account, names.tenants, { labels }))]),
    ],
    [`${POLICY_FOLDER}/kustomization.yaml`, renderComponent("policy.yaml")],
    [
      `${POLICY_FOLDER}/policy.yaml`,
      toYamlFile(limiting, [
        toYaml({ ...head, kind: "ValidatingAdmissionPolicy", spec: toPolicySpec(limits) }),
        toYaml({ ...head, kind: "ValidatingAdmissionPolicyBinding", spec: toBindingSpec(name) }),
      ]),
    ],
  ];
}

function toFile(path: string, text: string): [string, string] {
  return [path, text];
}

/** How a controller is installed alone. */
interface Alone {
  readonly installed: Installed;
  readonly policy: ScopedPolicy;
  /** With its own Secret. Absent: it needs none. */
  readonly cloud: Cloud | undefined;
}

/** What a process with this controller alone needs. */
function toOwnPolicy(one: ControllerDefinition): ScopedPolicy {
  const controllers = new Set([one.name]);
  const needs = { registry: [one], controllers, lease: LEASE, hasSecurePort: true };
  return toScopedPolicy(listRights(needs));
}

function renderDeployment(one: ControllerDefinition, alone: Alone): string {
  const { installed, policy, cloud } = alone;
  const { name, labels } = installed;
  const needs =
    cloud === undefined
      ? `It needs no cloud, and no settings of one.`
      : `It has its own Secret
${cloud.secret}, with another user of the cloud than Landfall for Nodes: see secret.example.yaml.`;
  const where = isScoped(policy)
    ? `
Then say where it may work: bind the ClusterRole ${toScopedNames(name).tenants} in each namespace that has
${one.kind.kind}s.`
    : "";
  const head = `${WRITTEN}

Landfall as a Deployment that runs only the controller ${one.name}. ${needs}
It may run beside Landfall for a cloud. Set your image in kustomization.yaml, then:
kubectl apply -f crd.yaml && kubectl apply -k .${where}`;
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
