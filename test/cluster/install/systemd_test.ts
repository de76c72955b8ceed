/**
 * The unit of deploy/systemd: judged by systemd's own tools, heard on a socket of our own, and run by a real systemd.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "../../../lib/core/clock.ts";
import { startKubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { UNINITIALIZED } from "../../support/process/cluster_rig.ts";
import { PROGRAM, startLandfall } from "../../support/process/landfall_process.ts";
import {
  openNotifySocket,
  findSystemdProblem,
  startSystemdMachine,
  type SystemdMachine,
} from "../../support/process/systemd_machine.ts";
import { until } from "../../support/nodes/rig.ts";
import { findFreePort } from "../../support/process/server_process.ts";
import { ROOT } from "../../support/sources.ts";
import { saySkipped } from "../../support/skip.ts";
import { toKubeconfig } from "../../support/process/kubeconfig.ts";

const run = promisify(execFile);
const UNIT = join(ROOT, "deploy", "systemd", "landfall.service");
const EXPOSURE_MAX = 1.5;
const UNIT_NAME = "landfall.service";

const kubernetes = startKubernetesSimulator({ clock: systemClock });
const { world, poolIds, hostIds } = createDemoWorld();
const cloud = await startXenOrchestraSimulator({ clock: systemClock, world });
afterAll(async () => {
  await kubernetes.stop();
  await cloud.stop();
});

async function hasTool(name: string): Promise<boolean> {
  try {
    await run(name, ["--version"]);
    return true;
  } catch {
    return skip(`there is not a ${name}`);
  }
}

function skip(reason: string): false {
  saySkipped(`tests with systemd: ${reason}`);
  return false;
}

describe.skipIf(!(await hasTool("systemd-analyze")))("the unit, to systemd-analyze", () => {
  test("exposes no more than 1.5", async () => {
    const args = ["security", "--offline=true", "--no-pager", UNIT];
    const { stdout } = await run("systemd-analyze", args);
    const exposure = /Overall exposure level for landfall\.service: ([\d.]+)/.exec(stdout)?.[1];
    expect(Number(exposure), stdout).toBeLessThanOrEqual(EXPOSURE_MAX);
  });

  test("is well-formed, with nothing to warn about", async () => {
    const folder = await mkdtemp(join(tmpdir(), "landfall-unit-"));
    try {
      // It is verified that the program exists, which is not installed here.
      const text = (await readFile(UNIT, "utf8")).replace("/usr/local/bin/landfall", "/bin/sh");
      await writeFile(join(folder, UNIT_NAME), text);
      const args = ["verify", "--man=no", join(folder, UNIT_NAME)];
      const { stdout, stderr } = await run("systemd-analyze", args);
      expect(stdout + stderr).toBe("");
      await writeFile(join(folder, UNIT_NAME), `${text}[Service]\nProtectEverything=yes\n`);
      expect((await run("systemd-analyze", args)).stderr).toContain("ProtectEverything");
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe.skipIf(!(await hasTool("systemd-notify")))("a socket of our own", () => {
  const sockets = ["path", "abstract"] as const;

  test.each(sockets)(
    `hears of start, state, life and end from ${PROGRAM.name} by an address of the kind %s`,
    async (kind) => {
      using socket = openNotifySocket(kind);
      const env = { XOA_URL: cloud.url, XOA_TOKEN: cloud.token, NOTIFY_SOCKET: socket.address };
      const off = ["--leader-elect=false", "--secure-port=0", "--debug-address="];
      const args = ["run", `--master=${kubernetes.url}`, ...off];
      const landfall = startLandfall(PROGRAM, args, { ...env, WATCHDOG_USEC: "400000" });
      try {
        const ready = await socket.waitFor(({ READY }) => READY === "1");
        expect(ready["STATUS"]).toMatch(/^running; Nodes: \d+; inventory of 20.*Z$/);
        const first = socket.messages.length;
        await until("two watchdogs are told", () => {
          const later = socket.messages.slice(first);
          return later.filter(({ WATCHDOG }) => WATCHDOG === "1").length >= 2;
        });
        landfall.signal("SIGSTOP");
        // What was under way when it was stopped still arrives.
        await Bun.sleep(200);
        const stopped = socket.messages.length;
        await Bun.sleep(900);
        expect(socket.messages).toHaveLength(stopped);
        landfall.signal("SIGCONT");
        await until("it goes on", () => socket.messages.length > stopped);
      } finally {
        const { code, stderr } = await landfall.stop();
        expect(code, stderr).toBe(0);
      }
      expect(socket.messages.at(-1)).toMatchObject({ STOPPING: "1" });
      expect(socket.messages.filter(({ READY }) => READY !== undefined)).toHaveLength(1);
    },
  );
});

const hasBinary = PROGRAM.name === "binary";
const problem = hasBinary ? await findSystemdProblem() : "there is no binary";
if (problem !== undefined) {
  process.stderr.write(`\n*** SKIPPED: the unit under a real systemd: ${problem}. ***\n\n`);
}

describe.skipIf(problem !== undefined)("the unit under a real systemd", () => {
  const kubeconfig = toKubeconfig(kubernetes.url, { user: { token: "a-token" } });
  let machine: SystemdMachine;
  let securePort = 0;

  beforeAll(async () => {
    securePort = await findFreePort();
    const flags = ["--debug-address=127.0.0.1:0", `--secure-port=${securePort}`];
    const example = await readFile(join(ROOT, "deploy", "systemd", "landfall.yaml"), "utf8");
    // A name has to be looked up, which the restrictions must allow too.
    const byName = cloud.url.replace("127.0.0.1", "localhost");
    const log = "append:/run/landfall.log";
    machine = await startSystemdMachine({
      files: {
        [`/etc/systemd/system/${UNIT_NAME}`]: await readFile(UNIT, "utf8"),
        // There is no journal, and nobody waits a minute.
        [`/etc/systemd/system/${UNIT_NAME}.d/test.conf`]:
          "[Unit]\nDefaultDependencies=no\n[Service]\nWatchdogSec=2\nRestartSec=100ms\n" +
          `StandardOutput=${log}\nStandardError=${log}\n`,
        "/etc/landfall/landfall.yaml": example.replace("https://xo.example.org", byName),
        "/etc/landfall/token": `${cloud.token}\n`,
        "/etc/landfall/kubeconfig": kubeconfig,
        "/etc/landfall/environment": `LANDFALL_FLAGS=${flags.join(" ")}\n`,
      },
      programs: { "/usr/local/bin/landfall": PROGRAM.command[0] ?? "" },
      units: [UNIT_NAME],
    });
  });
  afterAll(() => machine?.[Symbol.asyncDispose]());

  async function untilActive(): Promise<string> {
    await until("the unit is active", async () => {
      return (await machine.readProperty(UNIT_NAME, "ActiveState")) === "active";
    }).catch(async (error: unknown) => {
      throw new Error(await machine.run("cat", "/run/landfall.log"), { cause: error });
    });
    return await machine.readProperty(UNIT_NAME, "MainPID");
  }

  test("becomes ready with all its restrictions, and does its work", async () => {
    const pid = await untilActive();
    await until("it leads", async () =>
      (await machine.readProperty(UNIT_NAME, "StatusText")).startsWith("leading; "),
    );
    const url = `https://127.0.0.1:${securePort}/readyz`;
    const probe = await fetch(url, { tls: { rejectUnauthorized: false } });
    expect(await probe.text()).toBe("ok");
    const status = await machine.run("cat", `/proc/${pid}/status`);
    expect(status).toMatch(/^CapBnd:\t0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(status).toMatch(/^Seccomp:\t2$/m);
    expect(status).not.toMatch(/^Uid:\t0\t/m);
    const systemUUID = cloud.state.addVm({
      name: "joined",
      poolId: poolIds.paris,
      hostId: hostIds["xcp-par-1"],
      addresses: { "0/ipv4/0": "10.0.0.99" },
    });
    kubernetes.objects.createNode({
      metadata: { name: "joined" },
      spec: { taints: [UNINITIALIZED] },
      status: { nodeInfo: { systemUUID } },
    });
    await until("the Node is initialised", () =>
      JSON.stringify(kubernetes.objects.getNode("joined")).includes(`xenorchestra://`),
    );
  });

  test("lets root on the host read the token at the path in the settings, so that check can use them", async () => {
    await untilActive();
    const settings = await machine.run("cat", "/etc/landfall/landfall.yaml");
    const [, path = ""] = /^tokenFile: (.+)$/m.exec(settings) ?? [];
    expect(await machine.run("cat", path)).toBe(`${cloud.token}\n`);
  });

  test("is killed and started again when it is stuck", async () => {
    const pid = await untilActive();
    await machine.run("kill", "-STOP", pid);
    await until("it was started again", async () => {
      return (await machine.readProperty(UNIT_NAME, "NRestarts")) === "1";
    });
    expect(await untilActive()).not.toBe(pid);
  });

  test("stops well, and says so", async () => {
    await untilActive();
    await machine.run("systemctl", "stop", UNIT_NAME);
    expect(await machine.readProperty(UNIT_NAME, "Result")).toBe("success");
    expect(await machine.readProperty(UNIT_NAME, "StatusText")).toBe("stopping");
    expect(await machine.readProperty(UNIT_NAME, "ExecMainStatus")).toBe("0");
  });

  test("needs no file for a token that the settings hold, and names the file where they do not", async () => {
    await machine.run("sh", "-c", "rm /etc/landfall/token");
    await expect(machine.run("systemctl", "start", UNIT_NAME)).rejects.toThrow();
    expect(await machine.readProperty(UNIT_NAME, "ActiveState")).toBe("failed");
    expect(await machine.run("cat", "/run/landfall.log")).toMatch(/\/token: is empty\n$/);
    const edit = `s|^tokenFile:.*|token: "${cloud.token}"|`;
    await machine.run("sed", "-i", edit, "/etc/landfall/landfall.yaml");
    await machine.run("systemctl", "start", UNIT_NAME);
    await untilActive();
    await machine.run("systemctl", "stop", UNIT_NAME);
  });

  test("stays failed when its settings are wrong", async () => {
    await machine.run("sh", "-c", "echo 'url: nowhere' > /etc/landfall/landfall.yaml");
    await expect(machine.run("systemctl", "start", UNIT_NAME)).rejects.toThrow();
    expect(await machine.readProperty(UNIT_NAME, "ActiveState")).toBe("failed");
    expect(await machine.run("cat", "/run/landfall.log")).toContain("landfall.yaml:1");
  });
});
