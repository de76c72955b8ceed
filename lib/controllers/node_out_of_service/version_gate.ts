/**
 * Checks whether Kubernetes is new enough to support the out-of-service taint.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { findVersionText, isAtLeast, parseServerVersion } from "../../kube/api/version.ts";
import { LEAST_KUBERNETES } from "./words.ts";

/** How long an answer is valid: a control plane may be upgraded or rolled back. */
const ANSWER_MS = 600_000;
/** Time until the next attempt after no answer. */
const RETRY_MS = 10_000;

/** Checks the version of the API server. */
export class VersionGate {
  readonly #options: { readonly client: KubeClient; readonly clock: Clock; readonly log: Logger };
  #answer: { readonly isNewEnough: boolean; readonly atMs: number } | undefined;

  constructor(options: {
    readonly client: KubeClient;
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    this.#options = options;
  }

  /** Whether the last answer was that the API server is new enough. */
  get isOpen(): boolean {
    return this.#answer?.isNewEnough ?? false;
  }

  /**
   * Asks the API server, or returns the last answer while it is valid.
   *
   * @returns Whether the API server is new enough
   * @throws {KubeError} if it does not answer
   */
  async check(signal: AbortSignal): Promise<boolean> {
    const { client, clock } = this.#options;
    const known = this.#answer;
    if (known && clock.monotonic() - known.atMs < ANSWER_MS) return known.isNewEnough;
    const version = parseServerVersion(findVersionText(await client.get("/version", signal)));
    const isNewEnough = version !== undefined && isAtLeast(version, LEAST_KUBERNETES);
    this.#answer = { isNewEnough, atMs: clock.monotonic() };
    if (known?.isNewEnough !== isNewEnough) this.#logAnswer(isNewEnough, version?.text);
    return isNewEnough;
  }

  /** Checks until the signal aborts: soon again without an answer, otherwise when the answer is no longer valid. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const isAnswered = await this.check(signal).then(
        () => true,
        () => false,
      );
      await clock.sleep(isAnswered ? ANSWER_MS : RETRY_MS, signal).catch(() => undefined);
    }
  }

  #logAnswer(isNewEnough: boolean, version: string | undefined): void {
    const { log } = this.#options;
    const fields = { version: version ?? "unknown", least: LEAST_KUBERNETES };
    if (isNewEnough) log.info("Kubernetes supports the out-of-service taint", fields);
    else
      log.error(
        "Kubernetes is too old for the out-of-service taint; Landfall does not set it",
        fields,
      );
  }
}
