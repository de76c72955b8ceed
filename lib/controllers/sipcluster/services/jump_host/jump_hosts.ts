/**
 * Plans jump hosts: a Pod with sshd, from which the machines of a cluster can be reached.
 * @module
 */
import type {
  V1DeploymentSpec,
  V1PodSpec,
  V1Toleration,
  V1Volume,
  V1VolumeMount,
} from "@kubernetes/client-node";
import type { JumpHost } from "../../resource/sip_cluster.ts";
import { SERVICE_FAILURE } from "../../resource/words.ts";
import { listUnknown } from "../addresses.ts";
import { planNodePorts } from "../common_objects.ts";
import { parseAuthorizedKey } from "./authorized_key.ts";
import {
  DRAIN,
  HOST,
  type Host,
  PATHS,
  SSHD_CONFIG,
  SSHD_PORT,
  SSHRC,
  START,
  formatHosts,
  formatKnownHosts,
  formatSshConfig,
  toHosts,
} from "./content.ts";
import type { HostKey } from "./host_keys.ts";
import { JUMP_HOST_RULE, type JumpHostNames, toJumpHostLabels, toJumpHostNames } from "./names.ts";
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  ROLES,
  ROLE_BINDINGS,
  SERVICE_ACCOUNTS,
  toOwned,
} from "../owned_kinds.ts";
import {
  CONTAINER_SECURITY,
  OWN_NAMESPACES,
  PROGRESS_DEADLINE_S,
  ROLLING_UPDATE,
  toPodSecurity,
} from "../pod_parts.ts";
import type { OwnedObject, ServiceInput, ServicePlan } from "../types.ts";
import { CONFIG_HASH } from "../../words.ts";
import { hashContent } from "../../../../core/text/label.ts";
import { type Raw, toPath } from "../../../../kube/kinds/resource.ts";

/** What the Deployment of a jump host is made from. */
interface DeploymentOptions {
  readonly entry: JumpHost;
  readonly image: string;
  readonly names: JumpHostNames;
  /** Labels of its Pod, by which it is found. */
  readonly labels: Readonly<Record<string, string>>;
  readonly hosts: readonly Host[];
  readonly configHash: string;
  readonly tolerations: readonly Raw<V1Toleration>[];
}

/** User and group of the original image. */
const USER_ID = 1_000;
/** Sessions may go on for so long in a Pod that is replaced. */
const DRAIN_S = 300;
/** A Pod on a Node that does not answer is replaced after this time; five minutes without it. */
const NODE_LOST_S = 30;
const READ_ONLY_MODE = 0o440;
const SCRIPT_MODE = 0o555;

/**
 * The Deployment. One replica: files that a session leaves in its home must be there in the next one, and clients would
 * come to any replica. A new Pod is ready before the old one ends.
 */
export function toDeploymentSpec(options: DeploymentOptions): Raw<V1DeploymentSpec> {
  const { labels, configHash } = options;
  return {
    replicas: 1,
    paused: false,
    progressDeadlineSeconds: PROGRESS_DEADLINE_S,
    selector: { matchLabels: labels },
    strategy: ROLLING_UPDATE,
    template: {
      metadata: { labels, annotations: { [CONFIG_HASH]: configHash } },
      spec: toPod(options),
    },
  };
}

