/**
 * Where the ports of a real process answer on hosts with IPv6 alone, with both families, and with IPv4 alone.
 * @module
 */
import { afterEach, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { killAll, type LandfallProcess, listPrograms } from "../support/landfall_process.ts";
import { startLandfall } from "../support/landfall_process.ts";
import { type LoneHost, placeOnLoneHost } from "../support/lone_host.ts";
import { skipsNetworks } from "../support/network.ts";

const run = promisify(execFile);
const SECURE_PORT = 10258;
const DEBUG_PORT = 10260;
const V4 = "198.18.0.11";
const V6 = "fd00::11";
const CURL_S_MAX = 5;
/** An API server that is not there: what listens does not wait for it. */
const KUBECONFIG = JSON.stringify({
  clusters: [{ name: "x", cluster: { server: "https://127.0.0.1:1" } }],
  contexts: [{ name: "x", context: { cluster: "x", user: "x" } }],
  users: [{ name: "x", user: { token: "x" } }],
  "current-context": "x",
});
const ONLY_V6: LoneHost = { addresses: [`${V6}/128`] };
const DUAL: LoneHost = { addresses: [`${V6}/128`, `${V4}/32`] };
const APART: LoneHost = { ...DUAL, sysctls: ["net.ipv6.bindv6only=1"] };
const ONLY_V4: LoneHost = {
  addresses: [`${V4}/32`],
  sysctls: ["net.ipv6.conf.all.disable_ipv6=1"],
};

const isSkipped = await skipsNetworks();

describe.skipIf(isSkipped).each(listPrograms())("the ports of Landfall as $name", (program) => {
  const running: LandfallProcess[] = [];
  let folder = "";
  afterEach(async () => {
    await killAll(running.splice(0));
    await rm(folder, { recursive: true });
  });

  /** Starts it on a host and asks addresses there. @returns Those that answered */
  async function listAnswers(
    host: LoneHost,
    flags: readonly string[],
    urls: readonly string[],
  ): Promise<string[]> {
    folder = await mkdtemp(join(tmpdir(), "landfall-families-"));
    const [config, kubeconfig] = [join(folder, "static.yaml"), join(folder, "kubeconfig")];
    await writeFile(config, "instances: []\n");
    await writeFile(kubeconfig, KUBECONFIG, { mode: 0o600 });
    const { command, enter } = placeOnLoneHost(host, program.command);
    const landfall = startLandfall({ ...program, command }, [
      "run",
      "--cloud-provider=static",
      `--cloud-config=${config}`,
      `--kubeconfig=${kubeconfig}`,
      "--logging-format=json",
      ...flags,
    ]);
    running.push(landfall);
    // The last of the listeners.
    await landfall.waitForRecord(
      ({ message, flag }) => message === "Listening" && flag === "--secure-port",
    );
    const answers: string[] = [];
    for (const url of urls) {
      const [file = "", ...args] = [...enter(landfall.pid), "curl", "-gsk", `-m${CURL_S_MAX}`, url];
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
});
