/**
 * Wall clocks that are hours off, run fast or are set, on real processes. What is promised: nobody's clock is compared
 * with another's, so replicas agree whatever their clocks say; a clock that is set back changes nothing; one that is
 * set forward costs the Lease, for it cannot be told from a machine that slept; and where a clock is before the
 * beginning of a certificate, that is what is said.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { skipsCluster } from "../../support/process/cluster.ts";
import { createFakeTime, type FakeTime, skipsFakeTime } from "../../support/fake_time.ts";
import { type LogRecord, PROGRAM } from "../../support/process/landfall_process.ts";
import { findForeignWrites } from "../../support/kube/election/lease_history.ts";
import { usePlacedFleet } from "../../support/nodes/watched_fleet.ts";
import type { PlacedLandfall } from "../../support/process/placed_landfall.ts";

const isSkipped = skipsCluster() || skipsFakeTime();
const HOUR_MS = 3_600_000;
const LEASE_MS = 4_000;
const RETRY_MS = 700;
const ARGS = [
  "--node-monitor-period=500ms",
  "--leader-elect=true",
  `--leader-elect-lease-duration=${LEASE_MS}ms`,
  "--leader-elect-renew-deadline=3s",
  `--leader-elect-retry-period=${RETRY_MS}ms`,
] as const;

/** One with a clock of its own. */
interface Skewed extends PlacedLandfall {
  readonly time: FakeTime;
}

describe.skipIf(isSkipped)(`with a wrong clock, ${PROGRAM.name}`, () => {
  const stage = usePlacedFleet(PROGRAM);
  const { use } = stage;
  const place = async (name: string, offset: string): Promise<Skewed> => {
    const time = await createFakeTime(join(use().rig.cluster.folder, `${name}.clock`), offset);
    const settings = ["deletion: {confirmations: 3, holdOff: 1s, fleetShare: 1}"];
    const placed = await stage.place({ name, env: time.env, args: ARGS, settings });
    return { ...placed, time };
  };

  test("replicas agree on one although their clocks are hours apart and one runs fast", async () => {
    const { rig, fleet } = use();
    const asked = (await rig.cluster.listRequests()).length;
    const first = await place("fast", "+5h x1.5");
    await first.landfall.waitForRecord(isLeading);
    const second = await place("ahead", "+11h");
    await second.untilReady();
    expect(await readFile(`/proc/${first.pid}/maps`, "utf8")).toContain("libfaketime");
    const { time } = await first.landfall.waitForRecord(isLeading);
    expect(Date.parse(String(time)) - Date.now()).toBeGreaterThan(4 * HOUR_MS);
    await fleet.add("early");
    await fleet.settle();
    // Long enough for a Lease to run out, were clocks compared.
    await Bun.sleep(2 * LEASE_MS);
    await fleet.lose("early");
    await fleet.settle();
    expect(second.landfall.log).not.toContain("Became leader");
    const killedMs = Date.now();
    first.landfall.signal("SIGKILL");
    await second.landfall.waitForRecord(isLeading);
    const tookOverMs = Date.now() - killedMs;
    expect(tookOverMs).toBeLessThan(LEASE_MS + 2 * RETRY_MS + 1_000);
    await fleet.add("after");
    await fleet.settleForGood();
    console.log(`clocks 6 h apart: the other led ${tookOverMs} ms after the first was killed`);
    expect(findForeignWrites((await rig.cluster.listRequests()).slice(asked))).toEqual([]);
  }, 90_000);

  test("a clock set back changes nothing, and one set forward costs the Lease and no more", async () => {
    const { rig, fleet } = use();
    const asked = (await rig.cluster.listRequests()).length;
    const first = await place("jumps", "+5h");
    await first.landfall.waitForRecord(isLeading);
    const second = await place("steady", "+0");
    await second.untilReady();
    await first.time.set("+2h");
    await Bun.sleep(2 * LEASE_MS);
    await fleet.add("set-back");
    await fleet.settle();
    expect(first.landfall.log).not.toContain("leaderelection lost");
    const setMs = Date.now();
    await first.time.set("+8h");
    const { code, stderr } = await first.landfall.ended;
    expect(code, stderr.slice(-2_000)).toBe(1);
    expect(stderr).toContain("leaderelection lost");
    await second.landfall.waitForRecord(isLeading);
    console.log(`a clock set forward: the other led ${Date.now() - setMs} ms later`);
    await fleet.add("set-forward");
    await fleet.settleForGood();
    const requests = (await rig.cluster.listRequests()).slice(asked);
    expect(findForeignWrites(requests)).toEqual([]);
  }, 90_000);

  test("a clock before the beginning of the API server's certificate is named, and nothing is written", async () => {
    const { rig } = use();
    const { landfall, username, time, untilReady } = await place("behind", "-7h");
    const record = await landfall.waitForRecord(({ message }) => message === "Cannot list");
    expect(String(record["error"])).toContain("certificate not trusted: it is not valid yet");
    const requests = await rig.cluster.listRequests();
    expect(requests.filter((one) => one.username === username)).toEqual([]);
    // Once it is right, no restart is needed.
    await time.set("+0");
    await untilReady();
  }, 60_000);
});

function isLeading({ message }: LogRecord): boolean {
  return message === "Became leader";
}
