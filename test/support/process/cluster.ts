/**
 * A real kube-apiserver and etcd on loopback, with TLS, RBAC and client certificates.
 *
 * Both programs come from the folder in `KUBEBUILDER_ASSETS`, the convention of controller-runtime's envtest.
 * @module
 */
import { access, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Policy, PolicyRule } from "../../../lib/app/rights.ts";
import type { Lease } from "../../../lib/kube/kinds/lease.ts";
import { createAuthority, createCertificate, type CertificateFiles } from "../net/certificates.ts";
import { readJson, type ContractServer, PATCH_TYPES } from "../kube/contract/client.ts";
import {
  endProcesses,
  findFreePort,
  startProcess,
  waitUntilReady,
  type ServerProcess,
} from "./server_process.ts";
import { saySkipped } from "../skip.ts";
import { CRDS_PATH, toCrd, toCrdPath } from "../kube/crd.ts";
import { toKubeconfig } from "./kubeconfig.ts";

const START_TIMEOUT_MS = 60_000;
/** How often a cluster gets other ports. */
const ATTEMPTS = 3;
const REQUEST_TIMEOUT_MS = 30_000;
const AUDIT_EVENT_START = '{"kind":"Event","apiVersion":"audit.k8s.io/';

/** Folder of kube-apiserver and etcd, or `undefined` when there is none. */
export const kubeAssets: string | undefined = process.env["KUBEBUILDER_ASSETS"] || undefined;

/** Says loudly that cluster tests are skipped, when they are. Returns whether they are. */
export function skipsCluster(): boolean {
  if (kubeAssets !== undefined) return false;
  saySkipped(
    "tests on a real kube-apiserver. Run: export KUBEBUILDER_ASSETS=$(npm run --silent kubernetes newest)",
  );
  return true;
}

/** A service account. */
interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

