/**
 * Where the ports of a real process answer on hosts with IPv6 alone, with both families, and with IPv4 alone.
 * @module
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { killAll, type LandfallProcess, PROGRAM } from "../../support/process/landfall_process.ts";
import { type Ended, startLandfall } from "../../support/process/landfall_process.ts";
import { type LoneHost, placeOnLoneHost, skipsNetworks } from "../../support/net/network.ts";
import { toKubeconfig } from "../../support/process/kubeconfig.ts";

const run = promisify(execFile);
const SECURE_PORT = 10258;
const DEBUG_PORT = 10260;
const V4 = "198.18.0.11";
const V6 = "fd00::11";
const CURL_S_MAX = 5;
/** An API server that is not there: what listens does not wait for it. */
const KUBECONFIG = toKubeconfig("https://127.0.0.1:1", { user: { token: "x" } });
const ONLY_V6: LoneHost = { addresses: [`${V6}/128`] };
const DUAL: LoneHost = { addresses: [`${V6}/128`, `${V4}/32`] };
const APART: LoneHost = { ...DUAL, sysctls: ["net.ipv6.bindv6only=1"] };
const ONLY_V4: LoneHost = {
  addresses: [`${V4}/32`],
  sysctls: ["net.ipv6.conf.all.disable_ipv6=1"],
};

const isSkipped = await skipsNetworks();

describe.skipIf(isSkipped)(`the ports of Landfall as ${PROGRAM.name}`, () => {
  const running: LandfallProcess[] = [];
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "landfall-families-"));
    await writeFile(join(folder, "static.yaml"), "instances: []\n");
    await writeFile(join(folder, "kubeconfig"), KUBECONFIG, { mode: 0o600 });
  });
  afterAll(() => rm(folder, { recursive: true }));
  afterEach(() => killAll(running.splice(0)));

  function start(command: readonly string[], flags: readonly string[]): LandfallProcess {
    const landfall = startLandfall({ ...PROGRAM, command }, [
      "run",
      "--cloud-provider=static",
      `--cloud-config=${join(folder, "static.yaml")}`,
      `--kubeconfig=${join(folder, "kubeconfig")}`,
      "--logging-format=json",
      ...flags,
    ]);
    running.push(landfall);
    return landfall;
  }

  /** Starts it on a host of its own. @returns What begins a command there, once all of its listeners are up */
  async function startAlone(host: LoneHost, flags: readonly string[]): Promise<readonly string[]> {
    const { command, enter } = placeOnLoneHost(host, PROGRAM.command);
    const landfall = start(command, flags);
    await landfall.waitForRecord(
      ({ message, flag }) => message === "Listening" && flag === "--secure-port",
    );
    return enter(landfall.pid);
  }

  /** Starts it on a host and asks addresses there. @returns Those that answered */
  async function listAnswers(
    host: LoneHost,
    flags: readonly string[],
    urls: readonly string[],
  ): Promise<string[]> {
    const prefix = await startAlone(host, flags);
    const answers: string[] = [];
    for (const url of urls) {
      const [file = "", ...args] = [...prefix, "curl", "-gsk", `-m${CURL_S_MAX}`, url];
      const { stdout } = await run(file, args).catch(() => ({ stdout: "" }));
      if (stdout === "ok") answers.push(url);
    }
    return answers;
  }

  const secure = (host: string): string => `https://${host}:${SECURE_PORT}/healthz`;
  const debug = (host: string): string => `http://${host}:${DEBUG_PORT}/healthz`;
  const all = ["127.0.0.1", V4, "[::1]", `[${V6}]`];

  const rows: readonly [
    title: string,
    host: LoneHost,
    flags: readonly string[],
    answering: readonly string[],
  ][] = [
    ["by default, IPv6 alone", ONLY_V6, [], ["127.0.0.1", "[::1]", `[${V6}]`]],
    ["by default, both families", DUAL, [], all],
    ["by default, both families, sockets apart", APART, [], all],
    ["by default, IPv6 switched off", ONLY_V4, [], ["127.0.0.1", V4]],
    ["at 0.0.0.0", DUAL, ["--bind-address=0.0.0.0"], all],
    ["at ::", DUAL, ["--bind-address=::"], all],
    ["at ::, IPv6 switched off", ONLY_V4, ["--bind-address=::"], ["127.0.0.1", V4]],
    ["at an address of IPv6", DUAL, [`--bind-address=${V6}`], [`[${V6}]`]],
    ["at an address of IPv4", DUAL, [`--bind-address=${V4}`], [V4]],
    ["at an IPv4 address as IPv6 writes it", DUAL, [`--bind-address=::ffff:${V4}`], [V4]],
  ];
  test.each(rows)("the HTTPS port answers %s", async (_title, host, flags, answering) => {
    expect(await listAnswers(host, flags, all.map(secure))).toEqual(answering.map(secure));
  });

  test.each<[string, LoneHost, string, readonly string[]]>([
    ["localhost", DUAL, "localhost", ["127.0.0.1", "[::1]"]],
    ["localhost, IPv6 switched off", ONLY_V4, "localhost", ["127.0.0.1"]],
    ["one of the loopbacks", DUAL, "127.0.0.1", ["127.0.0.1"]],
    ["the other", DUAL, "[::1]", ["[::1]"]],
  ])("the debug port answers at %s", async (_title, host, name, answering) => {
    const flags = [`--debug-address=${name}:${DEBUG_PORT}`];
    expect(await listAnswers(host, flags, all.map(debug))).toEqual(answering.map(debug));
  });

  test("a second one on a host reports the debug port first, then the HTTPS port", async () => {
    const prefix = await startAlone(DUAL, []);
    const startBeside = (...flags: readonly string[]): Promise<Ended> =>
      start([...prefix, ...PROGRAM.command], flags).ended;
    const inUse = "another process uses it; stop that process, or set";
    const first = await startBeside();
    expect([first.code, first.stderr.split("\n").at(-1)]).toEqual([
      1,
      `landfall: --debug-address: Cannot listen at 127.0.0.1:${DEBUG_PORT}: ${inUse} --debug-address to another port`,
    ]);
    const second = await startBeside("--debug-address=127.0.0.1:0");
    expect([second.code, second.stderr.split("\n").at(-1)]).toEqual([
      1,
      `landfall: --secure-port: Cannot listen at 0.0.0.0:${SECURE_PORT}: ${inUse} --secure-port to another port`,
    ]);
  });
});
