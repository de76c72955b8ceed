/**
 * What Kubernetes does beside its API server: a real kube-controller-manager makes ReplicaSets and Pods of Deployments,
 * detaches volumes, and collects garbage; kubelets and a volume driver are played.
 *
 * @module
 */
import { access } from "node:fs/promises";
import { join } from "node:path";
import { type Cluster, kubeAssets, skipsCluster } from "./cluster.ts";
import { type ServerProcess, startProcess } from "./server_process.ts";
import { saySkipped } from "../skip.ts";
import { waitUntil } from "./cluster_rig.ts";

/** Whether the folder in `KUBEBUILDER_ASSETS` has the program. */
export async function hasControllerManager(): Promise<boolean> {
  if (kubeAssets === undefined) return false;
  return await access(join(kubeAssets, "kube-controller-manager")).then(
    () => true,
    () => false,
  );
}

/** Starts it with these controllers and no others, as administrator of the cluster. It serves no port. */
export function startControllerManager(
  cluster: Cluster,
  controllers: readonly string[],
  more: readonly string[] = [],
): ServerProcess {
  const flags = [
    `--kubeconfig=${cluster.adminKubeconfigPath}`,
    `--controllers=${controllers.join(",")}`,
    "--leader-elect=false",
    "--secure-port=0",
    ...more,
  ];
  const log = join(cluster.folder, "kube-controller-manager.log");
  return startProcess(join(kubeAssets ?? "", "kube-controller-manager"), flags, log);
}

/** What makes Pods of Deployments, keeps budgets, and deletes what has no owner any more. */
const CONTROLLERS = ["deployment", "replicaset", "disruption", "garbagecollector"] as const;
const LOOK_MS = 150;

/** Says loudly that tests with running Pods are skipped, when they are. Returns whether they are. */
export async function skipsRunningPods(): Promise<boolean> {
  if (skipsCluster()) return true;
  if (await hasControllerManager()) return false;
  saySkipped("tests with kube-controller-manager. There is none in KUBEBUILDER_ASSETS");
  return true;
}

/** What is looked at of a Pod. */
interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly deletionTimestamp?: string;
  };
  readonly status?: { readonly conditions?: readonly { readonly type: string }[] };
}

/** Starts kube-controller-manager, and plays scheduler and kubelets: every Pod is soon ready. */
export function runPods(cluster: Cluster): AsyncDisposable {
  const manager = startControllerManager(cluster, CONTROLLERS);
  const stopping = new AbortController();
  const running = keepStarting(cluster, stopping.signal);
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await running;
      await manager.stop("SIGKILL");
    },
  };
}

async function keepStarting(cluster: Cluster, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // A Pod may be gone by now.
    await startPods(cluster).catch(() => {});
    await Bun.sleep(LOOK_MS);
  }
}

