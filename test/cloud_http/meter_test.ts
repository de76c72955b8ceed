import { expect, test } from "bun:test";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { Meter } from "../../lib/cloud_http/meter.ts";
import { ManualClock } from "../support/manual_clock.ts";

const REQUESTS = "landfall_cloud_requests_total";

test("Meter.count() counts replies by status, and measures them", async () => {
  const metrics = new MetricsRegistry();
  const clock = new ManualClock();
  const { signal } = new AbortController();
  const reply = await new Meter(metrics, clock, "example").count(
    "list_things",
    signal,
    async () => {
      await clock.advance(1_500);
      return { status: 204 };
    },
  );
  expect(reply).toEqual({ status: 204 });
  const text = metrics.render();
  expect(text).toContain(`${REQUESTS}{code="204",operation="list_things",provider="example"} 1`);
  expect(text).toContain(
    'landfall_cloud_request_duration_seconds_sum{operation="list_things",provider="example"} 1.5',
  );
});

test.each<[string, unknown, Error, boolean]>([
  ["ECONNRESET", undefined, Object.assign(new Error("x"), { code: "ECONNRESET" }), false],
  ["error", undefined, new Error("x"), false],
  ["timeout", new DOMException("late", "TimeoutError"), new Error("x"), true],
  ["canceled", new Error("stop"), new Error("x"), true],
])("Meter.count() counts a request without a reply as %s", async (code, reason, error, isEnded) => {
  const metrics = new MetricsRegistry();
  const ending = new AbortController();
  if (isEnded) ending.abort(reason);
  const counted = new Meter(metrics, new ManualClock(), "example").count("o", ending.signal, () =>
    Promise.reject(error),
  );
  expect(await counted.catch((thrown: unknown) => thrown)).toBe(error);
  expect(metrics.render()).toContain(`code="${code}"`);
});