/** A running API server. */
export interface Cluster {
  /** `https://127.0.0.1:12345`; stays the same over restarts. */
  readonly url: string;
  readonly caPath: string;
  /** A kubeconfig with the client certificate of a cluster administrator. */
  readonly adminKubeconfigPath: string;
  /** Folder for files of a test, removed with the cluster. */
  readonly folder: string;
  /** Asks as administrator; `path` begins with a slash. Body and headers as in `fetch`. */
  adminFetch(path: string, init?: RequestInit): Promise<Response>;
  /** Reads an object as administrator; it is trusted to have this shape. */
  read<T>(path: string): Promise<T>;
  /** Reads an object as administrator; `undefined` when there is none. */
  find<T>(path: string): Promise<T | undefined>;
  /** Reads all objects of a collection as administrator. */
  list<T>(path: string): Promise<readonly T[]>;
  /** Posts an object as administrator. @throws Error when the server refuses */
  create(path: string, object: object): Promise<void>;
  /** Patches an object as administrator. @param type @default {"merge"} @throws Error when the server refuses */
  patch(path: string, body: unknown, type?: keyof typeof PATCH_TYPES): Promise<void>;
  /** Deletes an object as administrator, if it is there. */
  remove(path: string): Promise<void>;
  /** Who holds a Lease of kube-system; empty if it was given back. `undefined`: there is no such Lease. */
  findHolder(lease: string): Promise<string | undefined>;
  /** Makes the service account unless it is there, and a token of it. `expirationSeconds` is at least 600. */
  createServiceAccountToken(
    account: ServiceAccountName,
    expirationSeconds: number,
  ): Promise<string>;
  /** Binds a ClusterRole and a Role of these rules, and nothing else, to the service account. */
  applyRbac(account: ServiceAccountName, policy: Policy): Promise<void>;
  /** Writes a kubeconfig that uses a token and the cluster's CA, and returns its path. */
  writeTokenKubeconfig(token: string): Promise<string>;
  /** Ends the API server; etcd stays. @param signal SIGKILL cuts all connections at once. @default SIGTERM */
  stopApiServer(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again at the same address and waits until it is ready. */
  startApiServer(): Promise<void>;
  /** Freezes the API server: connections stay open and silent. */
  pauseApiServer(): void;
  resumeApiServer(): void;
  /** Ends etcd, by SIGKILL unless told otherwise; what it has stays. */
  stopEtcd(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again at the same address and waits until it is well. */
  startEtcd(): Promise<void>;
  /** Freezes etcd: whoever asks the API server waits. */
  pauseEtcd(): void;
  resumeEtcd(): void;
  /** Makes etcd forget all changes so far: watches and pages from older versions get 410. */
  compact(): Promise<void>;
  /** Requests to delete a Node that the API server got, whoever sent them and whatever became of them. */
  listNodeDeletions(): Promise<readonly NodeDeletion[]>;
  /** Requests of service accounts that the API server got and answered, in the order of their ends. */
  listRequests(): Promise<readonly AuditedRequest[]>;
  /** Everything in the audit log, in the order of the ends of requests. */
  listAudit(): Promise<readonly AuditEvent[]>;
  /** Ends all processes, also those of others that have a file in its folder, and removes all files. */
  stop(): Promise<void>;
}

/** What a {@linkcode Cluster} may be started with. */
export interface ClusterOptions {
  readonly signal?: AbortSignal;
  /** Rules of its audit log (`rules` of an audit.k8s.io/v1 Policy). @default {as the lists of requests need it} */
  readonly auditRules?: readonly object[];
  /** Admission plugins in addition to those that an API server has by itself. @default {none} */
  readonly admissionPlugins?: readonly string[];
  /** Further flags: `--oidc-client-id=a`. @default {none} */
  readonly flags?: readonly string[];
}

/** A request to delete a Node, as the audit log of the API server tells. */
interface NodeDeletion {
  /** `system:serviceaccount:<namespace>:<name>` for a service account. */
  readonly username: string;
  readonly node: string;
  /** Preconditions that the request carried. */
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  /** Status of the reply. */
  readonly code: number;
}

/** A request of a service account, as the audit log of the API server tells. */
export interface AuditedRequest {
  /** `system:serviceaccount:<namespace>:<name>` */
  readonly username: string;
  readonly verb: string;
  /** `nodes/status`; a path for what is no resource. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  /** Body of a write. */
  readonly body?: unknown;
  /** When it came, with microseconds, by the API server's clock. */
  readonly at: string;
  /** When it was answered. */
  readonly endedAt: string;
  /** Status of the reply; 0 while a watch lasts. */
  readonly code: number;
}

/** Tells of requests to delete Nodes and of all that service accounts ask; of writes with their bodies. */
const AUDIT_RULES = [
  { level: "Request", verbs: ["delete"], resources: [{ group: "", resources: ["nodes"] }] },
  {
    level: "Request",
    userGroups: ["system:serviceaccounts"],
    verbs: ["create", "update", "patch", "delete"],
  },
  { level: "Metadata", userGroups: ["system:serviceaccounts"] },
  { level: "None" },
] as const;

/** The part of an audit Event that is read (audit.k8s.io/v1). */
export interface AuditEvent {
  readonly user: { readonly username: string };
  readonly verb: string;
  readonly requestURI: string;
  readonly objectRef?: {
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly requestObject?: {
    readonly preconditions?: NodeDeletion["preconditions"];
    readonly [field: string]: unknown;
  };
  readonly responseObject?: unknown;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly responseStatus?: { readonly code?: number };
}

interface Parts {
  readonly assets: string;
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly etcdUrl: string;
  readonly peerUrl: string;
  readonly port: number;
  readonly authority: CertificateFiles;
  readonly serving: CertificateFiles;
  readonly admin: CertificateFiles;
  readonly admissionPlugins: readonly string[];
  readonly flags: readonly string[];
}

/**
 * Starts etcd and the API server on free ports and waits until they are ready (some 5 s).
 *
 * @throws Error when `KUBEBUILDER_ASSETS` is not set, or a server does not come up; its message ends with the log
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnFreePorts(options);
    } catch (error) {
      // Another program got one of them a moment before.
      const isTaken = String(error).includes("address already in use");
      if (!isTaken || attempt === ATTEMPTS) throw error;
    }
  }
}

async function startOnFreePorts(options: ClusterOptions): Promise<Cluster> {
  if (kubeAssets === undefined) throw new Error("Cannot start cluster: KUBEBUILDER_ASSETS not set");
  for (const name of ["etcd", "kube-apiserver"]) await access(join(kubeAssets, name));
  const signal = options.signal ?? new AbortController().signal;
  const folder = await mkdtemp(join(tmpdir(), "landfall-cluster-"));
  let etcd: ServerProcess | undefined;
  try {
    const [etcdPort, peerPort, port] = await Promise.all([
      findFreePort(),
      findFreePort(),
      findFreePort(),
    ]);
    const etcdUrl = `http://127.0.0.1:${etcdPort}`;
    const peerUrl = `http://127.0.0.1:${peerPort}`;
    etcd = startEtcd(kubeAssets, { folder, etcdUrl, peerUrl });
    const certificates = await createCertificates(folder);
    await writeFile(toAuditPath(folder, "policy"), toAuditPolicy(options.auditRules));
    const { admissionPlugins = [], flags = [] } = options;
    const places = { assets: kubeAssets, folder, etcdUrl, peerUrl, port };
    const parts = { ...places, signal, admissionPlugins, flags, ...certificates };
    return await RunningCluster.start(parts, etcd);
  } catch (error) {
    await etcd?.stop("SIGKILL");
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

function startEtcd(
  assets: string,
  options: { readonly folder: string; readonly etcdUrl: string; readonly peerUrl: string },
): ServerProcess {
  const { folder, etcdUrl, peerUrl } = options;
  const args = {
    name: "test",
    "data-dir": join(folder, "etcd"),
    "listen-client-urls": etcdUrl,
    "advertise-client-urls": etcdUrl,
    "listen-peer-urls": peerUrl,
    "initial-advertise-peer-urls": peerUrl,
    "initial-cluster": `test=${peerUrl}`,
  };
  const flags = Object.entries(args).map(([name, value]) => `--${name}=${value}`);
  // Nothing here outlives the test, so nothing needs to reach the disk.
  const all = [...flags, "--unsafe-no-fsync"];
  return startProcess(join(assets, "etcd"), all, join(folder, "etcd.log"));
}

async function createCertificates(
  folder: string,
): Promise<Pick<Parts, "authority" | "serving" | "admin">> {
  const authority = await createAuthority(folder, "landfall-test-ca");
  const serving = await createCertificate(authority, {
    folder,
    name: "serving",
    subject: "/CN=kube-apiserver",
    extensions: [
      "subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc",
      "extendedKeyUsage=serverAuth",
    ],
  });
  const admin = await createCertificate(authority, {
    folder,
    name: "admin",
    subject: "/O=system:masters/CN=admin",
    extensions: ["extendedKeyUsage=clientAuth"],
  });
  return { authority, serving, admin };
}

class RunningCluster implements Cluster {
  readonly url: string;
  readonly caPath: string;
  readonly folder: string;
  readonly adminKubeconfigPath: string;
  readonly #parts: Parts;
  #etcd: ServerProcess;
  readonly #tls: { readonly ca: string; readonly cert: string; readonly key: string };
  #apiServer: ServerProcess | undefined;

  static async start(parts: Parts, etcd: ServerProcess): Promise<Cluster> {
    const read = (path: string): Promise<string> => readFile(path, "utf8");
    const tls = {
      ca: await read(parts.authority.certPath),
      cert: await read(parts.admin.certPath),
      key: await read(parts.admin.keyPath),
    };
    const cluster = new RunningCluster(parts, { etcd, tls });
    await cluster.#writeKubeconfig(cluster.adminKubeconfigPath, {
      "client-certificate": parts.admin.certPath,
      "client-key": parts.admin.keyPath,
    });
    await cluster.startApiServer();
    return cluster;
  }

  constructor(
    parts: Parts,
    running: {
      readonly etcd: ServerProcess;
      readonly tls: { readonly ca: string; readonly cert: string; readonly key: string };
    },
  ) {
    this.#parts = parts;
    this.#etcd = running.etcd;
    this.#tls = running.tls;
    this.url = `https://127.0.0.1:${parts.port}`;
    this.folder = parts.folder;
    this.caPath = parts.authority.certPath;
    this.adminKubeconfigPath = join(parts.folder, "admin.kubeconfig");
  }

  adminFetch(path: string, init: RequestInit = {}): Promise<Response> {
    const deadline = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const signal = init.signal ? AbortSignal.any([init.signal, deadline]) : deadline;
    return fetch(`${this.url}${path}`, { ...init, signal, tls: this.#tls });
  }

  async read<T>(path: string): Promise<T> {
    return await readJson<T>(await this.adminFetch(path));
  }

  async find<T>(path: string): Promise<T | undefined> {
    const response = await this.adminFetch(path);
    return response.status === 404 ? undefined : await readJson<T>(response);
  }

  async list<T>(path: string): Promise<readonly T[]> {
    return (await this.read<{ readonly items: readonly T[] }>(path)).items;
  }

  async patch(
    path: string,
    body: unknown,
    type: keyof typeof PATCH_TYPES = "merge",
  ): Promise<void> {
    const headers = { "content-type": PATCH_TYPES[type] };
    const init = { method: "PATCH", headers, body: JSON.stringify(body) };
    const response = await this.adminFetch(path, init);
    if (!response.ok) throw new Error(`Cannot patch ${path}: ${await response.text()}`);
  }

  async remove(path: string): Promise<void> {
    await this.adminFetch(path, { method: "DELETE" });
  }

  async findHolder(lease: string): Promise<string | undefined> {
    const path = `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${lease}`;
    return (await this.find<Lease>(path))?.spec?.holderIdentity;
  }

  async create(path: string, object: object): Promise<void> {
    const response = await this.#post(path, object);
    if (!response.ok) throw new Error(`Cannot create at ${path}: ${await response.text()}`);
  }

  async createServiceAccountToken(
    account: ServiceAccountName,
    expirationSeconds: number,
  ): Promise<string> {
    const accounts = `/api/v1/namespaces/${account.namespace}/serviceaccounts`;
    const created = await this.#post(accounts, { metadata: { name: account.name } });
    if (!created.ok && created.status !== 409) {
      throw new Error(`Cannot create service account: ${await created.text()}`);
    }
    const path = `${accounts}/${account.name}/token`;
    const response = await this.#post(path, {
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      spec: { expirationSeconds },
    });
    const body = await readJson<{ readonly status?: { readonly token?: string } }>(response);
    if (body.status?.token === undefined)
      throw new Error(`Cannot create token: ${response.status}`);
    return body.status.token;
  }

  async applyRbac(account: ServiceAccountName, { clusterRules, rules }: Policy): Promise<void> {
    await this.#grant(account, { kind: "ClusterRole", rules: clusterRules });
    // Where rules stood before, none may be left.
    for (const namespace of new Set([account.namespace, ...rules.keys()])) {
      const found = rules.get(namespace) ?? [];
      await this.#grant(account, { kind: "Role", namespace, rules: found });
    }
  }

  /** Makes a role and its binding, or gives a role that is there other rules, without a moment in which it has none. */
  async #grant(
    account: ServiceAccountName,
    role: {
      readonly kind: "ClusterRole" | "Role";
      readonly namespace?: string;
      readonly rules: readonly PolicyRule[];
    },
  ): Promise<void> {
    const group = "rbac.authorization.k8s.io";
    const place = role.namespace === undefined ? "" : `/namespaces/${role.namespace}`;
    const path = `/apis/${group}/v1${place}/${role.kind.toLowerCase()}`;
    const name = `${account.namespace}-${account.name}`;
    const object = { metadata: { name }, rules: role.rules };
    const updated = await this.#send("PUT", `${path}s/${name}`, object);
    if (!updated.ok) throw new Error(`Cannot set rules of ${name}: ${await updated.text()}`);
    const bound = await this.#post(`${path}bindings`, {
      metadata: { name },
      roleRef: { apiGroup: group, kind: role.kind, name },
      subjects: [{ kind: "ServiceAccount", ...account }],
    });
    if (!bound.ok && bound.status !== 409) {
      throw new Error(`Cannot bind ${name}: ${await bound.text()}`);
    }
  }

  async writeTokenKubeconfig(token: string): Promise<string> {
    const path = join(this.folder, `token-${crypto.randomUUID()}.kubeconfig`);
    await this.#writeKubeconfig(path, { token });
    return path;
  }

  async stopApiServer(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    await this.#apiServer?.stop(signal);
    this.#apiServer = undefined;
  }

  async startApiServer(): Promise<void> {
    const { assets, folder, signal } = this.#parts;
    const log = join(folder, "kube-apiserver.log");
    const server = startProcess(join(assets, "kube-apiserver"), apiServerFlags(this.#parts), log);
    this.#apiServer = server;
    await waitUntilReady(server, {
      name: "kube-apiserver",
      timeoutMs: START_TIMEOUT_MS,
      signal,
      isReady: async () => {
        const ready = await this.adminFetch("/readyz");
        const namespace = await this.adminFetch("/api/v1/namespaces/default");
        return ready.ok && namespace.ok;
      },
    });
  }

  pauseApiServer(): void {
    this.#apiServer?.signal("SIGSTOP");
  }

  resumeApiServer(): void {
    this.#apiServer?.signal("SIGCONT");
  }

  async stopEtcd(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    await this.#etcd.stop(signal);
  }

  async startEtcd(): Promise<void> {
    const { assets, etcdUrl, signal } = this.#parts;
    this.#etcd = startEtcd(assets, this.#parts);
    await waitUntilReady(this.#etcd, {
      name: "etcd",
      timeoutMs: START_TIMEOUT_MS,
      signal,
      isReady: async () => {
        const deadline = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
        return (await fetch(`${etcdUrl}/health`, { signal: deadline })).ok;
      },
    });
  }

  pauseEtcd(): void {
    this.#etcd.signal("SIGSTOP");
  }

  resumeEtcd(): void {
    this.#etcd.signal("SIGCONT");
  }

  async compact(): Promise<void> {
    const namespace = await this.adminFetch("/api/v1/namespaces");
    const list = await readJson<{ readonly metadata: { readonly resourceVersion: string } }>(
      namespace,
    );
    const revision = list.metadata.resourceVersion;
    const body = JSON.stringify({ revision, physical: true });
    const url = `${this.#parts.etcdUrl}/v3/kv/compaction`;
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const response = await fetch(url, { method: "POST", body, signal });
    if (!response.ok) throw new Error(`Cannot compact etcd: ${await response.text()}`);
  }

  async listNodeDeletions(): Promise<readonly NodeDeletion[]> {
    const events = await this.listAudit();
    return events.filter(isNodeDeletion).map(toNodeDeletion);
  }

  async listRequests(): Promise<readonly AuditedRequest[]> {
    const events = await this.listAudit();
    return events
      .filter(({ user }) => user.username.startsWith("system:serviceaccount:"))
      .map(toAuditedRequest);
  }

  async listAudit(): Promise<readonly AuditEvent[]> {
    const log = await readFile(toAuditPath(this.folder, "log"), "utf8").catch(() => "");
    // The last line may be half written.
    const lines = log.slice(0, log.lastIndexOf("\n") + 1).split("\n");
    return lines.flatMap((line) => parseAuditLine(line));
  }

  async stop(): Promise<void> {
    await endProcesses(this.folder);
    await rm(this.folder, { recursive: true, force: true });
  }

  #post(path: string, object: object): Promise<Response> {
    return this.#send("POST", path, object);
  }

  #send(method: "POST" | "PUT", path: string, object: object): Promise<Response> {
    const headers = { "content-type": "application/json" };
    return this.adminFetch(path, { method, headers, body: JSON.stringify(object) });
  }

  async #writeKubeconfig(path: string, user: Readonly<Record<string, string>>): Promise<void> {
    await writeFile(path, toKubeconfig(this.url, { user, caPath: this.caPath }), { mode: 0o600 });
  }
}

