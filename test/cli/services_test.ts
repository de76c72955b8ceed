/**
 * `landfall services --kept`, on simulated servers.
 * @module
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main } from "../../lib/cli/main.ts";
import { systemClock } from "../../lib/core/clock.ts";
import {
  type CloudStackSimulator,
  startCloudStackSimulator,
} from "../../lib/simulator/cloudstack/mod.ts";
import { createNetworkKinds } from "../support/cloud/cloudstack_network_kinds.ts";
import type { PublicIp } from "../../lib/simulator/cloudstack/world/records.ts";
import {
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../lib/simulator/kubernetes/mod.ts";

import { toKubeconfig } from "../support/process/kubeconfig.ts";

let kubernetes: KubernetesSimulator;
let cloud: CloudStackSimulator;
let folder: string;
let flags: readonly string[];
let taken: readonly PublicIp[];

beforeEach(async () => {
  const clock = systemClock;
  kubernetes = startKubernetesSimulator({ clock });
  cloud = await startCloudStackSimulator({ clock, world: createNetworkKinds().world });
  folder = await mkdtemp(join(tmpdir(), "landfall-services-"));
  const [kubeconfig, config] = [join(folder, "kubeconfig"), join(folder, "cloud-config")];
  await writeFile(kubeconfig, toKubeconfig(kubernetes.url));
  const keys = `api-key = ${cloud.apiKey}\nsecret-key = ${cloud.secretKey}\n`;
  await writeFile(config, `[Global]\napi-url = ${cloud.url}\n${keys}`);
  flags = [
    "--cloud-provider=external-cloudstack",
    `--cloud-config=${config}`,
    `--kubeconfig=${kubeconfig}`,
  ];
  taken = [...cloud.state.publicIps.values()].filter(({ state }) => state === "Allocated");
});
afterEach(() => Promise.all([kubernetes.stop(), cloud.stop(), rm(folder, { recursive: true })]));

/** Tags an address, as a process before did. */
function keep(at: number, namespace: string, cluster: string): PublicIp {
  const ip = taken[at];
  if (ip === undefined) throw new Error("there are too few addresses");
  const tag = { resourceType: "PublicIpAddress", resourceId: ip.id, accountId: ip.accountId ?? "" };
  cloud.state.tags.add({ ...tag, key: "landfall.dev/cluster", value: cluster });
  cloud.state.tags.add({ ...tag, key: "landfall.dev/kept-for", value: namespace });
  return ip;
}

function findCluster(): string {
  const { uid } = kubernetes.objects.get("namespaces", { name: "kube-system" })?.metadata ?? {};
  return String(uid);
}

const SOURCE = "landfall: from the cluster and the cloud\n";

async function run(
  ...argv: readonly string[]
): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ["", ""];
  const code = await main(["services", ...argv], {
    env: {},
    print: (text) => (out += text),
    complain: (text) => (err += text),
  });
  return { code, out, err };
}

test("shows the addresses that this cluster keeps, and writes nothing", async () => {
  const ip = keep(0, "shop", findCluster());
  keep(1, "shop", "another cluster");
  const { code, out, err } = await run("--kept", ...flags);
  expect([code, err]).toEqual([0, SOURCE]);
  const [header = "", line = "", ...more] = out.trimEnd().split("\n");
  expect(header.split(/ {2,}/)).toEqual(["NAMESPACE", "ADDRESS", "RULES", "TAKEN FOR", "ID"]);
  expect(line.split(/ {2,}/)).toEqual(["shop", ip.address, "0", "-", ip.id]);
  expect(more).toEqual([]);
  for (const { method } of kubernetes.requests.entries) expect(method).toBe("GET");
  for (const { command } of cloud.requests.entries) expect(command).toStartWith("list");
  const { kept } = JSON.parse((await run("--kept", "-ojson", ...flags)).out);
  expect(kept).toEqual([{ ip: ip.address, id: ip.id, namespace: "shop", rules: 0 }]);
});

test("says that none is kept", async () => {
  expect(await run("--kept", ...flags)).toEqual({
    code: 0,
    out: "No address is kept.\n",
    err: SOURCE,
  });
});

test("ends with 1 if CloudStack refuses", async () => {
  cloud.faults.set({ kind: "error", code: 401 }, { command: "listPublicIpAddresses" });
  const refused = await run("--kept", ...flags);
  expect(refused).toMatchObject({ code: 1, out: "" });
  expect(refused.err).toContain("landfall check with the same flags says what to do");
});
