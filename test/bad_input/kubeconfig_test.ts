/**
 * Kubeconfigs, and what they name: anything but a good one is refused by file and field, and without a secret.
 * @module
 */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { systemClock } from "../../lib/core/clock.ts";
import { ConfigError } from "../../lib/core/errors.ts";
import { createLogger } from "../../lib/core/log.ts";
import { type CredentialsSource, loadCredentials } from "../../lib/kube/credentials/mod.ts";
import { tries } from "../support/extent.ts";
import { anyJson, anySecret, isPolluted, makePipe, measureCpuMs } from "../support/net/hostile.ts";
import { MemoryDisk } from "../support/memory_disk.ts";
import { longTest } from "../support/long_tests.ts";

const folder = mkdtempSync(join(tmpdir(), "landfall-kubeconfig-"));
afterAll(() => rmSync(folder, { recursive: true }));
const signal = new AbortController().signal;

interface Outcome {
  /** Everything that was said. */
  readonly said: string;
  readonly error?: unknown;
}

/** Reads a kubeconfig, and what a request would carry. */
async function attempt(source: Partial<CredentialsSource>): Promise<Outcome> {
  let said = "";
  const log = createLogger({
    format: "text",
    level: "debug",
    write: (line) => (said += line),
    now: () => 0,
  });
  try {
    const credentials = await loadCredentials({ env: {}, clock: systemClock, log, ...source });
    await credentials.current(signal);
    return { said };
  } catch (error) {
    const cause = error instanceof Error ? `${error.message}\n${String(error.cause ?? "")}` : "";
    return { said: said + cause, error };
  }
}

function fromMemory(text: string, more: Record<string, string> = {}): Partial<CredentialsSource> {
  const { readFile } = new MemoryDisk({ "/k/config": text, ...more });
  return { kubeconfig: "/k/config", readFile };
}

type Fields = Record<string, unknown>;

/** With one way to sign in. */
function toConfig(cluster: Fields, user: Fields): Fields {
  return {
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server: "https://a:6443", ...cluster } }],
    users: [{ name: "u", user }],
  };
}

const CLUSTER_FIELDS = [
  "server",
  "certificate-authority",
  "certificate-authority-data",
  "insecure-skip-tls-verify",
  "tls-server-name",
  "proxy-url",
  "extensions",
];
const USER_FIELDS = (
  "token tokenFile username password client-certificate client-key client-certificate-data client-key-data " +
  "exec auth-provider as as-uid as-groups as-user-extra"
).split(" ");
const EXEC_FIELDS =
  "apiVersion command args env interactiveMode installHint provideClusterInfo".split(" ");
const EXEC = { apiVersion: "client.authentication.k8s.io/v1", command: "/no/plugin" };

/** A kubeconfig with this value in one of its fields, and perhaps under a wrong one. */
function anyConfigWith(
  value: fc.Arbitrary<unknown>,
  execFields = EXEC_FIELDS,
): fc.Arbitrary<Fields> {
  const cluster = fc.tuple(fc.constantFrom(...CLUSTER_FIELDS), value);
  const user = fc.tuple(fc.constantFrom(...USER_FIELDS), value);
  const exec = fc.tuple(fc.constantFrom(...execFields), value);
  return fc.oneof(
    cluster.map(([field, one]) => toConfig({ [field]: one }, { token: "t" })),
    user.map(([field, one]) => toConfig({}, { [field]: one })),
    fc.tuple(user, user).map(([[a, one], [b, two]]) => toConfig({}, { [a]: one, [b]: two })),
    exec.map(([field, one]) => toConfig({}, { exec: { ...EXEC, [field]: one } })),
  );
}

const anyBroken: fc.Arbitrary<unknown> = fc.oneof(
  anyConfigWith(anyJson),
  fc
    .tuple(fc.constantFrom("current-context", "contexts", "clusters", "users"), anyJson)
    .map(([field, value]) => ({ ...toConfig({}, { token: "t" }), [field]: value })),
  anyJson,
);

