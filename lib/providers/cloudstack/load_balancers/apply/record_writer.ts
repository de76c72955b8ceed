/**
 * Keeps on the Service what one step has open.
 * @module
 */
import type { LoadBalancerRecord } from "../../../../cloud/capabilities/load_balancers.ts";
import { type AskedAddress, formatRecord, type KeptRecord, type OpenJob } from "../record.ts";
import type { RecordSigner } from "../record_signer.ts";
import type { Step } from "../steps.ts";
import type { PublicAddress } from "../view.ts";

/**
 * The record of one Service while a step is carried out.
 *
 * Guarantees: Kubernetes gets the texts in the order of the calls, and none that it has.
 */
export class RecordWriter {
  readonly #record: LoadBalancerRecord;
  readonly #format: (kept: KeptRecord) => string | undefined;
  readonly #signal: AbortSignal;
  #kept: KeptRecord;
  #saved: string | undefined;
  #last: Promise<void> = Promise.resolve();

  /** @param step The step, with what the record said when it was planned */
  constructor(
    record: LoadBalancerRecord,
    step: Pick<Step, "owner" | "record">,
    signer: RecordSigner,
    signal: AbortSignal,
  ) {
    this.#record = record;
    this.#format = (kept) => formatRecord(kept, step.owner.uid, signer);
    this.#signal = signal;
    this.#kept = step.record ?? {};
    this.#saved = this.#format(this.#kept);
  }

  get kept(): KeptRecord {
    return this.#kept;
  }

  /**
   * Keeps exactly this. Resolves when Kubernetes has it.
   *
   * @throws {KubeError} as `LoadBalancerRecord.save()` does
   */
  async keep(kept: KeptRecord): Promise<void> {
    this.#kept = kept;
    const save = (): Promise<void> => this.#save(this.#format(kept));
    // A save that failed was its own caller's problem.
    this.#last = this.#last.then(save, save);
    await this.#last;
  }

  /**
   * Keeps which address is asked for. A job that was waited for is over.
   *
   * @param address Absent: none any more
   * @throws as `keep()`
   */
  async keepAddress(address?: AskedAddress): Promise<void> {
    const { shared } = this.#kept;
    await this.keep({ ...(address && { address }), ...(shared !== undefined && { shared }) });
  }

  /** Keeps the job that is waited for. The rest stays. @throws as `keep()` */
  async keepJob(job: OpenJob): Promise<void> {
    await this.keep({ ...this.#kept, job });
  }

  /** Keeps that the Service uses an address together with others. @throws as `keep()` */
  async keepShared(ip: string): Promise<void> {
    const { address } = this.#kept;
    await this.keep({ ...(address && { address }), shared: ip });
  }

  /** Keeps nothing any more that names an address. @throws as `keep()` */
  async forgetAddress({ id, ip }: Pick<PublicAddress, "id" | "ip">): Promise<void> {
    const { address, shared } = this.#kept;
    if (address?.id !== id && shared !== ip) return;
    await this.keep({
      ...(address && address.id !== id && { address }),
      ...(shared !== undefined && shared !== ip && { shared }),
    });
  }

  /** Removes the record, also one that cannot be read. @throws as `keep()` */
  async clear(): Promise<void> {
    this.#kept = {};
    await this.#record.save(undefined, this.#signal);
    this.#saved = undefined;
  }

  async #save(text: string | undefined): Promise<void> {
    if (text === this.#saved) return;
    await this.#record.save(text, this.#signal);
    this.#saved = text;
  }
}
