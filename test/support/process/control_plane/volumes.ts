/**
 * Volumes of Pods that a real kube-controller-manager attaches and detaches. What a storage system adds to Kubernetes
 * is played: the program that attaches (external-attacher), and what kubelets say of volumes in use.
 * @module
 */
import { readJson } from "../../kube/contract/client.ts";
import type { Cluster } from "../cluster.ts";
import { waitUntil } from "../cluster_rig.ts";

const DRIVER = "csi.example.org";
const STORAGE = "/apis/storage.k8s.io/v1";
const ATTACHMENTS = `${STORAGE}/volumeattachments`;
const CORE = "/api/v1/namespaces/default";
const FINALIZER = `external-attacher/${DRIVER.replaceAll(".", "-")}`;
const JSON_PATCH = "application/merge-patch+json";

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
    const claim = await readJson<{ readonly status?: { readonly phase?: string } }>(
      await cluster.adminFetch(`${CORE}/persistentvolumeclaims/${name}`),
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
  await patch(cluster, `${CORE}/pods/web-${nodeName}/status`, {
    status: { phase: "Running", conditions },
  });
  const { metadata } = await waitUntil(`an attachment to ${nodeName}`, () =>
    findAttachment(cluster, nodeName),
  );
  const path = `${ATTACHMENTS}/${metadata.name}`;
  await patch(cluster, path, { metadata: { finalizers: [FINALIZER] } });
  await patch(cluster, `${path}/status`, { status: { attached: true } });
  await patch(cluster, `/api/v1/nodes/${nodeName}/status`, {
    status: { volumesInUse: [`kubernetes.io/csi/${DRIVER}^${name}`] },
  });
  await waitUntil(`a volume of ${nodeName} as attached`, async () => {
    const node = await readJson<{ readonly status?: { readonly volumesAttached?: unknown } }>(
      await cluster.adminFetch(`/api/v1/nodes/${nodeName}`),
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
  await patch(cluster, `${ATTACHMENTS}/${found.metadata.name}`, { metadata: { finalizers: null } });
}

/** Whether a Pod of {@linkcode runPodWithVolume} is there. */
export async function hasPod(cluster: Cluster, nodeName: string): Promise<boolean> {
  return (await cluster.adminFetch(`${CORE}/pods/web-${nodeName}`)).ok;
}

async function findAttachment(
  cluster: Cluster,
  nodeName: string,
): Promise<VolumeAttachment | undefined> {
  const { items } = await readJson<{ readonly items: readonly VolumeAttachment[] }>(
    await cluster.adminFetch(ATTACHMENTS),
  );
  return items.find(({ spec }) => spec.nodeName === nodeName);
}

async function patch(cluster: Cluster, path: string, body: object): Promise<void> {
  const headers = { "content-type": JSON_PATCH };
  const init = { method: "PATCH", headers, body: JSON.stringify(body) };
  const response = await cluster.adminFetch(path, init);
  if (!response.ok) throw new Error(`Cannot patch ${path}: ${await response.text()}`);
}
