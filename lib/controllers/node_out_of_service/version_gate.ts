/**
 * Checks whether Kubernetes is new enough to support the out-of-service taint.
 * @module
 */
import { findVersionText, isAtLeast, parseServerVersion } from "../../kube/api/version.ts";
import type { NodeContext } from "../context.ts";
import { LEAST_KUBERNETES } from "./words.ts";

/** How long an answer is valid: a control plane may be upgraded or rolled back. */
const ANSWER_MS = 600_000;
/** Time until the next attempt after no answer. */
const RETRY_MS = 10_000;

const SUPPORTED = "Kubernetes supports the out-of-service taint";
const TOO_OLD = "Kubernetes is too old for the out-of-service taint; Landfall does not set it";

type GateContext = Pick<NodeContext, "client" | "clock" | "log">;

/** Checks the version of the API server. */
export class VersionGate {
  readonly #context: GateContext;
  #answer: { readonly isNewEnough: boolean; readonly atMs: number } | undefined;

  constructor(context: GateContext) {
    this.#context = context;
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
    const { client, clock, log } = this.#context;
    const known = this.#answer;
    if (known && clock.monotonic() - known.atMs < ANSWER_MS) return known.isNewEnough;
    const version = parseServerVersion(findVersionText(await client.get("/version", signal)));
    const isNewEnough = version !== undefined && isAtLeast(version, LEAST_KUBERNETES);
    this.#answer = { isNewEnough, atMs: clock.monotonic() };
    if (known?.isNewEnough !== isNewEnough) {
      const level = isNewEnough ? "info" : "error";
      const fields = { version: version?.text ?? "unknown", least: LEAST_KUBERNETES };
      log[level](isNewEnough ? SUPPORTED : TOO_OLD, fields);
    }
    return isNewEnough;
  }

  /** Checks until the signal aborts: soon again without an answer, otherwise when the answer is no longer valid. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    while (!signal.aborted) {
      const isAnswered = await this.check(signal).then(
        () => true,
        () => false,
      );
      await clock.sleep(isAnswered ? ANSWER_MS : RETRY_MS, signal).catch(() => undefined);
    }
  }
}
