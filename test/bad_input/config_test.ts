/**
 * Files of settings and the environment: anything but good ones is refused with its place, and without a secret.
 * @module
 */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { DELETION } from "../../lib/cloud/settings/sections.ts";
import type { ProviderDefinition } from "../../lib/cloud/provider_definition.ts";
import { parseProviderConfig } from "../../lib/config/provider_config.ts";
import { ConfigError, describeError, formatConfigIssue } from "../../lib/core/errors.ts";
import { Fence } from "../../lib/core/fence.ts";
import { createLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { readKeyPair } from "../../lib/http/certificate/key_pair.ts";
import { requireProvider } from "../../lib/providers/mod.ts";
import { anyJson, anySecret, anyText, isPolluted, makePipe } from "../support/net/hostile.ts";
import { readExtent, sample, tries } from "../support/extent.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { startStaticCloud } from "../support/cloud/static_cloud.ts";
import { runMain } from "./run_main.ts";
import { longTest } from "../support/long_tests.ts";

const folder = mkdtempSync(join(tmpdir(), "landfall-bad-config-"));
afterAll(() => rmSync(folder, { recursive: true }));
const PATH = "/etc/landfall/config.yaml";
const SECRET = "Zq-the-secret-of-43-characters_QVtRk3xYpw9";

type Env = Readonly<Record<string, string>>;

interface Outcome {
  readonly said: string;
  readonly error?: unknown;
}

/** Judges a text as the start of `run` does, up to the cloud that it describes. */
async function judge(
  definition: ProviderDefinition,
  text: string,
  env: Env = {},
): Promise<Outcome> {
  let said = "";
  const log = createLogger({
    format: "json",
    level: "debug",
    write: (line) => (said += line),
    now: () => 0,
  });
  const stop = new AbortController();
  try {
    const config = await parseProviderConfig(text, {
      path: PATH,
      env,
      definition,
      sections: [DELETION],
    });
    said += config.warnings.map(formatConfigIssue).join("\n");
    const clock = new ManualClock();
    const metrics = new MetricsRegistry();
    const deps = { clock, log, metrics, signal: stop.signal, fence: new Fence() };
    definition.create(config.settings, deps);
    return { said };
  } catch (error) {
    return { said: `${said}\n${describeError(error)}`, error };
  } finally {
    stop.abort(new Error("the test is over"));
  }
}

const XO = await requireProvider("xenorchestra");
const STATIC = await requireProvider("static");
const CLOUDSTACK = await requireProvider("external-cloudstack");

const XO_GOOD = { url: "https://xoa.example.com", token: "abc" };
const CLOUDSTACK_GOOD = {
  apiUrl: "https://cloudstack.example.com/client/api",
  apiKey: "abc",
  secretKey: "def",
};
const STATIC_GOOD = {
  scheme: "static",
  instances: [
    {
      id: "a",
      name: "a",
      systemUUID: "u",
      addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
    },
  ],
};

/** Paths of all settings, and some that are none. */
const XO_PATHS = [
  ...XO.settings.map(({ path }) => path),
  ...(
    "addresses deletion deletion.enabled deletion.holdOff deletion.fleetShare token.x constructor toString " +
    "__proto__ addresses.valueOf deletion.__proto__ "
  ).split(" "),
];
const CLOUDSTACK_PATHS = [
  ...CLOUDSTACK.settings.map(({ path }) => path),
  ..."deletion deletion.enabled deletion.holdOff apiKey.x constructor __proto__ addresses.valueOf".split(
    " ",
  ),
];
const STATIC_PATHS = (
  "scheme region zone refreshInterval instances instances.0 instances.0.id instances.0.name instances.0.systemUUID " +
  "instances.0.type instances.0.zone instances.0.state instances.0.addresses instances.0.addresses.0.address " +
  "instances.0.addresses.0.type instances.0.labels instances.1 deletion constructor instances.0.constructor " +
  "instances.0.labels.constructor"
).split(" ");

/** A copy with this value at a path; what stands in the way gives way. */
function put(target: unknown, path: string, value: unknown): unknown {
  const [key = "", ...rest] = path.split(".");
  const inner = rest.length === 0 ? () => value : (one: unknown) => put(one, rest.join("."), value);
  if (Array.isArray(target)) {
    const at = Number(key) || 0;
    return [...target.slice(0, at), inner(target[at]), ...target.slice(at + 1)];
  }
  const entries = new Map(Object.entries(Object(target) as object));
  entries.set(key, inner(entries.get(key)));
  return Object.fromEntries(entries);
}

const CLOUDS: readonly [string, ProviderDefinition, object, readonly string[]][] = [
  ["xenorchestra", XO, XO_GOOD, XO_PATHS],
  ["static", STATIC, STATIC_GOOD, STATIC_PATHS],
  ["external-cloudstack", CLOUDSTACK, CLOUDSTACK_GOOD, CLOUDSTACK_PATHS],
];

function damaged(good: object, paths: readonly string[], value: fc.Arbitrary<unknown>) {
  const change = fc.tuple(fc.constantFrom(...paths), value);
  return fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) => changes.reduce<unknown>((now, [path, one]) => put(now, path, one), good));
}

