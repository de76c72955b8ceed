/**
 * Finds the credentials for the API server: those of the current context of kubeconfig files, or the service account of
 * the pod.
 * @module
 */
import { delimiter, dirname, resolve } from "node:path";
import { findErrorCode } from "../../core/errors.ts";
import type { Clock } from "../../core/clock.ts";
import { type Logger, silentLogger } from "../../core/log.ts";
import { readSmallText, toTriedPath } from "../../core/small_file.ts";
import {
  type Credentials,
  type LoadedCredential,
  readImpersonation,
  RefreshingCredentials,
} from "./credentials.ts";
import { checkExecCommand, ExecPlugin, type ExecSpec, toExecSpec } from "./exec.ts";
import {
  checkCertificates,
  checkKeyPair,
  checkToken,
  decodePem,
  type PlacedPem,
  type ReadFile,
  readNamedFile,
  Section,
  type SettingPlace,
  toConfigError,
} from "./setting.ts";
import { mustBe, mustBeText } from "../../core/text/values.ts";
import { isPathLike, quote, SECRET_LENGTH_MIN } from "../../core/text/printable.ts";
import { type TlsSettings, trimSlashes } from "../../core/http/connection.ts";

/** Where the kubelet mounts a pod's service account. */
export const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Shorter than the deadline of a list, so that the error names a plugin that hangs. */
const PLUGIN_MS = 45_000;

/** Where to find credentials. */
export interface CredentialsSource {
  /** Path of a kubeconfig (`--kubeconfig`). With it, no other source is used. */
  readonly kubeconfig?: string;
  /** Address of the API server (`--master`), instead of that in the credentials. */
  readonly master?: string;
  /** A kubeconfig that is used if it exists and there is no other source. @default {none} */
  readonly fallback?: string;
  /** Reads `KUBECONFIG`, `KUBERNETES_SERVICE_HOST` and `…_PORT`. Exec plugins inherit all variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Reads a text file. @default reading from disk */
  readonly readFile?: ReadFile;
  /** Longest run of an exec plugin in milliseconds. @default {45_000} */
  readonly pluginMs?: number;
  /** @default no log */
  readonly log?: Logger;
}

/**
 * Finds credentials and checks everything that needs no network. The order is: `--kubeconfig`, the files in
 * `KUBECONFIG`, the service account of the pod, `--master` alone (without credentials), and the fallback. Controllers
 * have no fallback: they must not act on the cluster that a person used last.
 *
 * Exec plugins run at the first request, not here; this only checks that their command exists.
 *
 * @throws {ConfigError} with file and field, in one sentence
 */
export async function loadCredentials(source: CredentialsSource): Promise<Credentials> {
  const { master, env, clock, log = silentLogger, fallback } = source;
  const readFile = source.readFile ?? readSmallText;
  const named = listKubeconfigs(source);
  if (named.length > 0) return loadKubeconfig(named, readFile, source);

  const inCluster = findInClusterServer(env);
  const place = { source: master ? "--master" : "KUBERNETES_SERVICE_HOST and …_PORT" };
  const given = master || inCluster;
  const checked = given && checkServer(given, place);
  const server = master ? checked : inCluster;
  if (!server) {
    if (fallback !== undefined && (await isThere(fallback, readFile))) {
      return loadKubeconfig([fallback], readFile, source);
    }
    throw toConfigError(
      { source: "Kubernetes credentials" },
      "none found: set --kubeconfig or KUBECONFIG, or run in a pod with a service account",
    );
  }
  const load = (): Promise<LoadedCredential> =>
    inCluster === undefined
      ? Promise.resolve({ headers: {}, tls: {} })
      : readServiceAccount(readFile);
  await load();
  return new RefreshingCredentials({ server, load, clock, log });
}

/** The kubeconfig of the flag, else those of the variable. */
export function listKubeconfigs({
  kubeconfig,
  env,
}: Pick<CredentialsSource, "env" | "kubeconfig">): readonly string[] {
  const files = kubeconfig ? [kubeconfig] : (env["KUBECONFIG"] ?? "").split(delimiter);
  return files.filter((file) => file !== "");
}

/** Also if it cannot be read: then the error says so. */
async function isThere(file: string, readFile: ReadFile): Promise<boolean> {
  try {
    await readFile(file);
    return true;
  } catch (error) {
    return findErrorCode(error) !== "ENOENT";
  }
}

