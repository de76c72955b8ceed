/**
 * The way to the service manager.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { systemClock } from "../../lib/core/clock.ts";
import { createLogger } from "../../lib/core/log.ts";
import { createNotifier, type Notifier } from "../../lib/host/notify.ts";
import { until } from "../support/nodes/rig.ts";

let folder = "";
let log: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "landfall-notify-"));
  log = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Puts a program in the place of systemd-notify: it notes its arguments, each in a line, and then runs a script. */
function install(script = ""): void {
  const path = join(folder, "systemd-notify");
  const note = `printf '%s\\n' "$@" >> '${join(folder, "told")}'`;
  writeFileSync(path, `#!/bin/sh\n${note}\n${script}\n`);
  chmodSync(path, 0o755);
}

function readTold(): string[] {
  const path = join(folder, "told");
  return existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
}

function create(env: Readonly<Record<string, string>>): Notifier | undefined {
  const logger = createLogger({ format: "text", write: (line) => log.push(line), now: () => 0 });
  const path = { PATH: `${folder}:/usr/bin:/bin` };
  return createNotifier({ env: { ...path, ...env }, clock: systemClock, log: logger });
}

const SOCKET = { NOTIFY_SOCKET: "/run/systemd/notify" };

describe("createNotifier()", () => {
  test.each([{}, { NOTIFY_SOCKET: "" }, { WATCHDOG_USEC: "1000" }])(
    "createNotifier() is nothing without a socket: %j",
    (env) => expect(create(env)).toBeUndefined(),
  );

  const watchdogs: readonly [Record<string, string>, number | undefined][] = [
    [{}, undefined],
    [{ WATCHDOG_USEC: "30000000" }, 30_000],
    [{ WATCHDOG_USEC: "30000000", WATCHDOG_PID: String(process.pid) }, 30_000],
    [{ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "1" }, undefined],
    [{ WATCHDOG_USEC: "0" }, undefined],
    [{ WATCHDOG_USEC: "-5" }, undefined],
    [{ WATCHDOG_USEC: "soon" }, undefined],
  ];
  test.each(watchdogs)("createNotifier() reads the watchdog of %j: %p ms", (env, expected) => {
    expect(create({ ...SOCKET, ...env })?.watchdogMs).toBe(expected);
  });

  test("createNotifier() tells all assignments at once, each on one line, and gives no secret on", async () => {
    install(`env >> '${join(folder, "told")}'`);
    const notifier = create({ ...SOCKET, XOA_TOKEN: "secret" });
    process.env["LANDFALL_TEST_TOKEN"] = "secret";
    await notifier?.notify({ READY: "1", STATUS: "leading;\nWATCHDOG=1 " });
    delete process.env["LANDFALL_TEST_TOKEN"];
    const told = readTold();
    expect(told.slice(0, 2)).toEqual(["READY=1", "STATUS=leading; WATCHDOG=1"]);
    expect(told).toContain(`NOTIFY_SOCKET=${SOCKET.NOTIFY_SOCKET}`);
    expect(told.join()).not.toContain("secret");
  });

  test("createNotifier() tells one thing after the other", async () => {
    const gate = join(folder, "gate");
    install(`while [ ! -e '${gate}' ]; do sleep 0.02; done`);
    const notifier = create(SOCKET);
    const both = [notifier?.notify({ READY: "1" }), notifier?.notify({ STOPPING: "1" })];
    await until("the first is told", () => readTold().length > 0);
    await Bun.sleep(50);
    expect(readTold()).toEqual(["READY=1"]);
    writeFileSync(gate, "");
    await Promise.all(both);
    expect(readTold()).toEqual(["READY=1", "STOPPING=1"]);
  });

  test("createNotifier() says once that the same thing fails, and goes on trying", async () => {
    install("echo refused >&2; exit 1");
    const notifier = create(SOCKET);
    for (let time = 0; time < 3; time += 1) await notifier?.notify({ WATCHDOG: "1" });
    expect(readTold()).toHaveLength(3);
    expect(log).toHaveLength(1);
    expect(log[0]).toContain("systemd-notify failed: refused");
  });

  test("createNotifier() gives up where the program is not there", async () => {
    const notifier = create({ ...SOCKET, PATH: "/nowhere" });
    await notifier?.notify({ READY: "1" });
    await notifier?.notify({ WATCHDOG: "1" });
    expect(log).toHaveLength(1);
    expect(log[0]).toContain("systemd-notify was not found in /nowhere");
  });
});