describe.each(CLOUDS)("settings of %s", (_name, definition, good, paths) => {
  test("are used, or refused with reasons that name the file", async () => {
    const anyForm = fc.tuple(fc.oneof(damaged(good, paths, anyJson), anyJson), fc.boolean());
    await fc.assert(
      fc.asyncProperty(anyForm, async ([config, isJson]) => {
        const text = isJson ? JSON.stringify(config) : Bun.YAML.stringify(config, null, 2);
        const { error } = await judge(definition, text);
        if (error === undefined) return;
        expect(error).toBeInstanceOf(ConfigError);
        const { issues } = error as ConfigError;
        expect(issues.length).toBeGreaterThan(0);
        for (const { message } of issues) expect(message).not.toBe("");
      }),
      tries(40),
    );
    expect(isPolluted()).toBe(false);
  });

  test("never show a value, wherever it stands and however the text is torn", async () => {
    const secretly = anySecret.chain((secret) => {
      const forms = [
        secret,
        `https://u:${secret}@h`,
        `https://h/?t=${secret}`,
        ` ${secret}\n`,
        [secret],
      ];
      const value = fc.constantFrom<unknown>(...forms, { [secret]: secret }, `http://h/#${secret}`);
      const tear = fc.tuple(
        fc.nat(300),
        fc.constantFrom("", "\t", "'", "{", ": :", "*", "&x &y ", "\0"),
      );
      // An identifier is there to be shown.
      const hidden = paths.filter((path) => !/(scheme|\.id|\.name)$/.test(path));
      return fc.record({ secret: fc.constant(secret), config: damaged(good, hidden, value), tear });
    });
    await fc.assert(
      fc.asyncProperty(secretly, async ({ secret, config, tear: [at, mark] }) => {
        const text = Bun.YAML.stringify(config, null, 2);
        for (const one of [text, text.slice(0, at) + mark + text.slice(at)]) {
          const { said, error } = await judge(definition, one);
          if (error !== undefined) expect(error).toBeInstanceOf(ConfigError);
          expect(said).not.toContain(secret);
        }
      }),
      tries(40),
    );
  });
});

test("the environment of Xen Orchestra is used, or refused by the names of its variables", async () => {
  const names = XO.settings.flatMap(({ variable }) => variable ?? []);
  const env = fc.dictionary(
    fc.constantFrom(...names, "XOA_", "__proto__"),
    fc.oneof(anyText, anySecret),
  );
  await fc.assert(
    fc.asyncProperty(env, anySecret, async (variables, secret) => {
      const all = { ...variables, XOA_PASSWORD: secret, XOA_CLIENT_TIMEOUT: secret };
      const { said, error } = await judge(XO, "{}", all);
      expect(error).toBeInstanceOf(ConfigError);
      expect(said).toContain("XOA_CLIENT_TIMEOUT");
      expect(said).not.toContain(secret);
    }),
    tries(50),
  );
});

