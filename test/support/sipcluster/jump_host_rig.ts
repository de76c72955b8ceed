/**
 * Jump hosts as Landfall plans them: their objects on a real API server, and their Pods run by crun, each on a host of
 * its own.
 * @module
 */
import type { BareMetalHost } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { execFile } from "node:child_process";
import { connect } from "node:net";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  JumpHost,
  SipCluster,
} from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { ensureHostKeys } from "../../../lib/controllers/sipcluster/services/jump_host/host_keys.ts";
import { planJumpHosts } from "../../../lib/controllers/sipcluster/services/jump_host/jump_hosts.ts";
import {
  handleRebootRequests,
  type RebootOutcome,
} from "../../../lib/controllers/sipcluster/services/jump_host/reboot_requests.ts";
import {
  CONFIG_MAPS,
  type ConfigMap,
  type Deployment,
  DEPLOYMENTS,
} from "../../../lib/controllers/sipcluster/services/owned_kinds.ts";
import { SECRETS } from "../../../lib/kube/kinds/secret.ts";
import type { Machine } from "../../../lib/controllers/sipcluster/services/types.ts";
import { COMPONENT } from "../../../lib/controllers/sipcluster/words.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import { createKubeClient } from "../../../lib/kube/api/http_client.ts";
import { loadCredentials } from "../../../lib/kube/credentials/mod.ts";
import { type CrunPod, type Files, startCrunPod } from "../deploy/crun_pod.ts";
import { buildDebian, ImageStore } from "../deploy/image.ts";
import { createNetwork, type NetworkHost, type TestNetwork } from "../net/network.ts";
import { startTcpProxy, type TcpProxy } from "../net/tcp_proxy.ts";
import { type Cluster, startCluster } from "../process/cluster.ts";
import { waitUntil } from "../process/cluster_rig.ts";
import type { Ended } from "../process/landfall_process.ts";
import { ROOT } from "../sources.ts";
import type { SshKeyPair } from "../ssh/keys.ts";

/** The namespace of the jump hosts. */
export const TENANT = "tenant";
/** The ID of the network of all machines. */
export const NETWORK = "oam";
/** The port of sshd. No kube-proxy runs, so clients come to it, and not to a port of a Node. */
export const PORT = 2222;

const BASE = "localhost/debian:test";
const IMAGE = "localhost/jump-host:test";
const API_SERVER = "kubernetes.default.svc";
/** What an admission webhook would add to every container. Nothing answers there. */
export const PROXY = "http://127.0.0.1:9/a b";
const TOKEN_S = 3_600;
const ANSWER_POLL_MS = 100;
const SSH_TIMEOUT_MS = 90_000;

/** What a test says about a jump host. */
interface JumpHostInput {
  /** Of its SIPCluster. */
  readonly name: string;
  readonly host: NetworkHost;
  readonly machines: readonly Machine[];
  readonly authorised: readonly SshKeyPair[];
  readonly nodeKeys: Files;
  /** `bmc.proxy`. @default {false} */
  readonly usesProxy?: boolean;
}

/** A jump host that runs. */
export interface RunningJumpHost {
  readonly cluster: SipCluster;
  readonly pod: CrunPod;
  readonly address: string;
  /** What clients take from the ConfigMap to know it. */
  readonly knownHosts: string;
  /** Ends its Pod, and starts another one from the same objects. */
  restart(): Promise<void>;
}

/** How an ssh client connects. */
export interface SshOptions {
  readonly key: SshKeyPair;
  /** @default {ubuntu} */
  readonly user?: string;
  readonly args?: readonly string[];
  readonly signal?: AbortSignal;
}