function apiServerFlags(parts: Parts): readonly string[] {
  const key = parts.serving.keyPath;
  const flags = {
    "etcd-servers": parts.etcdUrl,
    "bind-address": "127.0.0.1",
    "advertise-address": "127.0.0.1",
    "secure-port": String(parts.port),
    "tls-cert-file": parts.serving.certPath,
    "tls-private-key-file": key,
    "client-ca-file": parts.authority.certPath,
    "authorization-mode": "RBAC",
    "service-account-issuer": "https://kubernetes.default.svc",
    // Tokens are signed with the serving key: one secret less to make.
    "service-account-key-file": parts.serving.certPath,
    "service-account-signing-key-file": key,
    "service-cluster-ip-range": "10.96.0.0/24",
    "disable-admission-plugins": "ServiceAccount,TaintNodesByCondition",
    "endpoint-reconciler-type": "none",
    "cert-dir": join(parts.folder, "unused"),
    "audit-policy-file": toAuditPath(parts.folder, "policy"),
    "audit-log-path": toAuditPath(parts.folder, "log"),
    // One file, whatever its size in MiB: another would have to be found.
    "audit-log-maxsize": "4096",
  };
  const { admissionPlugins } = parts;
  return [
    ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
    ...(admissionPlugins.length > 0
      ? [`--enable-admission-plugins=${admissionPlugins.join(",")}`]
      : []),
    ...parts.flags,
  ];
}

