/**
 * Plans jump hosts: a Pod with sshd, from which the machines of a cluster can be reached.
 * @module
 */
import { SERVICE_FAILURE } from "../../resource/words.ts";
import type { JumpHost } from "../../resource/sip_cluster.ts";
import { toPath } from "../../../../kube/kinds/resource.ts";
import { hashContent } from "../../../../core/text/label.ts";
import { planNodePorts } from "../common_objects.ts";
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  ROLE_BINDINGS,
  ROLES,
  SERVICE_ACCOUNTS,
  toOwned,
} from "../owned_kinds.ts";
import type { OwnedObject, ServiceInput, ServicePlan } from "../types.ts";
import { listUnknown } from "../addresses.ts";
import { parseAuthorizedKey } from "./authorized_key.ts";
import {
  formatHosts,
  formatKnownHosts,
  formatSshConfig,
  type Host,
  SSHD_CONFIG,
  SSHRC,
  toHosts,
} from "./content.ts";
import type { HostKey } from "./host_keys.ts";
import { JUMP_HOST_RULE, type JumpHostNames, toJumpHostNames, toJumpHostLabels } from "./names.ts";
import { toDeploymentSpec } from "./pod.ts";
import { DRAIN, HOST, START } from "./scripts.ts";

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