async function loadKubeconfig(
  files: readonly string[],
  readFile: ReadFile,
  { master, env, clock, pluginMs = PLUGIN_MS, log = silentLogger }: CredentialsSource,
): Promise<Credentials> {
  // Reads the whole kubeconfig each time, because some tools renew certificates in it.
  const read = async (): Promise<ResolvedContext> =>
    resolveContext(await readKubeconfig(files, readFile), readFile, master || undefined);
  const { server, exec } = await read();
  if (exec !== undefined) await checkExecCommand(exec, env);
  const plugin = new ExecPlugin({ env, clock, timeoutMs: pluginMs });
  const load = async (fresh: boolean): Promise<LoadedCredential> => {
    const now = await read();
    if (now.server !== server) {
      throw toConfigError(
        { source: files.join(", ") },
        "the address of the server changed; restart Landfall to use it",
      );
    }
    if (now.exec === undefined) return now.credential;
    const answer = await plugin.read(now.exec, fresh);
    const { headers, tls } = now.credential;
    return {
      ...now.credential,
      ...answer,
      headers: { ...headers, ...answer.headers },
      tls: { ...tls, ...answer.tls },
    };
  };
  return new RefreshingCredentials({ server, load, clock, log });
}

/** Address of the API server from a pod's environment, or `undefined` outside a pod. */
function findInClusterServer(
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const host = env["KUBERNETES_SERVICE_HOST"];
  const port = env["KUBERNETES_SERVICE_PORT"];
  if (!host || !port) return undefined;
  return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * Reads token and authority of the pod's service account. Kubernetes rotates both while the pod runs.
 *
 * @throws {ConfigError} if one is missing or damaged
 */
async function readServiceAccount(readFile: ReadFile): Promise<LoadedCredential> {
  const tokenFile = `${SERVICE_ACCOUNT_FOLDER}/token`;
  const caFile = `${SERVICE_ACCOUNT_FOLDER}/ca.crt`;
  const text = await readNamedFile(readFile, tokenFile, { source: tokenFile });
  const token = checkToken(text.trim(), { source: tokenFile });
  const pem = await readNamedFile(readFile, caFile, { source: caFile });
  const ca = checkCertificates({ pem, place: { source: caFile } });
  return { headers: { authorization: `Bearer ${token}` }, tls: { ca } };
}

/** The cluster and the user of the current context. */
interface KubeconfigContext {
  readonly cluster: Section;
  readonly user: Section;
}

/** Each line costs one more reading of the text: texts of this length take about a second. */
const SEARCHED_LENGTH_MAX = 20_000_000;

/**
 * Reads the files in order and finds the current context. It merges them as kubectl does: if several set the same
 * field, the first wins. Source:
 * https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
 *
 * @param files Paths. If there is more than one, missing files are ignored
 * @throws {ConfigError} if no file exists, one is not a kubeconfig, or the context is not complete
 */
async function readKubeconfig(
  files: readonly string[],
  readFile: ReadFile,
): Promise<KubeconfigContext> {
  const roots: Section[] = [];
  for (const file of files) {
    const root = await readRoot(file, readFile, files.length > 1);
    if (root !== undefined) roots.push(root);
  }
  if (roots.length === 0) {
    const tried = files.map(toTriedPath).join(", ");
    throw toConfigError({ source: "KUBECONFIG" }, `none of the files exists: ${tried}`);
  }
  return findContext(roots);
}

async function readRoot(
  file: string,
  readFile: ReadFile,
  optional: boolean,
): Promise<Section | undefined> {
  let text: string;
  try {
    text = await readFile(file);
  } catch (error) {
    const isMissing = findErrorCode(error) === "ENOENT";
    if (optional && isMissing) return undefined;
    // The variable is split before: this is the flag.
    if (isMissing && file.includes(delimiter)) {
      const problem = mustBeText("one file", file);
      throw toConfigError(
        { source: "--kubeconfig" },
        `${problem}; the variable KUBECONFIG takes a list`,
      );
    }
    text = await readNamedFile(() => Promise.reject(error), file, { source: file });
  }
  let value: unknown;
  try {
    value = Bun.YAML.parse(text);
  } catch (error) {
    const isTooDeep = error instanceof RangeError;
    const reason = isTooDeep ? "it is nested too deeply" : "it is not YAML";
    const line = isTooDeep ? undefined : findBadLine(text);
    throw toConfigError(
      { source: file, ...(line !== undefined && { line }) },
      `cannot be read as a kubeconfig: ${reason}`,
    );
  }
  return new Section(value, file);
}

/**
 * The line up to which the text is valid YAML, because the parser's error has no place. Long texts are not searched.
 */
function findBadLine(text: string): number | undefined {
  const lines = text.split("\n");
  if (lines.length * text.length > SEARCHED_LENGTH_MAX) return undefined;
  for (let good = lines.length - 1; good > 0; good -= 1) {
    if (isYaml(lines.slice(0, good).join("\n"))) return good + 1;
  }
  return 1;
}

function isYaml(text: string): boolean {
  try {
    Bun.YAML.parse(text);
    return true;
  } catch {
    return false;
  }
}

function findContext(roots: readonly Section[]): KubeconfigContext {
  const holder = roots.find((root) => root.has("current-context"));
  if (holder === undefined) {
    const source = roots.map((root) => root.source).join(", ");
    throw toConfigError({ source, path: "current-context" }, "is missing");
  }
  const name = holder.required("current-context");
  const context = findNamed(roots, "contexts", name, holder, "current-context").section("context");
  const cluster = context.required("cluster");
  const user = context.string("user");
  return {
    cluster: findNamed(roots, "clusters", cluster, context, "cluster").section("cluster"),
    user:
      user === undefined
        ? new Section(undefined, context.source, context.place("user").path)
        : findNamed(roots, "users", user, context, "user").section("user"),
  };
}

/** The entry with this name. `field` of `from` refers to it. */
function findNamed(
  roots: readonly Section[],
  list: "contexts" | "clusters" | "users",
  name: string,
  from: Section,
  field: string,
): Section {
  const all = roots.flatMap((root) => root.sections(list));
  const found = all.find((entry) => entry.string("name") === name);
  if (found !== undefined) return found;
  const known = all.map((entry) => entry.string("name") ?? "(no name)").join(", ") || "none";
  throw toConfigError(
    from.place(field),
    `${list.slice(0, -1)} "${name}" does not exist (known: ${known})`,
  );
}

/** The content of a context, before its plugin runs. */
interface ResolvedContext {
  readonly server: string;
  readonly credential: LoadedCredential;
  /** The plugin for a token or a certificate, if the user entry has nothing that goes first. */
  readonly exec?: ExecSpec;
}

/**
 * Reads and checks every file of a context.
 *
 * @param context Cluster and user, and the files that contain them
 * @param readFile Reads one file
 * @param master Address instead of the cluster's (`--master`)
 * @throws {ConfigError} with file and field of the first problem
 */
async function resolveContext(
  { cluster, user }: KubeconfigContext,
  readFile: ReadFile,
  master?: string,
): Promise<ResolvedContext> {
  if (user.has("auth-provider")) {
    const problem =
      "auth providers were removed from Kubernetes; use an exec plugin or a token instead";
    throw toConfigError(user.place("auth-provider"), problem);
  }
  const server =
    master === undefined
      ? checkServer(cluster.required("server"), cluster.place("server"))
      : checkServer(master, { source: "--master" });
  const tls: TlsSettings = {
    ...(await readClusterTls(cluster, readFile)),
    ...(await readClientPair(user, readFile)),
  };
  const own = await readAuthorization(user, readFile);
  const headers = { ...own, ...readImpersonation(user) };
  const proxy = readProxy(cluster);
  const exec =
    own["authorization"] === undefined && user.has("exec")
      ? toExecSpec(user.section("exec"), { cluster, server, ca: tls.ca })
      : undefined;
  return {
    server,
    credential: { headers, tls, ...(proxy !== undefined && { proxy }) },
    ...(exec !== undefined && { exec }),
  };
}

/**
 * Checks the address of an API server.
 *
 * @returns The address without trailing slash
 * @throws {ConfigError} if it is not an http or https URL
 */
export function checkServer(server: string, place: SettingPlace): string {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol) || url.hostname === "") {
    // Text before an @ may be a password, and long text a token on the wrong line.
    const isHarmless = server.length < SECRET_LENGTH_MIN && !server.includes("@");
    const found = isHarmless ? quote(server) : undefined;
    throw toConfigError(place, mustBe("an address like https://host:6443", found));
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw toConfigError(place, "the address must not contain a user, a query or a fragment");
  }
  return trimSlashes(url.href);
}