function toAuditPath(folder: string, what: "policy" | "log"): string {
  return join(folder, `audit-${what}.json`);
}

function toAuditPolicy(rules: readonly object[] = AUDIT_RULES): string {
  return JSON.stringify({
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    omitStages: ["RequestReceived"],
    omitManagedFields: true,
    rules,
  });
}

/** The Event of a line. One that an API server was killed at is cut short, and the next begins right behind it. */
function parseAuditLine(line: string): AuditEvent[] {
  const whole = line.slice(Math.max(0, line.lastIndexOf(AUDIT_EVENT_START)));
  return whole.startsWith(AUDIT_EVENT_START) ? [JSON.parse(whole)] : [];
}

function isNodeDeletion({ verb, objectRef }: AuditEvent): boolean {
  return verb === "delete" && objectRef?.resource === "nodes";
}

function toNodeDeletion(event: AuditEvent): NodeDeletion {
  return {
    username: event.user.username,
    node: event.objectRef?.name ?? "",
    preconditions: event.requestObject?.preconditions,
    code: event.responseStatus?.code ?? 0,
  };
}

/** An Event of the audit log as a request. */
export function toAuditedRequest(event: AuditEvent): AuditedRequest {
  const { resource, subresource, namespace, name } = event.objectRef ?? {};
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  return {
    username: event.user.username,
    verb: event.verb,
    resource: full ?? event.requestURI,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(event.requestObject !== undefined && { body: event.requestObject }),
    at: event.requestReceivedTimestamp,
    endedAt: event.stageTimestamp,
    code: event.responseStatus?.code ?? 0,
  };
}

/** The cluster as an API server under contract; ending that ends the cluster. */
export function toContractServer(cluster: Cluster): ContractServer {
  return {
    baseUrl: cluster.url,
    fetch: (path, init) => cluster.adminFetch(path, init),
    compact: () => cluster.compact(),
    installKind: (kind) => cluster.create(CRDS_PATH, toCrd(kind)),
    removeKind: async (kind) => {
      await cluster.adminFetch(toCrdPath(kind), { method: "DELETE" });
    },
    stop: () => cluster.stop(),
  };
}