function toPod({ entry, image, names, hosts, tolerations }: DeploymentOptions): Raw<V1PodSpec> {
  return {
    ...OWN_NAMESPACES,
    serviceAccountName: names.account,
    automountServiceAccountToken: true,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: DRAIN_S,
    ...(entry.nodeLabels && { nodeSelector: entry.nodeLabels }),
    tolerations: [
      ...tolerations,
      ...["not-ready", "unreachable"].map((state) => ({
        key: `node.kubernetes.io/${state}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: NODE_LOST_S,
      })),
    ],
    securityContext: toPodSecurity(USER_ID),
    hostAliases: toHostAliases(hosts),
    containers: [toContainer(entry, image)],
    volumes: toVolumes(entry, names),
  };
}

function toContainer({ bmc }: JumpHost, image: string): Raw<V1PodSpec>["containers"][number] {
  const check = { tcpSocket: { port: "ssh" } };
  const direct = ["NO_PROXY", "no_proxy"].map((name) => ({ name, value: "*" }));
  return {
    name: "jumphost",
    image,
    imagePullPolicy: "IfNotPresent",
    command: ["/bin/sh", `${PATHS.scripts}/start`],
    ...(bmc?.proxy !== true && { env: direct }),
    ports: [{ name: "ssh", containerPort: SSHD_PORT, hostPort: 0, protocol: "TCP" }],
    readinessProbe: { ...check, initialDelaySeconds: 1, periodSeconds: 10 },
    livenessProbe: { ...check, initialDelaySeconds: 15, periodSeconds: 20 },
    lifecycle: { preStop: { exec: { command: ["/bin/sh", `${PATHS.scripts}/drain`] } } },
    resources: { requests: { cpu: "10m", memory: "32Mi" } },
    securityContext: CONTAINER_SECURITY,
    volumeMounts: MOUNTS,
  };
}

const MOUNTS: Raw<V1VolumeMount>[] = [
  { name: "config", mountPath: PATHS.config, readOnly: true },
  { name: "config", mountPath: "/etc/ssh/ssh_config", subPath: "ssh_config", readOnly: true },
  { name: "config", mountPath: "/etc/ssh/sshrc", subPath: "sshrc", readOnly: true },
  { name: "scripts", mountPath: PATHS.scripts, readOnly: true },
  // In the search path of login shells and of commands alike.
  { name: "scripts", mountPath: "/usr/local/bin/host", subPath: "host", readOnly: true },
  { name: "host-keys", mountPath: PATHS.hostKeys, readOnly: true },
  { name: "node-keys", mountPath: PATHS.nodeKeys, readOnly: true },
  { name: "home", mountPath: PATHS.home },
  { name: "tmp", mountPath: "/tmp" },
];

function toVolumes({ nodeSSHPrivateKeys }: JumpHost, names: JumpHostNames): Raw<V1Volume>[] {
  const scripts = ["drain", "host", "start"].map((key) => ({ key, path: key }));
  const secret = (name: string, secretName: string): Raw<V1Volume> => ({
    name,
    secret: { secretName, defaultMode: READ_ONLY_MODE },
  });
  return [
    { name: "config", configMap: { name: names.name, defaultMode: READ_ONLY_MODE } },
    { name: "scripts", configMap: { name: names.name, defaultMode: SCRIPT_MODE, items: scripts } },
    secret("host-keys", names.hostKeys),
    secret("node-keys", nodeSSHPrivateKeys),
    { name: "home", emptyDir: {} },
    { name: "tmp", emptyDir: {} },
  ];
}

/** Names for programs other than ssh. Several machines may have one address; the API server wants it once. */
function toHostAliases(hosts: readonly Host[]): { ip: string; hostnames: string[] }[] {
  const names = new Map<string, string[]>();
  for (const { name, address } of hosts) {
    if (address !== undefined) names.set(address, [...(names.get(address) ?? []), name]);
  }
  return [...names].map(([ip, hostnames]) => ({ ip, hostnames }));
}

/** What jump hosts are planned from. */
interface JumpHostInput extends ServiceInput {
  /** By the name of the Secret, from `ensureHostKeys`. */
  readonly hostKeys: ReadonlyMap<string, HostKey>;
}

const SSH_PORT = 22;
/** A ConfigMap has at most 1 MiB; its keys and metadata need some of it. */
const CONTENT_LENGTH_MAX = 1_000_000;
const NO_IMAGE =
  "image is empty, and Landfall publishes none. Build one with deploy/jump-host/Containerfile";

/** One plan for each entry of `spec.services.jumpHost`, in their order. */
export function planJumpHosts(input: JumpHostInput): ServicePlan[] {
  const entries = input.cluster.spec?.services.jumpHost ?? [];
  return entries.map((entry, index) => planJumpHost(input, entry, index));
}

function planJumpHost(input: JumpHostInput, entry: JumpHost, index: number): ServicePlan {
  const service = index === 0 ? "jumpHost" : `jumpHost[${index}]`;
  const names = toJumpHostNames(input.cluster, index);
  const made = toData(input, entry, names);
  const isWhole = "data" in made;
  return {
    service,
    objects: isWhole ? toObjects(input, entry, names, made) : [],
    ...(isWhole
      ? {
          deployment: names.name,
          mountedSecret: entry.nodeSSHPrivateKeys,
          ...listUnknown(input.machines, entry.nodeInterfaceId),
        }
      : { problem: { reason: SERVICE_FAILURE, message: made.problem } }),
  };
}

/** The files of a jump host. */
interface Content {
  readonly data: Readonly<Record<string, string>>;
  readonly hosts: readonly Host[];
  readonly image: string;
}

function toData(
  { cluster, machines, hostKeys }: JumpHostInput,
  entry: JumpHost,
  names: JumpHostNames,
): Content | { readonly problem: string } {
  const { image = "", nodeInterfaceId, nodeSSHPrivateKeys } = entry;
  if (image === "") return { problem: NO_IMAGE };
  if (nodeSSHPrivateKeys === "") return { problem: "nodeSSHPrivateKeys must name a Secret" };
  const keys = toAuthorizedKeys(entry);
  if ("problem" in keys) return keys;
  const hostKey = hostKeys.get(names.hostKeys);
  if (hostKey === undefined) return { problem: `Secret ${names.hostKeys} does not exist yet` };
  if ("problem" in hostKey) return hostKey;
  const { namespace = "" } = cluster.metadata;
  const hosts = toHosts(machines, namespace, nodeInterfaceId);
  const data = {
    authorized_keys: keys.text,
    drain: DRAIN,
    host: HOST,
    hosts: formatHosts(hosts),
    known_hosts: formatKnownHosts(`${names.name}.${namespace}`, hostKey.publicKey),
    requests: toPath(CONFIG_MAPS, { namespace, name: names.requests }),
    ssh_config: formatSshConfig(hosts),
    sshd_config: SSHD_CONFIG,
    sshrc: SSHRC,
    start: START,
  };
  if (JSON.stringify(data).length > CONTENT_LENGTH_MAX) {
    return { problem: `its ${hosts.length} hosts do not fit into one ConfigMap` };
  }
  return { data, hosts, image };
}

function toAuthorizedKeys({
  sshAuthorizedKeys = [],
}: JumpHost): { text: string } | { problem: string } {
  const lines: string[] = [];
  for (const [at, entry] of sshAuthorizedKeys.entries()) {
    const key = parseAuthorizedKey(entry);
    if ("problem" in key) return { problem: `sshAuthorizedKeys[${at}] is refused: ${key.problem}` };
    lines.push(`${key.line}\n`);
  }
  return { text: lines.join("") };
}

function toObjects(
  { cluster, tolerations }: JumpHostInput,
  entry: JumpHost,
  names: JumpHostNames,
  { data, hosts, image }: Content,
): readonly OwnedObject[] {
  const { namespace = "" } = cluster.metadata;
  const { nodePort, clusterIP } = entry;
  const labels = toJumpHostLabels(names.name);
  const metadata = { name: names.name, namespace, labels };
  const configHash = hashContent(JSON.stringify(data));
  const ofAccount = { ...metadata, name: names.account };
  const subjects = [{ kind: "ServiceAccount", name: names.account, namespace }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: names.account };
  const { apiGroup, resources, verbs } = JUMP_HOST_RULE;
  return [
    toOwned(SERVICE_ACCOUNTS, ofAccount, { automountServiceAccountToken: false }),
    // Its data belongs to the jump host, and Landfall's answers.
    toOwned(CONFIG_MAPS, { ...metadata, name: names.requests }, {}),
    toOwned(ROLES, ofAccount, {
      rules: [{ apiGroups: [apiGroup], resources, resourceNames: [names.requests], verbs }],
    }),
    toOwned(ROLE_BINDINGS, ofAccount, { roleRef, subjects }),
    toOwned(CONFIG_MAPS, metadata, { data }),
    planNodePorts(metadata, {
      ports: [{ name: "ssh", port: SSH_PORT, targetPort: "ssh", nodePort }],
      clusterIP,
    }),
    toOwned(DEPLOYMENTS, metadata, {
      spec: toDeploymentSpec({
        entry,
        image,
        names,
        labels,
        hosts,
        configHash,
        tolerations,
      }),
    }),
  ];
}