/** All that the tests of jump hosts run on. */
export class JumpHostRig implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly client: KubeClient;
  readonly network: TestNetwork;
  readonly store: ImageStore;
  /** Removed with the rig. */
  readonly folder: string;
  readonly #door: TcpProxy;
  readonly #pods = new Set<CrunPod>();

  private constructor(parts: {
    readonly cluster: Cluster;
    readonly client: KubeClient;
    readonly network: TestNetwork;
    readonly store: ImageStore;
    readonly folder: string;
    readonly door: TcpProxy;
  }) {
    this.cluster = parts.cluster;
    this.client = parts.client;
    this.network = parts.network;
    this.store = parts.store;
    this.folder = parts.folder;
    this.#door = parts.door;
  }

  /** Builds the image of deploy/jump-host and starts the rest, with two hosts. */
  static async start(): Promise<JumpHostRig> {
    const folder = await mkdtemp(join(tmpdir(), "landfall-jump-host-"));
    const store = new ImageStore(await mkdtemp(join(folder, "store-")));
    await buildDebian(store, BASE);
    await store.build(IMAGE, join(ROOT, "deploy", "jump-host"), { args: { BASE } });
    const cluster = await startCluster();
    await cluster.create("/api/v1/namespaces", { metadata: { name: TENANT } });
    const credentials = await loadCredentials({
      kubeconfig: cluster.adminKubeconfigPath,
      env: {},
      clock: systemClock,
    });
    const options = { credentials, clock: systemClock, metrics: new MetricsRegistry() };
    const client = createKubeClient({ ...options, version: "test" });
    const network = await createNetwork(2);
    const door = await startTcpProxy(Number(new URL(cluster.url).port), { host: network.address });
    return new JumpHostRig({ cluster, client, network, store, folder, door });
  }

  /** What the image says about itself, and a folder with its files. */
  async readImage(): Promise<{
    config: Awaited<ReturnType<ImageStore["readConfig"]>>;
    root: string;
  }> {
    return { config: await this.store.readConfig(IMAGE), root: await this.store.mount(IMAGE) };
  }

  /** Plans a jump host, applies its objects, and starts its Pod as the API server has it. */
  async startJumpHost({
    name,
    host,
    machines,
    authorised,
    nodeKeys,
    usesProxy = false,
  }: JumpHostInput): Promise<RunningJumpHost> {
    const entry: JumpHost = {
      image: IMAGE,
      nodePort: PORT,
      nodeInterfaceId: NETWORK,
      nodeSSHPrivateKeys: "node-keys",
      sshAuthorizedKeys: authorised.map(({ publicKey }) => publicKey),
      bmc: { proxy: usesProxy },
    };
    const cluster: SipCluster = {
      metadata: { name, namespace: TENANT, uid: crypto.randomUUID() },
      spec: { services: { jumpHost: [entry] } },
    };
    const { signal } = new AbortController();
    const hostKeys = await ensureHostKeys(this.client, cluster, signal);
    const [plan] = planJumpHosts({ cluster, machines, tolerations: [], hostKeys });
    if (plan === undefined || plan.problem)
      throw new Error(`Cannot plan: ${plan?.problem?.message}`);
    for (const { resource, body } of plan.objects) {
      // The API server takes no such node port.
      if (resource.plural === "services") continue;
      const patch = { type: "apply", body, fieldManager: COMPONENT, force: true } as const;
      const path = { namespace: TENANT, name: body.metadata.name };
      await this.client.patch(resource, path, patch, signal);
    }
    const jumpHost = `jumphost-${name}`;
    const start = async (): Promise<CrunPod> => await this.#startPod(jumpHost, host, nodeKeys);
    let pod = await start();
    return {
      cluster,
      get pod() {
        return pod;
      },
      address: host.address,
      knownHosts: (await this.#readConfig(jumpHost))["known_hosts"] ?? "",
      restart: async () => {
        await pod.stop();
        pod = await start();
      },
    };
  }

  /** Runs a command on a jump host by a real ssh client, which knows only the key of its ConfigMap. */
  async ssh(to: RunningJumpHost, command: string, options: SshOptions): Promise<Ended> {
    const [program = "", ...words] = await this.toSshWords(to, options);
    const { signal } = options;
    const limits = { timeout: SSH_TIMEOUT_MS, ...(signal && { signal }) };
    return await new Promise((resolve) => {
      const all = [...words, command];
      const child = execFile(program, all, limits, (_error, stdout, stderr) => {
        resolve({ code: child.exitCode, stdout, stderr });
      });
      child.stdin?.end();
    });
  }

  /** The command of an ssh client, without what it is to run there. */
  async toSshWords(to: RunningJumpHost, options: SshOptions): Promise<readonly string[]> {
    const { key, user = "ubuntu", args = [] } = options;
    const folder = await mkdtemp(join(this.folder, "ssh-"));
    const [identity, known] = [join(folder, "key"), join(folder, "known_hosts")];
    await writeFile(identity, key.privateKey, { mode: 0o600 });
    await writeFile(known, to.knownHosts);
    const settings = [
      "BatchMode=yes",
      "IdentitiesOnly=yes",
      "StrictHostKeyChecking=yes",
      "GlobalKnownHostsFile=/dev/null",
      `UserKnownHostsFile=${known}`,
      `HostKeyAlias=jumphost-${to.cluster.metadata.name}.${TENANT}`,
      `IdentityFile=${identity}`,
      "ConnectTimeout=10",
    ].flatMap((setting) => ["-o", setting]);
    const place = ["-p", `${PORT}`, `${user}@${to.address}`];
    return ["ssh", "-F", "none", ...settings, ...args, ...place];
  }

  /** Answers requests of a jump host while something runs, as the controller does. */
  async answerWhile<T>(
    { cluster }: RunningJumpHost,
    running: Promise<T>,
  ): Promise<readonly [T, readonly RebootOutcome[]]> {
    const outcomes: RebootOutcome[] = [];
    const state = { isOver: false };
    void running.finally(() => (state.isOver = true)).catch(() => undefined);
    const { signal } = new AbortController();
    const path = { namespace: TENANT, name: `jumphost-${cluster.metadata.name}-requests` };
    while (!state.isOver) {
      const map = await this.client.read(CONFIG_MAPS, path, signal);
      const options = {
        client: this.client,
        clock: systemClock,
        findConfigMap: () => map,
        isOwn: ({ metadata }: BareMetalHost) => metadata.name === "one",
      };
      outcomes.push(...(await handleRebootRequests(options, cluster, signal)).outcomes);
      await Bun.sleep(ANSWER_POLL_MS);
    }
    return [await running, outcomes];
  }

  /** The requests and answers of a jump host. */
  async readRequests({ cluster }: RunningJumpHost): Promise<Files> {
    return await this.#readConfig(`jumphost-${cluster.metadata.name}-requests`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pod of this.#pods) await pod.stop();
    this.client.close();
    await this.#door.stop();
    await this.network[Symbol.asyncDispose]();
    await this.cluster.stop();
    await this.store.remove();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #startPod(name: string, host: NetworkHost, nodeKeys: Files): Promise<CrunPod> {
    const { signal } = new AbortController();
    const path = { namespace: TENANT, name };
    const deployment: Deployment = await this.client.read(DEPLOYMENTS, path, signal);
    const spec = deployment.spec?.template.spec;
    if (spec === undefined) throw new Error("Cannot start a Deployment without a Pod");
    const hostKeys = `${name}-host-keys`;
    const secret = await this.client.read(SECRETS, { namespace: TENANT, name: hostKeys }, signal);
    const account = { namespace: TENANT, name: spec.serviceAccountName ?? "default" };
    const token = await this.cluster.createServiceAccountToken(account, TOKEN_S);
    const pod = await startCrunPod({
      store: this.store,
      tag: IMAGE,
      spec,
      configMaps: { [name]: await this.#readConfig(name) },
      secrets: { [hostKeys]: decode(secret.data ?? {}), "node-keys": nodeKeys },
      account: { token, "ca.crt": await readFile(this.cluster.caPath, "utf8"), namespace: TENANT },
      env: {
        KUBERNETES_SERVICE_HOST: API_SERVER,
        KUBERNETES_SERVICE_PORT: `${this.#door.port}`,
        HTTPS_PROXY: PROXY,
      },
      hosts: [`${this.network.address} ${API_SERVER}`],
      network: host.namespace,
    });
    this.#pods.add(pod);
    await waitUntil(`sshd of ${name}`, async () => (await answers(host.address)) || undefined);
    return pod;
  }

  async #readConfig(name: string): Promise<Files> {
    const { signal } = new AbortController();
    const map: ConfigMap = await this.client.read(CONFIG_MAPS, { namespace: TENANT, name }, signal);
    return map.data ?? {};
  }
}

function decode(data: Files): Files {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, atob(value)]));
}

/** Whether something listens on the port of sshd. */
function answers(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(PORT, host);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
