/**
 * A machine that lacks something, on real processes: room for logs, somebody who reads them, file descriptors.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readCpu, readHoldings } from "../../../bench/meters/proc.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import { waitUntil } from "../../support/process/cluster_rig.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import { usePlacedFleet } from "../../support/nodes/watched_fleet.ts";
import type { PlacedLandfall, PlaceOptions } from "../../support/process/placed_landfall.ts";
import { openRaw } from "../../support/net/raw_http.ts";
import { findFreePort } from "../../support/process/server_process.ts";

const isSkipped = skipsCluster();
const hasBinary = PROGRAM.name === "binary";
/** So little that nothing but the proof of absence stands between a Node and its deletion. */
const CARELESS = "deletion: {confirmations: 3, holdOff: 1s, fleetShare: 1}";
/** Most processor time in five seconds in which little is done, in seconds: what spins takes all. */
const CPU_S_MAX = 1.5;
const DESCRIPTORS = 64;

describe.skipIf(isSkipped || !hasBinary)("on a machine that lacks something, the binary", () => {
  const stage = usePlacedFleet(PROGRAM);
  const { use } = stage;
  const place = (options: PlaceOptions): Promise<PlacedLandfall> =>
    stage.place({
      settings: [CARELESS],
      ...options,
      args: ["--node-monitor-period=500ms", ...(options.args ?? [])],
    });

  /** A Node joins, a machine goes, and what that takes of the processor stays within bounds. */
  const expectWork = async ({ pid, ask }: PlacedLandfall, name: string): Promise<void> => {
    const { fleet } = use();
    const before = await readCpu(pid);
    const startMs = performance.now();
    await fleet.add(`${name}-1`, `${name}-2`);
    await fleet.settle();
    await fleet.lose(`${name}-1`);
    await fleet.settleForGood();
    expect((await ask("/livez")).status).toBe(200);
    const perFive = ((await readCpu(pid)) - before) / ((performance.now() - startMs) / 5_000);
    expect(perFive).toBeLessThan(CPU_S_MAX);
  };

  test("goes on when the disk is full that its log is on, and logs again when it is not", async () => {
    const folder = join(use().rig.cluster.folder, "logs");
    // Mounts of its own, seen by nobody else and gone with it.
    const script = `mkdir -p "$0" && mount -t tmpfs -o size=64k tmpfs "$0" && exec "$@" >> "$0/log" 2>&1`;
    const prefix = ["unshare", "--mount", "sh", "-c", script, folder];
    const placed = await place({ name: "full-disk", prefix });
    await placed.untilReady();
    const inside = join(`/proc/${placed.pid}/root`, folder);
    const filler = join(inside, "filler");
    await writeFile(filler, "x".repeat(128 * 1024)).catch(() => undefined);
    const readLog = (): Promise<string> => readFile(join(inside, "log"), "utf8");
    await expect(writeFile(join(inside, "more"), "x".repeat(8_192))).rejects.toThrow("ENOSPC");
    // Its last page has room for some records yet.
    await use().fleet.add(...Array.from({ length: 25 }, (_, at) => `fills-${at}`));
    await expectWork(placed, "full");
    expect(await readLog()).not.toContain('"node":"full-2"');
    await rm(filler);
    await rm(join(inside, "more"), { force: true });
    await use().fleet.add("roomy");
    await use().fleet.settle();
    await waitUntil("the log to go on", async () =>
      (await readLog()).includes('"node":"roomy"') ? true : undefined,
    );
  }, 60_000);

  test("goes on when nobody reads its log any more", async () => {
    const script = 'exec "$0" "$@" > >(exec true) 2>&1';
    const placed = await place({ name: "no-reader", prefix: ["bash", "-c", script] });
    await placed.untilReady();
    await expectWork(placed, "unread");
    placed.landfall.signal("SIGTERM");
    expect((await placed.landfall.ended).code).toBe(0);
  }, 60_000);

  test(`works with ${DESCRIPTORS} descriptors, and leaves none of them to clients that hold them`, async () => {
    const { fleet } = use();
    const port = await findFreePort();
    const placed = await place({
      name: "few-descriptors",
      prefix: ["prlimit", `--nofile=${DESCRIPTORS}:${DESCRIPTORS}`],
      args: ["--bind-address=127.0.0.1", `--secure-port=${port}`],
    });
    await placed.untilReady();
    const names = Array.from({ length: 200 }, (_, at) => `many-${at}`);
    const first = names.slice(0, 100);
    const half = Array.from({ length: 5 }, (_, at) => first.slice(at * 20, at * 20 + 20));
    await Promise.all(half.map((some) => fleet.add(...some)));
    await fleet.settle();
    const held = await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        // One that must make room for the next is gone before it is there.
        openRaw(at % 2 === 0 ? { path: placed.socketPath } : { port }).catch(() => undefined),
      ),
    );
    try {
      const others = names.slice(100);
      const rest = Array.from({ length: 5 }, (_, at) => others.slice(at * 20, at * 20 + 20));
      await Promise.all(rest.map((some) => fleet.add(...some)));
      await expectWork(placed, "crowded");
      const open = (await readHoldings(placed.pid)).descriptors;
      console.log(`${DESCRIPTORS} descriptors, 100 clients: ${open} in use`);
      expect(open).toBeLessThan(DESCRIPTORS);
    } finally {
      for (const one of held) one?.socket.destroy();
    }
    const metrics = await (await placed.ask("/metrics")).text();
    expect(metrics).not.toMatch(/^rest_client_requests_total\{[^}]*<error>/m);
    expect(metrics).not.toMatch(
      /^landfall_inventory_refreshes_total\{[^}]*"(?!ok|xenorchestra)\w+"/m,
    );
    expect(placed.landfall.log).not.toContain("EMFILE");
  }, 90_000);
});
