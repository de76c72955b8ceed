/**
 * A running Ironic, as PyPI has it, with what machines boot for it.
 * @module
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { IRONIC } from "../../../judges/install.ts";
import { findFreePort, startProcess, waitUntilReady } from "../../process/server_process.ts";
import { toIronicConfiguration } from "./configuration.ts";
import { type AskIronic, createRamdisk, type IronicNode } from "./ramdisk.ts";

const run = promisify(execFile);
const START_MS = 90_000;
const ANSWER_MS = 60_000;
const POLL_MS = 300;
const STEP_MS = 180_000;
/** A node that is worked on is locked for a moment. */
const LOCKED = 409;
/** With this version of its API come all that the tests use. */
const HEADERS = { "x-openstack-ironic-api-version": "1.95", "content-type": "application/json" };

/** A running Ironic. */
export interface Ironic extends AsyncDisposable {
  /** Has a kernel, a ramdisk and an image, each a few zeros: `/kernel`, `/ramdisk`, `/image`. */
  readonly filesUrl: string;
  readonly ask: AskIronic;
  /** Waits until a node is as wanted. @throws Error with its own reason if it breaks, or is in maintenance */
  until(node: string, wanted: IronicNode): Promise<IronicNode>;
}

/** Starts one. @param countStarts As {@linkcode createRamdisk} has it */
export async function startIronic(
  countStarts: Parameters<typeof createRamdisk>[2],
): Promise<Ironic> {
  const folder = await mkdtemp(join(tmpdir(), "landfall-ironic-"));
  for (const one of ["http", "tftp/master", "images/master"]) {
    await mkdir(join(folder, one), { recursive: true });
  }
  const [apiPort, rpcPort] = [await findFreePort(), await findFreePort()];
  const logPath = join(folder, "ironic.log");
  const client = createClient(`http://127.0.0.1:${apiPort}`, logPath);
  const files = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      if (!pathname.startsWith(AGENT)) return new Response(new Uint8Array(4_096));
      return ramdisk.handle(request, pathname.slice(AGENT.length));
    },
  });
  const filesUrl = `http://127.0.0.1:${files.port}`;
  const ramdisk = createRamdisk(client.ask, `${filesUrl}${AGENT}`, countStarts);
  const config = join(folder, "ironic.conf");
  await writeFile(config, toIronicConfiguration({ folder, apiPort, rpcPort, filesUrl }));
  const bin = join(IRONIC.folder, "bin");
  const schema = ["--config-file", config, "create_schema"];
  await run(join(bin, "ironic-dbsync"), schema, { timeout: START_MS });
  // Variables of this environment would win over the authority that Ironic is told.
  const clean = ["-u", "REQUESTS_CA_BUNDLE", "-u", "CURL_CA_BUNDLE", join(bin, "ironic")];
  const server = startProcess("env", [...clean, "--config-file", config], logPath);
  const ended = new AbortController();
  const stop = async (): Promise<void> => {
    ended.abort();
    await Promise.all([server.stop(), files.stop(true)]);
    await rm(folder, { recursive: true, force: true });
  };
  const isReady = async (): Promise<boolean> => {
    const { drivers } = Object(await client.ask("GET", "/v1/drivers"));
    return Array.isArray(drivers) && drivers.length > 0;
  };
  try {
    const { signal } = ended;
    await waitUntilReady(server, { name: "Ironic", timeoutMs: START_MS, signal, isReady });
  } catch (error) {
    await stop();
    throw error;
  }
  void ramdisk.run(ended.signal);
  return { ...client, filesUrl, [Symbol.asyncDispose]: stop };
}

const AGENT = "/agent";

function createClient(url: string, logPath: string): Pick<Ironic, "ask" | "until"> {
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const deadline = performance.now() + ANSWER_MS;
    for (;;) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: HEADERS,
        signal: AbortSignal.timeout(ANSWER_MS),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (response.ok) return text === "" ? undefined : JSON.parse(text);
      if (response.status !== LOCKED || performance.now() > deadline) {
        throw new Error(`Ironic answered ${response.status} to ${method} ${path}: ${text}`);
      }
      await Bun.sleep(POLL_MS);
    }
  };
  return {
    ask,
    async until(node, wanted) {
      const deadline = performance.now() + STEP_MS;
      for (;;) {
        const shown: IronicNode = Object(await ask("GET", `/v1/nodes/${node}`));
        const { provision_state: state, power_state, maintenance, last_error } = shown;
        const isBroken = maintenance === true || /failed|error/.test(String(state));
        if (!isBroken && Object.entries(wanted).every(([key, value]) => shown[key] === value)) {
          return shown;
        }
        if (isBroken || performance.now() > deadline) {
          const reason = String(last_error ?? shown["maintenance_reason"]);
          const log = (await readFile(logPath, "utf8")).slice(-4_000);
          throw new Error(`Node is "${state}", "${power_state}": ${reason}\n${log}`);
        }
        await Bun.sleep(POLL_MS);
      }
    },
  };
}
