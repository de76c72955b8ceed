/**
 * Keeps on the Service what one step has open.
 * @module
 */
import type { LoadBalancerRecord } from "../../../../cloud/capabilities/load_balancers.ts";
import { formatRecord, type KeptRecord, type OpenJob } from "../record.ts";
import type { RecordSigner } from "../record_signer.ts";
import type { Step } from "../steps.ts";

/**
 * The record of one Service while a step is carried out.
 *
 * Guarantees: Kubernetes gets the texts in the order of the calls, and none that it has.
 */
export class RecordKeeper {
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

  /** Keeps the job that is waited for. The address stays. @throws as `keep()` */
  async keepJob(job: OpenJob): Promise<void> {
    const { address } = this.#kept;
    await this.keep({ ...(address && { address }), job });
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
