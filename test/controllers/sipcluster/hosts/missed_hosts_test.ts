/**
 * How often Secrets that a cluster misses are read, and which clusters look again.
 * @module
 */
import { expect, test } from "bun:test";
import { MissedHosts } from "../../../../lib/controllers/sipcluster/hosts/missed_hosts.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { readExtent } from "../../../support/extent.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

interface Stage extends Disposable {
  readonly clock: ManualClock;
  readonly missed: MissedHosts;
  /** When each host was read, in seconds. */
  readonly reads: Map<string, number[]>;
  /** Hosts whose Secrets say something else at the next look. */
  readonly mended: Set<string>;
  readonly woken: string[][];
}

function start(): Stage {
  const clock = new ManualClock();
  const reads = new Map<string, number[]>();
  const mended = new Set<string>();
  const woken: string[][] = [];
  const readAgain = async (host: string): Promise<boolean> => {
    reads.set(host, [...(reads.get(host) ?? []), clock.monotonic() / 1_000]);
    if (host === "refused") throw new KubeError("forbidden", "no");
    return await Promise.resolve(mended.has(host));
  };
  const missed = new MissedHosts({ addresses: { readAgain }, clock });
  const end = missed.subscribe((keys) => void woken.push([...keys]));
  return { clock, missed, reads, mended, woken, [Symbol.dispose]: end };
}

test("a Secret that comes late is seen within a tenth of the time that it was missing, and two seconds", async () => {
  using stage = start();
  const { clock, missed, mended, woken } = stage;
  missed.note("tenant/a", ["h"]);
  missed.note("tenant/b", ["h", "refused"]);
  await clock.advance(60_000);
  expect(woken).toEqual([]);
  mended.add("h");
  await clock.advance(8_000);
  expect(woken).toEqual([["tenant/a", "tenant/b"]]);
});

test("a Secret that never comes is read more and more rarely, down to twice a minute", async () => {
  using stage = start();
  const { clock, missed, reads } = stage;
  missed.note("tenant/a", ["h"]);
  await clock.advance(3_600_000);
  const times = reads.get("h") ?? [];
  expect(times.slice(0, 4)).toEqual([2, 4, 6, 8]);
  const pauses = times.slice(1).map((time, at) => time - (times[at] ?? 0));
  expect(Math.max(...pauses)).toBe(30);
  expect(times.length).toBeLessThan(180);
});

test("thousands of hosts without a Secret take five requests in a second, and each gets its turn", async () => {
  const count = readExtent() === "all" ? 10_000 : 2_000;
  using stage = start();
  const { clock, missed, reads } = stage;
  const hosts = Array.from({ length: count }, (_, at) => `h${at}`);
  missed.note("tenant/a", hosts);
  await clock.advance(count * 200);
  expect([...reads.values()].flat()).toHaveLength(count);
  expect(reads.size).toBe(count);
});

test("nothing is read, and no timer runs, while no cluster misses a host", async () => {
  using stage = start();
  const { clock, missed, reads } = stage;
  missed.note("tenant/a", ["h"]);
  missed.note("tenant/b", ["h"]);
  missed.note("tenant/a", []);
  await clock.advance(2_000);
  expect(reads.get("h")).toEqual([2]);
  missed.forget("tenant/b");
  await clock.advance(600_000);
  expect(reads.get("h")).toEqual([2]);
  expect(clock.pending).toBe(0);
});

test("nothing is read once there is no listener", async () => {
  const stage = start();
  stage.missed.note("tenant/a", ["h"]);
  stage[Symbol.dispose]();
  await stage.clock.advance(600_000);
  expect(stage.reads.size).toBe(0);
  expect(stage.clock.pending).toBe(0);
});