async function readClusterTls(cluster: Section, readFile: ReadFile): Promise<TlsSettings> {
  const given = await readPem(cluster, "certificate-authority", readFile);
  const insecure = cluster.boolean("insecure-skip-tls-verify");
  if (given !== undefined && insecure) {
    throw toConfigError(
      cluster.place("insecure-skip-tls-verify"),
      "must not be true together with a certificate-authority",
    );
  }
  const serverName = cluster.string("tls-server-name");
  return {
    ...(given !== undefined && { ca: checkCertificates(given) }),
    ...(insecure && { insecure }),
    ...(serverName !== undefined && { serverName }),
  };
}

async function readClientPair(user: Section, readFile: ReadFile): Promise<TlsSettings> {
  const cert = await readPem(user, "client-certificate", readFile);
  const key = await readPem(user, "client-key", readFile);
  if (cert === undefined && key === undefined) return {};
  if (cert === undefined) {
    throw toConfigError(user.place("client-certificate"), "is required together with client-key");
  }
  if (key === undefined) {
    throw toConfigError(user.place("client-key"), "is required together with client-certificate");
  }
  return checkKeyPair(cert, key);
}

/** PEM of `<field>-data`, else of the file that `<field>` names. */
async function readPem(
  section: Section,
  field: string,
  readFile: ReadFile,
): Promise<PlacedPem | undefined> {
  const data = section.string(`${field}-data`);
  if (data !== undefined) return decodePem(data, section.place(`${field}-data`));
  const file = section.string(field);
  if (file === undefined) return undefined;
  const advice = `put the data itself into ${field}-data`;
  const { text: pem, ...named } = await readFieldFile(section, { field, file, advice }, readFile);
  return { pem, ...named };
}

