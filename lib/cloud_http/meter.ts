/**
 * Counts requests and measures their duration.
 * @module
 */
import { type Clock, isTimeout } from "../core/clock.ts";
import { findErrorCode } from "../core/http/connection.ts";
import type { Counter, Histogram, MetricsRegistry } from "../core/metrics.ts";

/** The metrics of all requests to one cloud. */
export class Meter {
  readonly #clock: Clock;
  readonly #provider: string;
  readonly #requests: Counter;
  readonly #durations: Histogram;

  /** @param provider The cloud, as in `--cloud-provider` */
  constructor(metrics: MetricsRegistry, clock: Clock, provider: string) {
    this.#clock = clock;
    this.#provider = provider;
    this.#requests = metrics.counter({
      name: "landfall_cloud_requests_total",
      help: "Requests to the cloud, by operation and code (the HTTP status, or the error if there was no reply).",
    });
    this.#durations = metrics.histogram({
      name: "landfall_cloud_request_duration_seconds",
      help: "How long requests to the cloud took, by operation.",
    });
  }

  /**
   * Counts one request.
   *
   * @param operation For metrics: `list_things`
   * @param signal The signal of the request
   * @param send Sends the request; returns the reply, or throws like `fetch`
   */
  async count<T extends { readonly status: number }>(
    operation: string,
    signal: AbortSignal,
    send: () => Promise<T>,
  ): Promise<T> {
    const startedMs = this.#clock.monotonic();
    const count = (code: string): void => {
      const labels = { provider: this.#provider, operation };
      this.#requests.inc({ ...labels, code });
      this.#durations.observe((this.#clock.monotonic() - startedMs) / 1_000, labels);
    };
    try {
      const reply = await send();
      count(String(reply.status));
      return reply;
    } catch (error) {
      count(signal.aborted ? toAbortCode(signal) : findErrorCode(error) || "error");
      throw error;
    }
  }
}

/** Creates the metric of objects that do not have the form that their schema wants. */
export function createUndecodableCounter(metrics: MetricsRegistry): Counter {
  return metrics.counter({
    name: "landfall_cloud_undecodable_objects_total",
    help: "Objects of the cloud that Landfall could not read, by collection.",
  });
}

function toAbortCode(signal: AbortSignal): string {
  return isTimeout(signal.reason) ? "timeout" : "canceled";
}
