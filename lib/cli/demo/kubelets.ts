/**
 * The kubelets of the demo, and the part of Kubernetes that notices when one of them stops.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import type { Json, ObjectAccess } from "../../simulator/kubernetes/mod.ts";
import type { DemoMachine } from "../../simulator/demo_machine.ts";
import { toReadyConditions, toRegisteredNode, toUnknownConditions } from "./cluster.ts";

/** How long a kubelet is silent before its Node is not Ready. Kubernetes waits 50 s. */
export const SILENCE_MS = 2_000;
/** How often a kubelet renews its Lease: a quarter of the wait, as in Kubernetes. */
const RENEW_MS = 500;
/** How often a kubelet reports its status when nothing changed, as a real one does. */
const REPORT_MS = 300_000;
const LEASE_NAMESPACE = "kube-node-lease";

/** One kubelet. Times are monotonic milliseconds. */
interface Kubelet {
  readonly uid: Json | undefined;
  isSilent: boolean;
  isGivenUp: boolean;
  renewedMs: number;
  reportedMs: number;
  /** Wall-clock times as its status has them. */
  reportedAt: string;
  readySince: string;
  /** Of its machine: another one after each start. */
  bootId: string;
}

/**
 * Kubelets that register, renew their Leases and report their status, until they are stopped. They act only while
 * {@linkcode run} runs.
 */
export class Kubelets {
  readonly #objects: ObjectAccess;
  readonly #clock: Clock;
  readonly #kubelets = new Map<string, Kubelet>();

  constructor({ objects, clock }: { objects: ObjectAccess; clock: Clock }) {
    this.#objects = objects;
    this.#clock = clock;
  }

  /** Starts the kubelet on a machine: it registers its Node, with the taint that waits for the cloud. */
  register(machine: DemoMachine): void {
    const name = machine.nodeName;
    const now = this.#isoNow();
    const bootId = crypto.randomUUID();
    const { status, ...node } = toRegisteredNode(machine, now);
    const nodeInfo = { ...status.nodeInfo, bootID: bootId };
    const { metadata } = this.#objects.createNode({ ...node, status: { ...status, nodeInfo } });
    const nowMs = this.#clock.monotonic();
    this.#kubelets.set(name, {
      uid: metadata["uid"],
      isSilent: false,
      isGivenUp: false,
      renewedMs: nowMs,
      reportedMs: nowMs,
      reportedAt: now,
      readySince: now,
      bootId,
    });
    this.#renewLease(name, metadata["uid"], now);
  }

  /** Stops a kubelet: its machine is off, or has no network. */
  silence(name: string): void {
    const kubelet = this.#kubelets.get(name);
    if (kubelet) kubelet.isSilent = true;
  }

  /** Starts a kubelet again. */
  resume(name: string): void {
    const kubelet = this.#kubelets.get(name);
    if (kubelet) kubelet.isSilent = false;
  }

  /** Starts the kubelet again after a restart of its machine. */
  reboot(name: string): void {
    const kubelet = this.#kubelets.get(name);
    if (!kubelet) return;
    kubelet.bootId = crypto.randomUUID();
    // Reports changes immediately.
    kubelet.reportedMs = -Infinity;
    kubelet.isSilent = false;
  }

  /** Runs until the signal aborts; then returns. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const [name, kubelet] of this.#kubelets) this.#beat(name, kubelet);
      await this.#clock.sleep(RENEW_MS, signal).catch(() => undefined);
    }
  }

  #beat(name: string, kubelet: Kubelet): void {
    // The Node was deleted: its Lease goes with it, and the kubelet does not register again.
    if (this.#objects.getNode(name)?.metadata["uid"] !== kubelet.uid) {
      this.#kubelets.delete(name);
      this.#objects.delete("leases", { name, namespace: LEASE_NAMESPACE });
    } else if (kubelet.isSilent) this.#giveUpLater(name, kubelet);
    else this.#renew(name, kubelet);
  }

  #renew(name: string, kubelet: Kubelet): void {
    const nowMs = this.#clock.monotonic();
    const now = this.#isoNow();
    kubelet.renewedMs = nowMs;
    this.#renewLease(name, kubelet.uid, now);
    if (!kubelet.isGivenUp && nowMs - kubelet.reportedMs < REPORT_MS) return;
    if (kubelet.isGivenUp) kubelet.readySince = now;
    Object.assign(kubelet, { isGivenUp: false, reportedMs: nowMs, reportedAt: now });
    const conditions = toReadyConditions(now, kubelet.readySince);
    this.#objects.patchNodeStatus(name, { conditions, nodeInfo: { bootID: kubelet.bootId } });
  }

  #renewLease(name: string, uid: Json | undefined, now: string): void {
    const path = { name, namespace: LEASE_NAMESPACE };
    const spec = { renewTime: toMicroTime(now) };
    if (this.#objects.get("leases", path)) {
      this.#objects.patch("leases", path, { spec });
      return;
    }
    const owner = { apiVersion: "v1", kind: "Node", name, uid: uid ?? "" };
    this.#objects.create("leases", {
      metadata: { ...path, ownerReferences: [owner] },
      spec: { ...spec, holderIdentity: name, leaseDurationSeconds: SILENCE_MS / 1_000 },
    });
  }

  /** As the controller manager of Kubernetes does when a kubelet does not renew its Lease. */
  #giveUpLater(name: string, kubelet: Kubelet): void {
    if (kubelet.isGivenUp || this.#clock.monotonic() - kubelet.renewedMs < SILENCE_MS) return;
    kubelet.isGivenUp = true;
    const conditions = toUnknownConditions(kubelet.reportedAt, this.#isoNow());
    this.#objects.patchNodeStatus(name, { conditions });
  }

  #isoNow(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

/** Leases have times in microseconds. */
function toMicroTime(iso: string): string {
  return iso.replace("Z", "000Z");
}