async function startPods(cluster: Cluster): Promise<void> {
  const items = await cluster.list<Pod>("/api/v1/pods");
  const waiting = items.filter(
    ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined &&
      !status?.conditions?.some(({ type }) => type === "Ready"),
  );
  for (const { metadata } of waiting) {
    const lastTransitionTime = new Date().toISOString();
    const conditions = [{ type: "Ready", status: "True", lastTransitionTime }];
    const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/status`;
    await cluster.patch(path, { status: { phase: "Running", conditions } }, "strategic");
  }
}

const DRIVER = "csi.example.org";
const STORAGE = "/apis/storage.k8s.io/v1";
const ATTACHMENTS = `${STORAGE}/volumeattachments`;
const CORE = "/api/v1/namespaces/default";
const FINALIZER = `external-attacher/${DRIVER.replaceAll(".", "-")}`;

interface VolumeAttachment {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName: string };
  readonly status?: { readonly attached?: boolean };
}

/** Installs the storage system. */
export async function installStorage(cluster: Cluster): Promise<void> {
  const spec = { attachRequired: true, podInfoOnMount: false };
  await cluster.create(`${STORAGE}/csidrivers`, { metadata: { name: DRIVER }, spec });
}

/**
 * Makes a Pod with a volume on a Node, and waits until the volume is attached. The Pod runs, and its Node says that the
 * volume is in use, which it never takes back.
 */
export async function runPodWithVolume(cluster: Cluster, nodeName: string): Promise<void> {
  const name = `data-${nodeName}`;
  const capacity = { storage: "1Gi" };
  const accessModes = ["ReadWriteOnce"];
  await cluster.create("/api/v1/persistentvolumes", {
    metadata: { name },
    spec: {
      capacity,
      accessModes,
      claimRef: { namespace: "default", name },
      csi: { driver: DRIVER, volumeHandle: name },
    },
  });
  await cluster.create(`${CORE}/persistentvolumeclaims`, {
    metadata: { name },
    spec: {
      volumeName: name,
      storageClassName: "",
      accessModes,
      resources: { requests: capacity },
    },
  });
  // A scheduler waits for this, too.
  await waitUntil(`the binding of claim ${name}`, async () => {
    const claim = await cluster.read<{ readonly status?: { readonly phase?: string } }>(
      `${CORE}/persistentvolumeclaims/${name}`,
    );
    return claim.status?.phase === "Bound" ? true : undefined;
  });
  await cluster.create(`${CORE}/pods`, {
    metadata: { name: `web-${nodeName}` },
    spec: {
      nodeName,
      containers: [{ name: "web", image: "example.org/web:1" }],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: name } }],
    },
  });
  const conditions = [{ type: "Ready", status: "True" }];
  await cluster.patch(`${CORE}/pods/web-${nodeName}/status`, {
    status: { phase: "Running", conditions },
  });
  const { metadata } = await waitUntil(`an attachment to ${nodeName}`, () =>
    findAttachment(cluster, nodeName),
  );
  const path = `${ATTACHMENTS}/${metadata.name}`;
  await cluster.patch(path, { metadata: { finalizers: [FINALIZER] } });
  await cluster.patch(`${path}/status`, { status: { attached: true } });
  await cluster.patch(`/api/v1/nodes/${nodeName}/status`, {
    status: { volumesInUse: [`kubernetes.io/csi/${DRIVER}^${name}`] },
  });
  await waitUntil(`a volume of ${nodeName} as attached`, async () => {
    const node = await cluster.read<{ readonly status?: { readonly volumesAttached?: unknown } }>(
      `/api/v1/nodes/${nodeName}`,
    );
    return node.status?.volumesAttached === undefined ? undefined : true;
  });
}

/** Waits until Kubernetes asks the storage system to detach the volume of a Node. */
export async function untilDetachAsked(cluster: Cluster, nodeName: string): Promise<void> {
  await waitUntil(`the detachment from ${nodeName}`, async () => {
    const found = await findAttachment(cluster, nodeName);
    return found === undefined || found.metadata.deletionTimestamp !== undefined ? true : undefined;
  });
}

/** Detaches the volume of a Node, as the storage system does when it is asked. */
export async function detach(cluster: Cluster, nodeName: string): Promise<void> {
  const found = await findAttachment(cluster, nodeName);
  if (found === undefined) throw new Error(`Cannot detach: nothing is attached to ${nodeName}`);
  await cluster.patch(`${ATTACHMENTS}/${found.metadata.name}`, { metadata: { finalizers: null } });
}

/** Whether a Pod of {@linkcode runPodWithVolume} is there. */
export async function hasPod(cluster: Cluster, nodeName: string): Promise<boolean> {
  return (await cluster.adminFetch(`${CORE}/pods/web-${nodeName}`)).ok;
}

async function findAttachment(
  cluster: Cluster,
  nodeName: string,
): Promise<VolumeAttachment | undefined> {
  const items = await cluster.list<VolumeAttachment>(ATTACHMENTS);
  return items.find(({ spec }) => spec.nodeName === nodeName);
}
