/**
 * A pod as a kubelet runs it: from what the API server has stored, in a root and a network of its own.
 *
 * The program gets the arguments, the environment, the files and the service account of its container, and nothing else
 * but the libraries of this machine.
 * @module
 */
import { chmodSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Cluster } from "../process/cluster.ts";
import { type LandfallProcess, type Program, startLandfall } from "../process/landfall_process.ts";
import { SecretMount } from "../process/secret_mount.ts";

const ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";
const TOKEN_S = 3_600;
/** A name of the API server's certificate. */
const API_SERVER = "kubernetes.default.svc";
/** `nonroot` of distroless images. */
const USER = "65532:65532";
const LIBRARIES = ["usr", "lib", "lib64", "proc", "dev"];
/** Mounts of its own, seen by nobody else and gone with it: `$0` is the root, `$1` the program, then its mounts. */
const SCRIPT = `
set -e
root=$0 program=$1
shift
for one in ${LIBRARIES.join(" ")}; do
  if [ -d "/$one" ]; then mount --rbind "/$one" "$root/$one"; fi
done
mount --bind "$program" "$root/landfall"
while [ "$1" != -- ]; do mount --bind "$1" "$root$2"; shift 2; done
shift
exec chroot --userspec=${USER} "$root" /landfall "$@"`;

/** The fields of a Deployment or DaemonSet that a pod is made of. */
interface Workload {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly spec: { readonly template: { readonly spec: PodSpec } };
}

interface PodSpec {
  readonly serviceAccountName: string;
  readonly containers: readonly {
    readonly command?: readonly string[];
    readonly args?: readonly string[];
    readonly env?: readonly {
      readonly name: string;
      readonly value?: string;
      readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } };
    }[];
    readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
  readonly volumes?: readonly {
    readonly name: string;
    readonly secret?: { readonly secretName: string };
  }[];
}

/** Where a pod runs. */
interface PodPlace {
  readonly cluster: Cluster;
  /** A compiled program. */
  readonly program: Program;
  /** What a command begins with that is to run in the pod's network. */
  readonly prefix: readonly string[];
  /** Where this machine is in that network. */
  readonly address: string;
  /** Port of the API server there. */
  readonly port: number;
}

/** A pod at work. */
export interface ContainedPod {
  readonly landfall: LandfallProcess;
  /** Token of its service account. */
  readonly token: string;
  /** Writes mounted Secrets again, as a kubelet does when they changed. */
  refreshSecrets(): Promise<void>;
  /** Ends it, and removes what it had. */
  stop(): Promise<void>;
}

/** Starts a pod of a workload. @param path Of the Deployment or DaemonSet */
export async function startContainedPod(path: string, place: PodPlace): Promise<ContainedPod> {
  const { cluster, program, prefix, port } = place;
  const [binary = ""] = program.command;
  const { metadata, spec } = await cluster.read<Workload>(path);
  const { namespace } = metadata;
  const { serviceAccountName: name, containers, volumes = [] } = spec.template.spec;
  const [container] = containers;
  if (container === undefined || container.command !== undefined) {
    throw new Error("Cannot start what is not the program of the image");
  }
  const token = await cluster.createServiceAccountToken({ namespace, name }, TOKEN_S);
  const ca = await readFile(cluster.caPath, "utf8");
  const account = mount({ token, "ca.crt": ca, namespace });
  const mounts = new Map([[ACCOUNT_FOLDER, account]]);
  const secrets = new Map<string, SecretMount>();
  for (const { name: volume, mountPath } of container.volumeMounts ?? []) {
    const secret = volumes.find((one) => one.name === volume)?.secret?.secretName;
    if (secret === undefined)
      throw new Error(`Cannot mount ${volume}: only Secrets are known here`);
    const mounted = mount(await readSecret(cluster, namespace, secret));
    mounts.set(mountPath, mounted);
    secrets.set(secret, mounted);
  }
  const root = await createRoot(place, [...mounts.keys()]);
  const pairs = [...mounts].flatMap(([to, { folder }]) => [folder, to]);
  const before = [
    ...prefix,
    "unshare",
    "--mount",
    "sh",
    "-c",
    SCRIPT,
    root,
    binary,
    ...pairs,
    "--",
  ];
  const fields: Readonly<Record<string, string>> = {
    "metadata.name": `${metadata.name}-0`,
    "metadata.namespace": namespace,
    "metadata.uid": crypto.randomUUID(),
  };
  const env = Object.fromEntries(
    (container.env ?? []).map(({ name: variable, value, valueFrom }) => [
      variable,
      value ?? fields[valueFrom?.fieldRef?.fieldPath ?? ""] ?? "",
    ]),
  );
  const landfall = startLandfall({ ...program, command: before }, container.args ?? [], {
    HOSTNAME: fields["metadata.name"] ?? "",
    KUBERNETES_SERVICE_HOST: API_SERVER,
    KUBERNETES_SERVICE_PORT: String(port),
    ...env,
  });
  return {
    landfall,
    token,
    refreshSecrets: async () => {
      for (const [secret, mounted] of secrets) {
        mounted.update(await readSecret(cluster, namespace, secret));
      }
    },
    stop: async () => {
      await landfall.stop();
      for (const one of mounts.values()) one[Symbol.dispose]();
      await rm(root, { recursive: true });
    },
  };
}

/** A kubelet lets every user of the container read it. */
function mount(files: Readonly<Record<string, string>>): SecretMount {
  const mounted = new SecretMount(files);
  chmodSync(mounted.folder, 0o755);
  return mounted;
}

async function readSecret(
  cluster: Cluster,
  namespace: string,
  name: string,
): Promise<Record<string, string>> {
  const path = `/api/v1/namespaces/${namespace}/secrets/${name}`;
  const { data } = await cluster.read<{ readonly data: Readonly<Record<string, string>> }>(path);
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, atob(value)]));
}

/** Empty places for what is mounted, and the few files of /etc that a kubelet writes. */
async function createRoot(
  { cluster, address }: PodPlace,
  places: readonly string[],
): Promise<string> {
  const root = join(cluster.folder, `pod-${crypto.randomUUID()}`);
  for (const place of [...LIBRARIES, ...places, "etc"]) {
    await mkdir(join(root, place), { recursive: true });
  }
  await writeFile(join(root, "landfall"), "");
  await writeFile(join(root, "etc/hosts"), `127.0.0.1 localhost\n${address} ${API_SERVER}\n`);
  await writeFile(join(root, "etc/nsswitch.conf"), "hosts: files\n");
  return root;
}