describe("loadCredentials() of what is no good kubeconfig", () => {
  test("either serves or names the file that is wrong", async () => {
    await fc.assert(
      fc.asyncProperty(anyBroken, async (config) => {
        const { error } = await attempt(fromMemory(JSON.stringify(config)));
        if (error === undefined) return;
        expect(error).toBeInstanceOf(ConfigError);
        expect(error).toHaveProperty("message", expect.stringContaining("/k/"));
      }),
      tries(150),
    );
    expect(isPolluted()).toBe(false);
  });

  test("never repeats a secret, in whichever field it stands", async () => {
    const withSecret = anySecret.chain((secret) => {
      const forms = [secret, `https://u:${secret}@h:1`, `https://h:1/?token=${secret}`, [secret]];
      const nested = { a: secret, name: "x", value: secret };
      const value = fc.constantFrom<unknown>(...forms, `Bearer ${secret}`, nested, `${secret}\n`);
      // An install hint is written to be shown.
      const execFields = EXEC_FIELDS.filter((field) => field !== "installHint");
      return anyConfigWith(value, execFields).map((config) => ({ secret, config }));
    });
    await fc.assert(
      fc.asyncProperty(withSecret, async ({ secret, config }) => {
        const { said } = await attempt(fromMemory(JSON.stringify(config)));
        expect(said).not.toContain(secret);
      }),
      tries(150),
    );
  });

  test("never repeats a secret of a text that is cut or torn", async () => {
    const damage = fc.record({
      at: fc.nat(400),
      put: fc.constantFrom(
        "",
        "\t",
        "'",
        '"',
        "{",
        "]",
        ": :",
        "*",
        "&a &b ",
        "!!",
        "\0",
        "- - ",
        "%",
      ),
      isCut: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(anySecret, damage, async (secret, { at, put, isCut }) => {
        const text = Bun.YAML.stringify(toConfig({}, { token: secret }), null, 2);
        const torn = text.slice(0, at) + put + (isCut ? "" : text.slice(at));
        const { said, error } = await attempt(fromMemory(torn));
        if (error !== undefined) expect(error).toBeInstanceOf(ConfigError);
        expect(said).not.toContain(secret);
      }),
      tries(100),
    );
  });
});

const BOMB = Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]`);
const OK = "current-context: c\ncontexts: [{name: c, context: {cluster: c}}]\n";
const CYCLE = `${OK}clusters:
- name: c
  cluster: &c {server: "https://a", extensions: [{name: client.authentication.k8s.io/exec, extension: *c}]}
`;

/** What it is, the text, what must be said. */
const CORPUS: readonly [string, string, RegExp][] = [
  ["nothing", "", /current-context: is missing/],
  ["null", "null", /current-context: is missing/],
  ["a list", "[]", /must be a mapping/],
  ["a number", "42", /must be a mapping/],
  ["100,000 brackets", "[".repeat(100_000), /nested too deeply/],
  ["100,000 lists", "- ".repeat(100_000), /nested too deeply/],
  ["100,000 keys of keys", "? ".repeat(100_000), /nested too deeply/],
  ["aliases that multiply", `a0: &a0 [x]\n${BOMB.join("\n")}`, /it is not YAML|is missing/],
  ["an alias of nothing", `${OK}users: *u`, /it is not YAML/],
  ["a megabyte without an end", `a: "${"x".repeat(1_000_000)}`, /it is not YAML/],
  ["a thousand lines and a bad one", `${"a: 1\n".repeat(1_000)}'`, /:1001: .*it is not YAML/],
  ["a zero byte", "a: \0", /it is not YAML/],
  ["names twice", `${OK}${OK}`, /clusters? "c" does not exist/],
  ["a name that every object has", "current-context: constructor", /"constructor" does not exist/],
  ["a prototype", "__proto__: {current-context: c}", /current-context: is missing/],
  ["null everywhere", "current-context: ~\ncontexts: [~]\nusers: ~", /current-context: is missing/],
];