const LARGE = 1_000_000;
const BOMB = Array.from(
  { length: 30 },
  (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}, *a${at}]`,
);

/** What it is, the text, what must be said; `T` stands for the secret. */
const CORPUS: readonly [string, string, RegExp][] = [
  ["nothing", "", /url: required|there is no inventory/],
  ["null", "~", /url: required|there is no inventory/],
  ["a comment", "# T", /url: required|there is no inventory/],
  ["a text", "T", /must be one block/],
  ["a list", "- T", /must be one block/],
  ["a colon without a blank", "token:T\nurl:T", /must be one block/],
  ["an equals sign", "token = T\nurl = T", /must be one block/],
  ["a key that is the secret", "? T\n: 1\nurl: x", /unknown key|wanted/],
  ["an alias", "token: *T", /an alias/],
  ["a directive", "%T\n---\ntoken: T", /YAML|required|wanted|instances/],
  ["a quote without its twin", 'token: "T\nurl: x', /not closed/],
  ["an escape that is none", 'token: "\\qT"', /escape/],
  ["a tag", "token: !!T T", /./],
  ["a tab", "a:\n\ttoken: T", /tab|indent|expected|YAML/i],
  ["two documents", "token: T\n---\ntoken: T", /must be one YAML document/],
  ["100,000 brackets", "[".repeat(100_000), /nested too deeply/],
  ["100,000 braces", "{a: ".repeat(100_000), /nested too deeply/],
  ["100,000 lists", "- ".repeat(100_000), /nested too deeply/],
  ["100,000 keys of keys", "? ".repeat(100_000), /nested too deeply/],
  ["keys within keys", `${"x: ".repeat(3_000)}T`, /nested too deeply/],
  [
    "aliases that multiply",
    `a0: &a0 [x]\n${BOMB.join("\n")}`,
    /if it uses aliases \(\*name\), write/,
  ],
  ["half a megabyte of one word", "a".repeat(500_000), /must be one block/],
  ["a long value under a key twice", `url: ${"a".repeat(500_000)}\nurl: T`, /occurs twice/],
  ["what holds itself", "addresses: &a {exclude: *a}\ninstances: &i [*i]", /./],
  ["a megabyte of digits", `refreshInterval: "${"1".repeat(LARGE)}"`, /refreshInterval: must be/],
  ["a megabyte of slashes", `url: "https://h/${"/".repeat(LARGE)}T"`, /required|unknown/],
  ["3,000 keys", Array.from({ length: 3_000 }, (_, at) => `k${at}: 1`).join("\n"), /unknown key/],
  ["a key 3,000 times", "k: 1\n".repeat(3_000), /occurs twice/],
  ["more than fits", "#".repeat(1_100_000), /larger than 1 MiB/],
  ["a zero byte", "token: T\0", /not UTF-8 text/],
];

/** What these have is a setting of Xen Orchestra and none of an inventory file, so only that is said. */
const OF_XEN_ORCHESTRA: ReadonlySet<string> = new Set([
  "a key that is the secret",
  "a directive",
  "a long value under a key twice",
  "a megabyte of slashes",
]);
const OTHER_CLOUD = /is static, but .* has the settings of xenorchestra; set --cloud-provider/;

// What reads YAML is the same for every cloud.
const CORPUS_CLOUDS = readExtent() === "all" ? ["xenorchestra", "static"] : ["xenorchestra"];
describe.each(CORPUS_CLOUDS)("the corpus as a file for %s", (cloud) => {
  longTest.each(sample(CORPUS))(
    "%s is told of with its place, by run and by check",
    async (what, text, ownReason) => {
      const isOther = cloud === "static" && OF_XEN_ORCHESTRA.has(what);
      const reason = isOther ? OTHER_CLOUD : ownReason;
      const file = join(folder, `${cloud}.yaml`);
      writeFileSync(file, text.replaceAll("T", SECRET));
      for (const command of ["run", "check"]) {
        const argv = [
          command,
          `--cloud-provider=${cloud}`,
          `--cloud-config=${file}`,
          "--leader-elect=false",
        ];
        const { code, said, ms } = await runMain(argv);
        expect(code).toBe(command === "run" ? 2 : 1);
        expect(said).toMatch(reason);
        expect(said.includes(file) || said.includes("url: required")).toBe(true);
        expect(said).not.toContain(SECRET);
        expect(ms).toBeLessThan(5_000);
      }
    },
  );
});

describe("files that settings name", () => {
  const pipe = join(folder, "pipe");
  makePipe(pipe);
  test.each([pipe, "/dev/zero", "/dev/tty", folder, join(folder, "absent"), "/proc/kmsg", SECRET])(
    "%s is not waited for as tokenFile, caFile or a file of settings",
    async (path) => {
      for (const key of ["tokenFile", "caFile"]) {
        const token = key === "tokenFile" ? {} : { token: "t" };
        const { said, error } = await judge(
          XO,
          JSON.stringify({ url: "https://h", ...token, [key]: path }),
        );
        expect(error).toBeInstanceOf(ConfigError);
        expect(said).toContain(key);
        expect(said).not.toContain(SECRET);
      }
      const pair = await readKeyPair({ certFile: path, keyFile: path }).catch(
        (error: unknown) => error,
      );
      expect(pair).toBeInstanceOf(ConfigError);
      const { code, said } = await runMain(["run", `--cloud-config=${path}`]);
      expect(code).toBe(2);
      expect(said).toContain(path);
    },
  );

  test("an inventory that becomes a pipe is a cloud that cannot answer, and the last good one stays", async () => {
    const cloud = await startStaticCloud(JSON.stringify(STATIC_GOOD));
    rmSync(cloud.path);
    makePipe(cloud.path);
    const list = cloud.provider.listInventory([], new AbortController().signal);
    await expect(list).rejects.toThrow("it is not a file");
    await cloud.stop();
  });
});
