/**
 * Another controller, as far as a Lease shows it: holds it, renews it, stops or gives it back, as client-go does.
 * @module
 */
import { toMicroTime } from "../../../../lib/kube/election/lease.ts";
import type { Cluster } from "../../process/cluster.ts";

const RENEW_MS = 400;

/** Fields of a Lease that client-go writes. */
interface LeaseRecord {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

interface LeaseObject {
  readonly metadata: { readonly resourceVersion?: string };
  readonly spec?: LeaseRecord;
}

/** A holder of a Lease, with the rights of an administrator. */
export class OtherHolder {
  readonly identity: string = `go-host_${crypto.randomUUID()}`;
  readonly #cluster: Cluster;
  readonly #lease: { readonly namespace: string; readonly name: string; readonly seconds: number };
  #renewing: Promise<void> = Promise.resolve();
  #isStopped = true;

  /** @param lease.seconds How long others believe in it */
  constructor(
    cluster: Cluster,
    lease: { readonly namespace: string; readonly name: string; readonly seconds: number },
  ) {
    this.#cluster = cluster;
    this.#lease = lease;
  }

  /** The Lease now; `undefined` when there is none. */
  async read(): Promise<LeaseRecord | undefined> {
    const found = await this.#read();
    return found?.spec;
  }

  /** Takes the Lease if nobody holds it, and renews it until told otherwise. Returns whether it did. */
  async acquire(): Promise<boolean> {
    const found = await this.#read();
    if (found?.spec?.holderIdentity) return false;
    const now = toMicroTime(Date.now());
    const leaseTransitions = found?.spec === undefined ? 0 : (found.spec.leaseTransitions ?? 0) + 1;
    const isDone = await this.#write(found, {
      ...this.#claim(now),
      acquireTime: now,
      leaseTransitions,
    });
    if (isDone) {
      this.#isStopped = false;
      this.#renewing = this.#renew();
    }
    return isDone;
  }

  /** Falls silent, as a process that is killed; returns when, in milliseconds of `performance.now()`. */
  async fallSilent(): Promise<number> {
    this.#isStopped = true;
    const atMs = performance.now();
    await this.#renewing;
    return atMs;
  }

  /** Gives the Lease back; returns when. */
  async release(): Promise<number> {
    await this.fallSilent();
    const found = await this.#read();
    const now = toMicroTime(Date.now());
    const record = { ...found?.spec, holderIdentity: "", leaseDurationSeconds: 1 };
    const isDone = await this.#write(found, { ...record, acquireTime: now, renewTime: now });
    if (!isDone) throw new Error("Cannot release the Lease: somebody else wrote it");
    return performance.now();
  }

  async #renew(): Promise<void> {
    while (!this.#isStopped) {
      await Bun.sleep(RENEW_MS);
      if (this.#isStopped) return;
      const found = await this.#read();
      if (found?.spec?.holderIdentity !== this.identity) {
        throw new Error(`The Lease was taken by ${found?.spec?.holderIdentity} while it was held`);
      }
      await this.#write(found, { ...found.spec, ...this.#claim(toMicroTime(Date.now())) });
    }
  }

  #claim(now: string): LeaseRecord {
    const { identity: holderIdentity } = this;
    return { holderIdentity, leaseDurationSeconds: this.#lease.seconds, renewTime: now };
  }

  get #path(): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${this.#lease.namespace}/leases`;
  }

  #read(): Promise<LeaseObject | undefined> {
    return this.#cluster.find<LeaseObject>(`${this.#path}/${this.#lease.name}`);
  }

  /** Whether nobody else wrote in between. */
  async #write(found: LeaseObject | undefined, spec: LeaseRecord): Promise<boolean> {
    const { namespace, name } = this.#lease;
    const isNew = found === undefined;
    const kind = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };
    const metadata = { ...found?.metadata, namespace, name };
    const response = await this.#cluster.adminFetch(isNew ? this.#path : `${this.#path}/${name}`, {
      method: isNew ? "POST" : "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...kind, ...found, metadata, spec }),
    });
    if (response.ok || response.status === 409) return response.ok;
    throw new Error(`Cannot write the Lease: ${await response.text()}`);
  }
}
