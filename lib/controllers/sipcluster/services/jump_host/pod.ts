/**
 * The Deployment of a jump host.
 * @module
 */
import type {
  V1DeploymentSpec,
  V1PodSpec,
  V1Toleration,
  V1Volume,
  V1VolumeMount,
} from "@kubernetes/client-node";
import type { Raw } from "../../../../kube/kinds/resource.ts";
import type { JumpHost } from "../../resource/sip_cluster.ts";
import { CONFIG_HASH } from "../../words.ts";
import {
  CONTAINER_SECURITY,
  OWN_NAMESPACES,
  PROGRESS_DEADLINE_S,
  ROLLING_UPDATE,
  toPodSecurity,
} from "../pod_parts.ts";
import { type Host, PATHS, SSHD_PORT } from "./content.ts";
import type { JumpHostNames } from "./names.ts";

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
