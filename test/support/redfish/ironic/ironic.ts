/**
 * A running Ironic: its API and its conductor, as Debian packages them.
 * @module
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import {
  findFreePort,
  type ServerProcess,
  startProcess,
  waitUntilReady,
} from "../../process/server_process.ts";
import { readTls } from "../../net/tls_fixtures.ts";
import { toIronicConfiguration } from "./configuration.ts";
import { ensureIronicRoot } from "./system_root.ts";

const run = promisify(execFile);
const START_MS = 90_000;
const ANSWER_MS = 30_000;
/** Ironic tries a change of a locked node again by itself, and then refuses it. */
const LOCKED = 409;
const POLL_MS = 300;
/** With this version of its API come all that the tests use. */
const HEADERS = { "x-openstack-ironic-api-version": "1.80", "content-type": "application/json" };

/** A node as Ironic shows it. */
export type IronicNode = Readonly<Record<string, unknown>>;

/** A running Ironic. */
export interface Ironic extends AsyncDisposable {
  /** Path of the authority that signed the fixture `server.crt`, as Ironic sees it. */
  readonly caFile: string;
  /** Asks its API. @returns The answer; `undefined` without one. @throws Error with what it says */
  ask(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Waits until a node has these fields. @throws Error with the node and the end of the log */
  until(node: string, wanted: IronicNode, timeoutMs?: number): Promise<IronicNode>;
  /** What its conductor has logged. */
  readLog(): Promise<string>;
}

/** Starts one. */
export async function startIronic(): Promise<Ironic> {
  const root = await ensureIronicRoot();
  await mkdir(join(root, "srv"), { recursive: true });
  const outside = await mkdtemp(join(root, "srv", "ironic-"));
  const folder = `/srv/${basename(outside)}`;
  const [apiPort, rpcPort] = [await findFreePort(), await findFreePort()];
  await writeFile(
    join(outside, "ironic.conf"),
    toIronicConfiguration({ folder, apiPort, rpcPort }),
  );
  await writeFile(join(outside, "ca.crt"), readTls("ca.crt"));
  const inside = (program: string, ...args: string[]): string[] => {
    const file = `--config-file=${folder}/ironic.conf`;
    const own = ["--pid", "--fork", "--kill-child", `--mount-proc=${join(root, "proc")}`];
    // Nothing of this environment: it may name other authorities.
    const clean = ["env", "--ignore-environment", "PATH=/usr/bin:/bin", `HOME=${folder}`];
    return [...own, "chroot", root, ...clean, program, file, ...args];
  };
  await run("unshare", inside("ironic-dbsync", "create_schema"), { timeout: START_MS });
  const logs = ["conductor", "api"].map((one) => join(outside, `${one}.log`));
  const [conductorLog = "", apiLog = ""] = logs;
  const conductor = startProcess("unshare", inside("ironic-conductor"), conductorLog);
  const api = startProcess("unshare", inside("ironic-api"), apiLog);
  const ironic = createClient(`http://127.0.0.1:${apiPort}`, conductorLog);
  const stop = async (): Promise<void> => {
    // The end of its own name space ends all that is in it.
    await Promise.all([conductor.stop("SIGKILL"), api.stop("SIGKILL")]);
    await rm(outside, { recursive: true, force: true });
  };
  try {
    await untilServed(ironic, [api, conductor]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { ...ironic, caFile: `${folder}/ca.crt`, [Symbol.asyncDispose]: stop };
}

async function untilServed(
  ironic: Pick<Ironic, "ask">,
  servers: readonly ServerProcess[],
): Promise<void> {
  const isReady = async (): Promise<boolean> => {
    const { drivers } = Object(await ironic.ask("GET", "/v1/drivers"));
    return Array.isArray(drivers) && drivers.length > 0;
  };
  const signal = AbortSignal.timeout(START_MS);
  for (const server of servers) {
    await waitUntilReady(server, { name: "Ironic", timeoutMs: START_MS, signal, isReady });
  }
}

function createClient(url: string, logPath: string): Pick<Ironic, "ask" | "until" | "readLog"> {
  const readLog = (): Promise<string> => readFile(logPath, "utf8");
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    for (;;) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: HEADERS,
        signal: AbortSignal.timeout(ANSWER_MS),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (response.ok) return text === "" ? undefined : JSON.parse(text);
      if (response.status !== LOCKED || !text.includes("locked")) {
        throw new Error(`Ironic answered ${response.status} to ${method} ${path}: ${text}`);
      }
      await Bun.sleep(POLL_MS);
    }
  };
  return {
    ask,
    readLog,
    async until(node, wanted, timeoutMs = 60_000) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        const shown: IronicNode = Object(await ask("GET", `/v1/nodes/${node}`));
        if (Object.entries(wanted).every(([key, value]) => shown[key] === value)) return shown;
        if (performance.now() > deadline) {
          const { power_state, provision_state, last_error } = shown;
          const state = JSON.stringify({ power_state, provision_state, last_error });
          throw new Error(`${node} is ${state}\n${(await readLog()).slice(-4_000)}`);
        }
        await Bun.sleep(POLL_MS);
      }
    },
  };
}
