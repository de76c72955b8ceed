/**
 * Turns the current context of kubeconfig files into the credentials of a request.
 * @module
 */
import { dirname, resolve } from "node:path";
import { mustBe } from "../../core/text/values.ts";
import { isPathLike, quote, SECRET_LENGTH_MIN } from "../../core/text/printable.ts";
import { type TlsSettings, trimSlashes } from "../../core/http/connection.ts";
import type { LoadedCredential } from "./credentials.ts";
import { type ExecSpec, toExecSpec } from "./exec.ts";
import { readImpersonation } from "./impersonation.ts";
import type { KubeconfigContext } from "./kubeconfig_file.ts";
import { type SettingPlace, type ReadFile, readNamedFile, toConfigError } from "./problem.ts";
import type { Section } from "./section.ts";
import { checkCertificates, checkKeyPair, checkToken, decodePem, type PlacedPem } from "./tls.ts";

/** The content of a context, before its plugin runs. */
export interface ResolvedContext {
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
export async function resolveContext(
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
