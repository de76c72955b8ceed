/**
 * What a kubeconfig becomes, and what is said when it cannot be used.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { Credential } from "../../../lib/kube/credentials/credentials.ts";
import { type CredentialsSource, loadCredentials } from "../../../lib/kube/credentials/mod.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { MemoryDisk } from "../../support/memory_disk.ts";
import { readTls } from "../../support/net/tls_fixtures.ts";

const BUNDLE = `# ours\n${readTls("ca.crt")}\n${readTls("other_ca.crt")}`;
const DISK = {
  "/etc/kube/ca.crt": readTls("ca.crt"),
  "/etc/kube/pki/client.crt": readTls("client.crt"),
  "/etc/kube/pki/client.key": readTls("client.key"),
  "/etc/kube/wrong.key": readTls("server.key"),
  "/etc/kube/encrypted.key": readTls("client_encrypted.key"),
  "/etc/kube/bundle.crt": BUNDLE,
  "/etc/kube/half.crt": readTls("ca.crt") + readTls("client.crt").replace("MII", "???"),
  "/etc/kube/broken.crt": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
  "/var/token": "  from-file\n",
  "/etc/kube/empty": "\n",
};
const SERVER = { server: "https://10.0.0.1:6443" };

function toBase64(text: string): string {
  return Buffer.from(text).toString("base64");
}
const BEARER = { authorization: "Bearer abc" };
const FULL = `
apiVersion: v1
kind: Config
current-context: prod
contexts:
- name: prod
  context: {cluster: one, user: admin, namespace: x}
- name: test
  context: {cluster: two, user: nobody}
clusters:
- name: one
  cluster: {server: https://one}
- name: two
  cluster: {server: https://two}
users:
- name: admin
  user: {token: secret-of-admin}
`;

type Loaded = Credential & { readonly server: string };

/** What the first request carries. */
async function load(
  files: Readonly<Record<string, string>>,
  source: Partial<CredentialsSource> = {},
): Promise<Loaded> {
  const { readFile } = new MemoryDisk(files);
  const env = { KUBECONFIG: Object.keys(files)[0] };
  const credentials = await loadCredentials({ env, clock: new ManualClock(), readFile, ...source });
  return {
    server: credentials.server,
    ...(await credentials.current(new AbortController().signal)),
  };
}

function resolve(cluster: object, user: object, master?: string): Promise<Loaded> {
  const config = JSON.stringify({
    "current-context": "here",
    contexts: [{ name: "here", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { ...SERVER, ...cluster } }],
    users: [{ name: "u", user }],
  });
  return load({ "/etc/kube/config": config, ...DISK }, master === undefined ? {} : { master });
}

