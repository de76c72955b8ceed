/**
 * A double of Dex: an OIDC provider with the answers of a real one, which `test/fixtures/judged/dex.json` has. It is
 * set up by the configuration that users write for Dex. Every login is that of one person, who is asked nothing.
 * @module
 */
import { createHash, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import dex from "../../fixtures/judged/dex.json";
import type { CertificateFiles } from "../net/certificates.ts";

/** Who logs in. */
interface Person {
  readonly email: string;
  readonly groups: readonly string[];
}

/** What the double reads of a configuration. */
interface Config {
  readonly issuer: string;
  readonly staticClients: readonly {
    readonly id: string;
    readonly public?: boolean;
    readonly redirectURIs: readonly string[];
  }[];
}

interface Login {
  readonly clientID: string;
  readonly redirectURI: string;
  readonly challenge: string;
  readonly scopes: readonly string[];
}

const KEY = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" } as const;
const HALF = 16;

/** A running double. */
export class DexDouble implements AsyncDisposable {
  /** Who logs in from now on. */
  person: Person;
  readonly #config: Config;
  readonly #keys: CryptoKeyPair;
  readonly #keyID = randomUUID();
  /** By their codes, each of which counts once. */
  readonly #logins = new Map<string, Login>();
  readonly #server: Bun.Server<undefined>;

  /** Starts it on the port of the issuer. @param config As in the Secret for Dex */
  static async start(
    config: string,
    { certPath, keyPath }: CertificateFiles,
    person: Person,
  ): Promise<DexDouble> {
    const keys = await crypto.subtle.generateKey(
      { ...KEY, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) },
      true,
      ["sign", "verify"],
    );
    const [cert, key] = await Promise.all([readFile(certPath, "utf8"), readFile(keyPath, "utf8")]);
    return new DexDouble(parse(config), keys, { tls: { cert, key }, person });
  }

  constructor(
    config: Config,
    keys: CryptoKeyPair,
    { tls, person }: { readonly tls: { cert: string; key: string }; readonly person: Person },
  ) {
    this.#config = config;
    this.#keys = keys;
    this.person = person;
    const { hostname, port } = new URL(config.issuer);
    this.#server = Bun.serve({ hostname, port, tls, fetch: (request) => this.#answer(request) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    switch (`${request.method} ${pathname}`) {
      case "GET /.well-known/openid-configuration":
        return Response.json(this.#discover());
      case "GET /keys":
        return Response.json({ keys: [await this.#toJwk()] });
      case "GET /auth":
        return this.#logIn(searchParams);
      case "POST /token":
        return await this.#giveToken(new URLSearchParams(await request.text()));
      default:
        return new Response("404 page not found\n", { status: 404 });
    }
  }

  #discover(): object {
    const { issuer } = this.#config;
    const endpoints = Object.entries(dex.discovery.endpoints);
    return {
      issuer,
      ...Object.fromEntries(endpoints.map(([name, path]) => [name, `${issuer}${path}`])),
      ...dex.discovery.others,
    };
  }

  async #toJwk(): Promise<object> {
    const { kty, n, e } = await crypto.subtle.exportKey("jwk", this.#keys.publicKey);
    return { use: "sig", kty, kid: this.#keyID, alg: "RS256", n, e };
  }

  #logIn(query: URLSearchParams): Response {
    const read = (name: string): string => query.get(name) ?? "";
    const [clientID, redirectURI] = [read("client_id"), read("redirect_uri")];
    const client = this.#config.staticClients.find(({ id }) => id === clientID);
    if (!client?.redirectURIs.includes(redirectURI)) return new Response("", dex.refusals.client);
    const code = randomUUID();
    const scopes = read("scope").split(" ");
    this.#logins.set(code, { clientID, redirectURI, challenge: read("code_challenge"), scopes });
    const location = new URL(redirectURI);
    location.search = String(new URLSearchParams({ code, state: read("state") }));
    return new Response(null, { status: dex.login.status, headers: { location: location.href } });
  }

  async #giveToken(form: URLSearchParams): Promise<Response> {
    const code = form.get("code") ?? "";
    const login = this.#logins.get(code);
    const { refusals, login: seen } = dex;
    const refuse = ({ status, body }: typeof refusals.code): Response =>
      Response.json(body, { status });
    if (login?.redirectURI !== form.get("redirect_uri")) return refuse(refusals.code);
    if (login.challenge !== hash(form.get("code_verifier") ?? "")) return refuse(refusals.verifier);
    this.#logins.delete(code);
    const access_token = randomUUID();
    const id_token = await this.#sign(login, { code, access_token });
    return Response.json({ access_token, ...seen.token, id_token });
  }

  async #sign(
    { clientID, scopes }: Login,
    { code, access_token }: { readonly code: string; readonly access_token: string },
  ): Promise<string> {
    const nowS = Math.floor(Date.now() / 1_000);
    const { email, groups } = this.person;
    const claims = {
      iss: this.#config.issuer,
      sub: randomUUID(),
      aud: clientID,
      exp: nowS + dex.login.token.expires_in,
      iat: nowS,
      jti: randomUUID(),
      auth_time: nowS,
      at_hash: hash(access_token, HALF),
      c_hash: hash(code, HALF),
      ...(scopes.includes("email") && { email, email_verified: true }),
      ...(scopes.includes("groups") && { groups }),
    };
    const encode = (part: object): string =>
      Buffer.from(JSON.stringify(part)).toString("base64url");
    const text = `${encode({ alg: "RS256", kid: this.#keyID })}.${encode(claims)}`;
    const signature = await crypto.subtle.sign(KEY, this.#keys.privateKey, Buffer.from(text));
    return `${text}.${Buffer.from(signature).toString("base64url")}`;
  }
}

/** The first bytes of the SHA-256 of a text. @default {all} */
function hash(text: string, bytes?: number): string {
  return createHash("sha256").update(text).digest().subarray(0, bytes).toString("base64url");
}

/** What a person's program knows of a provider. */
interface ClientOptions {
  readonly ca: string;
  readonly clientID: string;
  readonly redirectURI: string;
}

/** A login that lacks only the token. */
interface BegunLogin {
  /** @param verifier That of PKCE. @default {the right one} */
  redeem(verifier?: string): Promise<{ readonly status: number; readonly body: unknown }>;
}

/** Begins to log in as a program on the computer of a person does: with PKCE, by what the provider says of itself. */
export async function beginLogin(
  issuer: string,
  { ca, clientID, redirectURI }: ClientOptions,
): Promise<BegunLogin> {
  const ask = (url: string, init: RequestInit = {}): Promise<Response> =>
    fetch(url, { redirect: "manual", ...init, tls: { ca } });
  const discovery = await ask(`${issuer}/.well-known/openid-configuration`);
  const { authorization_endpoint: authorize, token_endpoint } = Object(await discovery.json());
  const [state, own] = [randomUUID(), randomUUID() + randomUUID()];
  const query = new URLSearchParams({
    client_id: clientID,
    redirect_uri: redirectURI,
    response_type: "code",
    scope: "openid email groups",
    state,
    code_challenge: hash(own),
    code_challenge_method: "S256",
  });
  let at = `${authorize}?${query}`;
  while (!at.startsWith(redirectURI)) {
    const answer = await ask(at);
    const location = answer.headers.get("location");
    if (location === null) throw new Error(`${at}: ${answer.status} ${await answer.text()}`);
    at = new URL(location, at).href;
  }
  const { searchParams } = new URL(at);
  if (searchParams.get("state") !== state) throw new Error(`${at} has another state`);
  return {
    async redeem(verifier = own) {
      const form = {
        grant_type: "authorization_code",
        code: searchParams.get("code") ?? "",
        redirect_uri: redirectURI,
        client_id: clientID,
        code_verifier: verifier,
      };
      const answer = await ask(token_endpoint, { method: "POST", body: new URLSearchParams(form) });
      return { status: answer.status, body: await answer.json() };
    },
  };
}

/** Logs in. @returns The ID token */
export async function logIn(issuer: string, client: ClientOptions): Promise<string> {
  const { status, body } = await (await beginLogin(issuer, client)).redeem();
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return String(Object(body).id_token);
}