describe("loadCredentials() by the corpus", () => {
  longTest.each(CORPUS)("refuses %s", async (_what, text, message) => {
    let said = "";
    const ms = await measureCpuMs(async () => ({ said } = await attempt(fromMemory(text))));
    expect(said).toMatch(message);
    expect(said.length).toBeLessThan(1_000);
    expect(ms).toBeLessThan(3_000);
  });

  test("takes a cluster that holds itself, and a plugin that gets it fails with a reason", async () => {
    const exec = { ...EXEC, command: "/bin/true", provideClusterInfo: true };
    const user = `users: ${JSON.stringify([{ name: "u", user: { exec } }])}`;
    const text = `${CYCLE.replace("{cluster: c}", "{cluster: c, user: u}")}${user}`;
    const { error } = await attempt(fromMemory(text));
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toContain("extension");
  });

  const pipe = join(folder, "pipe");
  makePipe(pipe);
  const paths = [
    pipe,
    "/dev/zero",
    "/dev/random",
    "/dev/tty",
    folder,
    join(folder, "absent"),
    "/proc/kmsg",
  ];
  test.each(paths)(
    "does not wait for %s as a kubeconfig or as a file that it names",
    async (path) => {
      const file = join(folder, "config");
      const fields = [
        [{ "certificate-authority": path }, {}],
        [{}, { tokenFile: path }],
        [{}, { "client-certificate": path, "client-key": path }],
      ] as const;
      expect((await attempt({ kubeconfig: path })).error).toBeInstanceOf(ConfigError);
      for (const [cluster, user] of fields) {
        writeFileSync(file, JSON.stringify(toConfig(cluster, user)));
        const { error } = await attempt({ kubeconfig: file });
        expect(error).toBeInstanceOf(ConfigError);
        expect(String(error)).toContain(path);
      }
    },
  );

  longTest.each([
    { KUBERNETES_SERVICE_HOST: "a b", KUBERNETES_SERVICE_PORT: "443" },
    { KUBERNETES_SERVICE_HOST: "u:secret@h", KUBERNETES_SERVICE_PORT: "443" },
    { KUBERNETES_SERVICE_HOST: "a", KUBERNETES_SERVICE_PORT: "-1" },
    { KUBERNETES_SERVICE_HOST: "::g", KUBERNETES_SERVICE_PORT: "443" },
    { KUBERNETES_SERVICE_HOST: "a/b?c", KUBERNETES_SERVICE_PORT: "443" },
    { KUBECONFIG: ":::" },
    { KUBECONFIG: "/absent:".repeat(10_000) },
  ])("names the variables of an environment that leads nowhere: %j", async (env) => {
    const { error } = await attempt({ env });
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toMatch(/KUBE/);
    expect(String(error)).not.toContain("secret");
  });
});

describe("an exec plugin", () => {
  const run = (script: string): Promise<Outcome> => {
    const exec = { ...EXEC, command: "/bin/sh", args: ["-c", script] };
    return attempt(fromMemory(JSON.stringify(toConfig({}, { exec }))));
  };
  const SECRET = "Zq7hT4x9-the-secret-of-a-careless-plugin";
  const answer = (status: unknown): string =>
    `cat <<'END'\n${JSON.stringify({ kind: "ExecCredential", apiVersion: EXEC.apiVersion, status })}\nEND`;

  test.each([
    ["that prints nothing", "true", "not JSON"],
    ["that tells its secret on standard error", `echo ${SECRET} >&2; exit 3`, "code 3"],
    ["that prints its secret alone", `echo ${SECRET}`, "not JSON"],
    ["that prints 2 MB", `yes ${SECRET} | head -c 2000000`, "printed more than 1 MiB"],
    ["that kills itself", "kill -9 $$", "failed"],
    ["that prints 100,000 brackets", "head -c 100000 /dev/zero | tr '\\0' '['", "not JSON"],
    ["that answers a list", "echo '[]'", "must be a mapping"],
    ["that answers null", "echo null", "not an ExecCredential"],
    ["that answers with a list of tokens", answer({ token: [SECRET] }), "must be a string"],
    [
      "whose time is its token",
      answer({ token: "t", expirationTimestamp: SECRET }),
      "must be a time",
    ],
    ["whose token has lines", answer({ token: `a\n${SECRET}` }), "white space"],
    [
      "whose certificate is its token",
      answer({ clientCertificateData: SECRET, clientKeyData: SECRET }),
      "no certificate",
    ],
    [
      "of another version",
      `echo '{"kind":"ExecCredential","apiVersion":"${SECRET}"}'`,
      "not an ExecCredential",
    ],
  ])("%s is refused with a reason, and without its secret", async (_what, script, reason) => {
    const { said, error } = await run(script);
    expect(error).toBeInstanceOf(ConfigError);
    expect(said).toContain(reason);
    expect(said).toContain("/k/config");
    expect(said).not.toContain(SECRET);
  });
});