describe("a cluster and its user", () => {
  const USABLE: [string, object, object, Partial<Credential>][] = [
    [
      "files, relative to the kubeconfig's folder",
      { "certificate-authority": "ca.crt" },
      { "client-certificate": "pki/client.crt", "client-key": "../kube/pki/client.key" },
      {
        tls: { ca: readTls("ca.crt"), cert: readTls("client.crt"), key: readTls("client.key") },
      },
    ],
    ["a bundle as it is", { "certificate-authority": "bundle.crt" }, {}, { tls: { ca: BUNDLE } }],
    [
      "base64 that is broken into lines",
      { "certificate-authority-data": toBase64(BUNDLE).replaceAll(/.{64}/g, "$&\n ") },
      {},
      { tls: { ca: BUNDLE } },
    ],
    [
      "a user to act as, beside a token, with keys that fit a header",
      {},
      {
        token: "abc",
        as: "jane",
        "as-uid": "7",
        "as-groups": ["ops"],
        "as-user-extra": { "example.org/Scope": ["dev"] },
      },
      {
        headers: {
          ...BEARER,
          "impersonate-user": "jane",
          "impersonate-uid": "7",
          "impersonate-group": "ops",
          "impersonate-extra-example.org%2fscope": "dev",
        },
      },
    ],
    [
      "several values, each apart, for one header could not hold them",
      {},
      { as: "jane", "as-groups": ["a", "b"], "as-user-extra": { k: ["v", "w"] } },
      {
        headers: {
          "impersonate-user": "jane",
          "impersonate-group": ["a", "b"],
          "impersonate-extra-k": ["v", "w"],
        },
      },
    ],
    ["nobody to act as", {}, { as: "", "as-groups": [] }, { headers: {} }],
    [
      "inline data before files",
      {
        "certificate-authority": "none",
        "certificate-authority-data": toBase64(readTls("ca.crt")),
      },
      {
        "client-certificate-data": toBase64(readTls("client.crt")),
        "client-key-data": toBase64(readTls("client.key")),
      },
      {
        tls: { ca: readTls("ca.crt"), cert: readTls("client.crt"), key: readTls("client.key") },
      },
    ],
    ["a token", {}, { token: "abc" }, { headers: BEARER }],
    [
      "tokenFile before token, trimmed",
      {},
      { token: "abc", tokenFile: "/var/token" },
      { headers: { authorization: "Bearer from-file" } },
    ],
    [
      "username and password",
      {},
      { username: "ä", password: "p:w" },
      { headers: { authorization: `Basic ${toBase64("ä:p:w")}` } },
    ],
    [
      "insecure-skip-tls-verify",
      { "insecure-skip-tls-verify": true },
      {},
      { tls: { insecure: true } },
    ],
    ["tls-server-name", { "tls-server-name": "k8s" }, {}, { tls: { serverName: "k8s" } }],
    [
      "proxy-url",
      { "proxy-url": "http://u:p@proxy:3128" },
      {},
      { proxy: "http://u:p@proxy:3128/" },
    ],
    ["no credentials at all", {}, {}, { headers: {}, tls: {} }],
  ];
  test.each(USABLE)("takes %s", async (_title, cluster, user, expected) => {
    expect(await resolve(cluster, user)).toMatchObject({ ...SERVER, ...expected });
  });

  test("prefers a token to a plugin", async () => {
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "/no/such" };
    expect((await resolve({}, { token: "abc", exec })).headers).toEqual(BEARER);
    await expect(resolve({}, { exec })).rejects.toThrow("does not exist");
  });

  const CONFIG = "/etc/kube/config: ";
  const REFUSED: [string, object, object, string][] = [
    [
      "a missing authority file",
      { "certificate-authority": "no.crt" },
      {},
      'clusters.c.cluster.certificate-authority: cannot read the file "/etc/kube/no.crt": there is no such file',
    ],
    [
      "a broken authority file",
      { "certificate-authority": "broken.crt" },
      {},
      "clusters.c.cluster.certificate-authority (/etc/kube/broken.crt): certificate 1 of 1 cannot be decoded",
    ],
    [
      "a bundle whose second certificate is damaged",
      { "certificate-authority": "half.crt" },
      {},
      "clusters.c.cluster.certificate-authority (/etc/kube/half.crt): certificate 2 of 2 cannot be decoded",
    ],
    [
      "a key as authority",
      { "certificate-authority": "pki/client.key" },
      {},
      "clusters.c.cluster.certificate-authority (/etc/kube/pki/client.key): contains no certificate in PEM",
    ],
    ...["-----BEGIN", "abc", "a_b-", "????"].map((data): [string, object, object, string] => [
      `the inline data ${data}, which is not base64,`,
      { "certificate-authority-data": data },
      {},
      "clusters.c.cluster.certificate-authority-data: must be base64",
    ]),
    [
      "a key of another certificate",
      {},
      { "client-certificate": "pki/client.crt", "client-key": "wrong.key" },
      "users.u.user.client-key (/etc/kube/wrong.key): the private key does not belong to the client certificate",
    ],
    [
      "an encrypted key",
      {},
      { "client-certificate": "pki/client.crt", "client-key": "encrypted.key" },
      "the private key is encrypted; use one without a passphrase",
    ],
    [
      "a certificate in place of the key",
      {},
      { "client-certificate": "pki/client.crt", "client-key": "pki/client.crt" },
      "users.u.user.client-key (/etc/kube/pki/client.crt): must be a private key in PEM",
    ],
    [
      "a damaged client certificate",
      {},
      { "client-certificate": "broken.crt", "client-key": "pki/client.key" },
      "users.u.user.client-certificate (/etc/kube/broken.crt): certificate 1 of 1 cannot be decoded",
    ],
    [
      "a certificate without a key",
      {},
      { "client-certificate": "pki/client.crt" },
      "users.u.user.client-key: is required together with client-certificate",
    ],
    [
      "a key without a certificate",
      {},
      { "client-key": "pki/client.key" },
      "users.u.user.client-certificate: is required together with client-key",
    ],
    [
      "a missing token file",
      {},
      { tokenFile: "./no" },
      'users.u.user.tokenFile: cannot read the file "/etc/kube/no"',
    ],
    [
      "an empty token file",
      {},
      { tokenFile: "empty" },
      "users.u.user.tokenFile: the token is empty",
    ],
    ["a password alone", {}, { password: "p" }, "users.u.user.username: is missing"],
    [
      "a token beside a username",
      {},
      { token: "t", username: "n", password: "p" },
      "users.u.user: token and username are both set; keep one of them",
    ],
    [
      "a token file beside a password",
      {},
      { tokenFile: "/var/token", password: "p" },
      "users.u.user: tokenFile and password are both set; keep one of them",
    ],
    [
      "an auth provider",
      {},
      { "auth-provider": { name: "gcp" } },
      "users.u.user.auth-provider: auth providers were removed from Kubernetes; use an exec plugin",
    ],
    [
      "groups to act in without a user to act as",
      {},
      { "as-groups": ["g"], token: "t" },
      "users.u.user.as-groups: needs `as`, the name of the user",
    ],
    ["a UID alone", {}, { "as-uid": "7" }, "users.u.user.as-uid: needs `as`"],
    [
      "attributes alone",
      {},
      { "as-user-extra": { k: ["v"] } },
      "users.u.user.as-user-extra: needs `as`",
    ],
    ...(
      [
        [{ as: "j\nx" }, "as: must be printable ASCII"],
        [{ as: " j" }, "as: must be printable ASCII"],
        [{ as: ["j"] }, "as: must be a string"],
        [{ as: "j", "as-groups": ["a", "b\r\nx: y"] }, "as-groups: must be printable ASCII"],
        [{ as: "j", "as-user-extra": { a: ["x", ""] } }, "as-user-extra: must be printable ASCII"],
      ] as const
    ).map(([user, message]): [string, object, object, string] => [
      `to act as ${JSON.stringify(user)}`,
      {},
      user,
      `users.u.user.${message}`,
    ]),
    [
      "an authority that is not to be used",
      { "insecure-skip-tls-verify": true, "certificate-authority": "ca.crt" },
      {},
      "clusters.c.cluster.insecure-skip-tls-verify: must not be true together",
    ],
    [
      "a SOCKS proxy",
      { "proxy-url": "socks5://p" },
      {},
      "clusters.c.cluster.proxy-url: SOCKS proxies are not",
    ],
    ["no address", { server: "" }, {}, "clusters.c.cluster.server: is missing"],
    [
      "an address without a scheme",
      { server: "host:6443" },
      {},
      "clusters.c.cluster.server: must be an address",
    ],
    [
      "a switch that is a word",
      { "insecure-skip-tls-verify": "yes" },
      {},
      "insecure-skip-tls-verify: must be true or",
    ],
  ];
  test.each(REFUSED)("refuses %s in one sentence", async (_title, cluster, user, message) => {
    const error = await resolve(cluster, user).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "ConfigError", issues: { length: 1 } });
    expect(String(error)).toContain(message);
    expect(String(error)).toContain(CONFIG);
  });

  test("never shows a token that cannot be sent", async () => {
    const error = await resolve({}, { token: "geheim geheim" }).catch((error: unknown) => error);
    expect(String(error)).toContain("users.u.user.token: the token contains white space");
    expect(String(error)).not.toContain("geheim");
  });

  test.each<[object, object, string]>([
    [{}, { tokenFile: "geheim".repeat(6) }, "tokenFile: cannot read the file; put the token"],
    [{ server: "user:geheim@host:6443" }, {}, "server: must be an address like https:"],
  ])("never shows what was written into the wrong field: %j %j", async (cluster, user, message) => {
    const error = await resolve(cluster, user).catch((error: unknown) => error);
    expect(String(error)).toContain(message);
    expect(String(error)).not.toContain("geheim");
  });

  test("blames --master for an address that cannot be used", async () => {
    const resolving = resolve({}, {}, "10.0.0.1");
    await expect(resolving).rejects.toThrow(
      '--master: must be an address like https://host:6443, but is "10.0.0.1"',
    );
  });
});