/** The text of the file that a field names, and the place of problems in it. */
async function readFieldFile(
  section: Section,
  {
    field,
    file,
    advice,
  }: { readonly field: string; readonly file: string; readonly advice: string },
  readFile: ReadFile,
): Promise<{ readonly text: string; readonly place: SettingPlace }> {
  const place = section.place(field);
  // Paths in a kubeconfig are relative to its folder.
  const path = resolve(dirname(section.source), file);
  if (isPathLike(file)) {
    const text = await readNamedFile(readFile, path, place);
    return { text, place: { source: place.source, path: `${place.path ?? ""} (${path})` } };
  }
  // It may be the secret itself, on the wrong line.
  const text = await readFile(path).catch(() => {
    throw toConfigError(place, `cannot read the file; ${advice}`);
  });
  return { text, place };
}

async function readAuthorization(
  user: Section,
  readFile: ReadFile,
): Promise<Record<string, string>> {
  const file = user.string("tokenFile");
  const inline = user.string("token");
  refuseTwoMethods(user);
  if (file !== undefined) {
    const given = { field: "tokenFile", file, advice: "put the token itself into token" };
    const { text } = await readFieldFile(user, given, readFile);
    return { authorization: `Bearer ${checkToken(text.trim(), user.place("tokenFile"))}` };
  }
  if (inline !== undefined) {
    return { authorization: `Bearer ${checkToken(inline.trim(), user.place("token"))}` };
  }
  const name = user.string("username");
  const password = user.string("password");
  if (name === undefined && password === undefined) return {};
  if (name === undefined) throw toConfigError(user.place("username"), "is missing");
  const pair = Buffer.from(`${name}:${password ?? ""}`, "utf8").toString("base64");
  return { authorization: `Basic ${pair}` };
}

/** As in client-go: one of the two would be silently ignored. */
function refuseTwoMethods(user: Section): void {
  const token = ["token", "tokenFile"].find((field) => user.has(field));
  const basic = ["username", "password"].find((field) => user.has(field));
  if (token === undefined || basic === undefined) return;
  throw toConfigError(user.place(), `${token} and ${basic} are both set; keep one of them`);
}

function readProxy(cluster: Section): string | undefined {
  const proxy = cluster.string("proxy-url");
  if (proxy === undefined) return undefined;
  const url = URL.canParse(proxy) ? new URL(proxy) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url.href;
  // Not shown: the address may contain a password.
  const kind = url?.protocol.startsWith("socks") ? "SOCKS proxies are not supported" : "not a URL";
  throw toConfigError(cluster.place("proxy-url"), `${kind}; give an http or https address`);
}
