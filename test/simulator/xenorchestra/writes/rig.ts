/**
 * A Xen Orchestra in memory, with the site where machines are made.
 * @module
 */
import {
  type Collection,
  createMachineSite,
  type MachineSite,
  XenOrchestra,
  type XenOrchestraOptions,
  type XoRecord,
} from "../../../../lib/simulator/xenorchestra/mod.ts";
import { Work } from "../../../../lib/simulator/xenorchestra/writes/backend.ts";
import { createVm } from "../../../../lib/simulator/xenorchestra/writes/create.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

/** Thrown for a request that gets no answer. */
export class LostReplyError extends Error {}

/** The cloud, and requests to it. */
export class Rig {
  readonly site: MachineSite = createMachineSite();
  readonly clock: ManualClock = new ManualClock();
  readonly cloud: XenOrchestra;
  readonly #ended = new AbortController();

  constructor(options: Partial<XenOrchestraOptions> = {}) {
    const { clock, site } = this;
    this.cloud = new XenOrchestra({
      clock,
      signal: this.#ended.signal,
      world: site.world,
      ...options,
    });
  }

  /** All records of a collection that clients see. */
  list(collection: Collection): XoRecord[] {
    return this.cloud.state.list(collection);
  }

  /** The work of a request of this user, without a request. */
  work(userId: string = "user"): Work {
    return new Work(this.cloud.backend, userId);
  }

  /** A record that must exist. */
  record(collection: Collection, id: string): XoRecord {
    const record = this.cloud.state.read(collection, id);
    if (record === undefined) throw new Error(`There is no ${id} in ${collection}`);
    return record;
  }

  /** Makes a machine of the template with a disk and an interface, and returns its record. */
  async make(name: string, template: string = this.site.templateIds.debian): Promise<XoRecord> {
    const { id } = await createVm(this.work(), this.site.poolIds.paris, {
      template,
      name_label: name,
    });
    return this.record("vms", id);
  }

  get(path: string): Promise<Response> {
    return this.ask("GET", path);
  }

  post(path: string, body?: unknown): Promise<Response> {
    return this.ask("POST", path, body);
  }

  /** Asks. @throws {LostReplyError} without an answer */
  async ask(method: string, path: string, body?: unknown): Promise<Response> {
    const init = { method, headers: { cookie: `authenticationToken=${this.cloud.token}` } };
    const content = body instanceof Uint8Array ? new Blob([body]) : JSON.stringify(body);
    const request = new Request(`http://cloud.memory/rest/v0${path}`, {
      ...init,
      ...(body !== undefined && { body: content }),
    });
    const outcome = await this.cloud.answer(request);
    if (outcome.kind !== "reply") throw new LostReplyError(outcome.kind);
    return outcome.response;
  }

  stop(): void {
    this.#ended.abort();
  }
}