describe("the address of the API server", () => {
  test.each([
    ["https://a:6443", "https://a:6443"],
    ["https://a/", "https://a"],
    ["https://a/k8s/clusters/c-1/", "https://a/k8s/clusters/c-1"],
    ["http://[::1]:8080", "http://[::1]:8080"],
  ])("is read from %s as %s", async (server, expected) => {
    expect((await resolve({ server }, {})).server).toBe(expected);
  });

  test.each(["a", "ftp://a", "https://user:pw@a", "https://a?x=1"])("is not %p", async (server) => {
    const loading = resolve({ server }, {});
    await expect(loading).rejects.toThrow(/^\/etc\/kube\/config: clusters.c.cluster.server: /);
  });
});

describe("the files of KUBECONFIG", () => {
  const loadAll = (files: Readonly<Record<string, string>>): Promise<Loaded> =>
    load(files, { env: { KUBECONFIG: Object.keys(files).join(":") } });
  const ADMIN = { authorization: "Bearer secret-of-admin" };

  test("name cluster and user by the current context", async () => {
    expect(await loadAll({ "/a": FULL })).toMatchObject({ server: "https://one", headers: ADMIN });
  });

  test("are merged, and the first one wins, entry by entry", async () => {
    const first = "current-context: prod\nclusters: [{name: one, cluster: {server: https://mine}}]";
    const merged = await loadAll({ "/first": first, "/second": FULL });
    expect(merged).toMatchObject({ server: "https://mine", headers: ADMIN });
    const wrong = loadAll({ "/first": first.replace("https:", "ftp:"), "/second": FULL });
    await expect(wrong).rejects.toThrow("/first: clusters.one.cluster.server: ");
  });

  test("may be missing, if there are others, but not unreadable", async () => {
    const env = { KUBECONFIG: "/none:/a" };
    expect((await load({ "/a": FULL }, { env })).server).toBe("https://one");
    const denied = Object.assign(new Error("x"), { code: "EACCES" });
    const readFile = (path: string): Promise<string> =>
      path === "/a" ? Promise.resolve(FULL) : Promise.reject(denied);
    await expect(load({}, { env, readFile })).rejects.toThrow(
      "/none: cannot read the file: this process has no permission to read it",
    );
  });

  test("may name a context without a user", async () => {
    const text = FULL.replace("cluster: one, user: admin", "cluster: one");
    expect((await loadAll({ "/a": text })).headers).toEqual({});
  });

  const REFUSED: [string, string, string][] = [
    ["text that is no YAML", "a: [1", "/a:1: cannot be read as a kubeconfig: it is not YAML"],
    [
      "a line that is no YAML",
      FULL.replace("users:", "users: }"),
      "/a:15: cannot be read as a kubeconfig: it is not YAML",
    ],
    ["a tab", "a:\n  b: 1\n\tc: 2\nd: 3\n", "/a:3: cannot be read as a kubeconfig: it is not YAML"],
    [
      "a long text that is no YAML",
      "a: 1\n".repeat(10_000) + "}",
      "/a: cannot be read as a kubeconfig: it is not YAML",
    ],
    ["a list", "- a", "/a: must be a mapping"],
    ["no current context", "contexts: []", "/a: current-context: is missing"],
    [
      "an unknown context",
      FULL.replace("current-context: prod", "current-context: prud"),
      '/a: current-context: context "prud" does not exist (known: prod, test)',
    ],
    [
      "an unknown cluster",
      FULL.replace("cluster: one,", "cluster: three,"),
      '/a: contexts.prod.context.cluster: cluster "three" does not exist (known: one, two)',
    ],
    [
      "an unknown user",
      FULL.replace("current-context: prod", "current-context: test"),
      '/a: contexts.test.context.user: user "nobody" does not exist (known: admin)',
    ],
    [
      "a context without a cluster",
      FULL.replace("cluster: one, ", ""),
      "contexts.prod.context.cluster: is missing",
    ],
    [
      "a mapping where a list belongs",
      "current-context: a\ncontexts: {a: 1}",
      "/a: contexts: must be a list",
    ],
  ];
  test.each(REFUSED)("refuses %s, naming file and field", async (_title, text, message) => {
    const error = await loadAll({ "/a": text }).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "ConfigError", issues: { length: 1 } });
    expect(String(error)).toContain(message);
    expect(String(error)).not.toContain("secret-of-admin");
  });
});
