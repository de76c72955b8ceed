/**
 * Settings of a provider, from files that are right and wrong.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion/guard.ts";
import { DELETION } from "../../lib/cloud/settings/sections.ts";
import type { ConfigParser } from "../../lib/cloud/provider_definition.ts";
import type { SettingDescription, SettingSyntax } from "../../lib/cloud/settings/schema.ts";
import {
  listUnknownKeys,
  loadProviderConfig,
  parseProviderConfig,
  type ProviderConfig,
  toSectionParser,
} from "../../lib/config/provider_config.ts";
import { ConfigError, type ConfigIssue } from "../../lib/core/errors.ts";
import { loadProviders, requireProvider } from "../../lib/providers/mod.ts";
import { startStaticCloud, type StaticCloud } from "../support/cloud/static_cloud.ts";
import { GALLERY_SECTION } from "../support/galleries/gallery.ts";

const SECRET = "s3cr3t-t0k3n";

interface Wanted {
  readonly url: string;
  readonly token?: unknown;
}

/** A definition that finds fault with what tests write. */
const sections = [DELETION];
const definition: ConfigParser<Wanted> = {
  settings: ["url", "token", "addresses.exclude", "addresses.network", "odd"].map(
    (path): SettingDescription => ({ path, form: "string", type: "text", description: "Some." }),
  ),
  parseConfig(raw, env) {
    const values = (raw ?? {}) as Readonly<Record<string, unknown>>;
    const issues: ConfigIssue[] = [];
    const warnings = "odd" in values ? [{ path: "odd", message: "is odd" }] : [];
    if (env["BAD"] !== undefined) issues.push({ source: "BAD", message: "must be empty" });
    const url = values["url"] ?? env["URL"];
    if (typeof url !== "string") issues.push({ path: "url", message: "must be a URL" });
    if (typeof values["token"] === "number")
      issues.push({ path: "token", message: "must be text" });
    if ("addresses" in values) {
      issues.push({ path: "addresses.exclude.1", message: "must be a CIDR" });
      issues.push({ path: "addresses.network.name", message: "must be a name" });
    }
    if (issues.length > 0) return { issues, warnings };
    return { settings: { url: String(url), token: values["token"] }, issues, warnings };
  },
};

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "landfall-config-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function writeConfig(text: string): Promise<string> {
  const path = join(folder, "config.yaml");
  await writeFile(path, text);
  return path;
}

/** Loads a file with this text, without an environment. */
async function load<S>(text: string, parser: ConfigParser<S>): Promise<ProviderConfig<S>> {
  const path = await writeConfig(text);
  return await loadProviderConfig({ path, env: {}, definition: parser, sections });
}

async function listIssues(
  text: string,
  env = {},
  parser: ConfigParser<unknown> = definition,
): Promise<string[]> {
  const path = await writeConfig(text);
  try {
    await loadProviderConfig({ path, env, definition: parser, sections });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.replaceAll(path, "FILE").split("\n");
  }
  return [];
}

describe("loadProviderConfig()", () => {
  test("loadProviderConfig() reads a file", async () => {
    expect(await load("url: https://xo\ntoken: abc\n", definition)).toMatchObject({
      settings: { url: "https://xo", token: "abc" },
      sections: new Map([["deletion", DEFAULT_DELETION]]),
      warnings: [],
    });
  });

  test.each([undefined, ""])(
    "loadProviderConfig() with path %j reads the environment",
    async (path) => {
      const options = {
        env: { URL: "https://env" },
        definition,
        sections,
        ...(path !== undefined && { path }),
      };
      const config = await loadProviderConfig(options);
      expect(config.settings.url).toBe("https://env");
      expect(config.sections.get("deletion")).toEqual(DEFAULT_DELETION);
    },
  );

  test.each(["", "# nothing\n", "---\n"])(
    "loadProviderConfig() reads the environment when the file is %j",
    async (text) => {
      const path = await writeConfig(text);
      const env = { URL: "u" };
      const { settings } = await loadProviderConfig({ path, env, definition, sections });
      expect(settings.url).toBe("u");
    },
  );

  test("loadProviderConfig() warns about what is odd with its place", async () => {
    const { warnings } = await load("# x\nurl: u\nodd: 1\n", definition);
    expect(warnings).toEqual([
      { source: join(folder, "config.yaml"), path: "odd", line: 3, column: 1, message: "is odd" },
    ]);
  });

  test.each([
    ["a".repeat(40), "…"],
    ["JVlP2fWbNc8xqKzR3sTuY7aBdEgHiLmO", "…"],
    ["certificateFingerprintOfTheServer", "certificateFingerprintOfTheServer"],
    ["interval-between-two-looks-at-the-cloud", "interval-between-two-looks-at-the-cloud"],
    [`a-${"name-".repeat(20)}b`, `a-${"name-".repeat(20)}`.slice(0, 63) + "…"],
  ])(
    "loadProviderConfig() shows a long key only if it is made of words: %s",
    async (key, shown) => {
      const issue = `FILE:2:1: ${shown}: unknown key; correct or remove it`;
      expect(await listIssues(`url: u\n${key}: x\n`)).toEqual([issue]);
    },
  );

  test("loadProviderConfig() says nothing of a missing setting whose key is misspelt", async () => {
    const parseConfig: typeof definition.parseConfig = () => ({
      issues: [
        { path: "token", message: "is required", solvedBy: ["token", "odd"] },
        { path: "url", message: "is required", solvedBy: ["url"] },
      ],
      warnings: [],
    });
    expect(await listIssues("tokn: t\n", {}, { ...definition, parseConfig })).toEqual([
      "FILE:1:1: tokn: unknown key; did you mean token?",
      "FILE: url: is required",
    ]);
  });

  test("loadProviderConfig() shows no value that a missing blank made a part of the key", async () => {
    expect(await listIssues("url: u\ntoken:canary: x\n")).toEqual([
      "FILE:2:1: token:…: unknown key; correct or remove it",
    ]);
  });
});

/** `key = value`, a setting a line. */
const LINES: SettingSyntax = {
  name: "lines",
  async parse(text) {
    const lines = text.split("\n").map((line) => line.split("=").map((part) => part.trim()));
    const odd = lines.flatMap(({ length }, at) => (length === 2 ? [] : [at + 1]));
    return {
      raw: Object.fromEntries(lines),
      issues: odd.map((line) => ({ message: "must be key = value", line, column: 1 })),
      locate: async () => (path) => {
        const at = lines.findIndex(([key]) => key === path);
        return at < 0 ? undefined : { line: at + 1, column: 1 };
      },
    };
  },
};

describe("a section that has no meaning for the cloud", () => {
  const refusing = {
    ...definition,
    refusedSettings: { deletion: "nothing is ever deleted there" },
  };

  test("is refused with its place, and nothing in it is looked at", async () => {
    const text = "url: u\ndeletion:\n  enabled: maybe\n";
    expect(await listIssues(text, {}, refusing)).toEqual([
      "FILE:2:1: deletion: nothing is ever deleted there",
    ]);
  });

  test("is reported beside what else is wrong", async () => {
    expect(await listIssues("token: 1\ndeletion: {}\nodder: 1\n", {}, refusing)).toHaveLength(4);
  });

  test.each(["url: u\n", "url: u\ndeletion:\n", 'url: u\ndeletion: ""\n'])(
    "is not missed in %j",
    async (text) => {
      expect(await listIssues(text, {}, refusing)).toEqual([]);
    },
  );
});

describe("a provider with a syntax of its own", () => {
  const parser = { ...definition, syntax: LINES };

  test("loadProviderConfig() reads the file by it", async () => {
    const { settings } = await load("url = u\ntoken = t", parser);
    expect(settings).toEqual({ url: "u", token: "t" });
  });

  test("loadProviderConfig() says by it what is wrong, and where", async () => {
    expect(await listIssues("url = u\nodd", {}, parser)).toEqual(["FILE:2:1: must be key = value"]);
    expect(await listIssues("token = t\nurll = u", {}, parser)).toEqual([
      "FILE:2:1: urll: unknown key; did you mean url?",
      "FILE: url: must be a URL",
    ]);
  });

  test("loadProviderConfig() reads a text that is not in it as YAML, and says which it was", async () => {
    const accepts = (text: string): boolean => text.includes("=");
    const chosen = { ...definition, syntax: { ...LINES, accepts } };
    for (const [text, syntax] of [
      ["url = u\ntoken = t", "lines"],
      ["url: u\ntoken: t", "YAML"],
    ] as const) {
      const config = await load(text, chosen);
      expect(config).toMatchObject({ settings: { url: "u", token: "t" }, syntax });
    }
    const config = await load("url: u\ntoken: t", definition);
    expect(config.syntax).toBeUndefined();
  });

  test("loadProviderConfig() names settings as the text writes them", async () => {
    const spell = (path: string): string => path.toUpperCase();
    const parse: SettingSyntax["parse"] = async (text) => ({ ...(await LINES.parse(text)), spell });
    const loud = { ...definition, syntax: { ...LINES, parse } };
    expect(await listIssues("token = t\nurll = u", {}, loud)).toEqual([
      "FILE:2:1: URLL: unknown key; did you mean URL?",
      "FILE: URL: must be a URL",
    ]);
  });

  test("loadProviderConfig() reports what the syntax notes beside what else is wrong", async () => {
    const note = { path: "token", message: "is odd", line: 1, column: 1 };
    const warning = { ...note, line: 3, isWarning: true };
    const parse: SettingSyntax["parse"] = async (text) => ({
      ...(await LINES.parse(text)),
      notes: [note, warning],
    });
    const noting = { ...definition, syntax: { ...LINES, parse } };
    expect(await listIssues("token = t\nurll = u", {}, noting)).toEqual([
      "FILE:1:1: token: is odd",
      "FILE:2:1: urll: unknown key; did you mean url?",
      "FILE: url: must be a URL",
      "FILE:3:1: warning: token: is odd",
    ]);
    expect(await listIssues("odd", {}, noting)).toHaveLength(3);
  });

  test("ProviderConfig.use() finds by it what a provider refuses", async () => {
    const config = await load("url = u\ntoken = t", parser);
    const refuse = (): never => {
      throw new ConfigError([{ path: "token", message: "cannot change" }]);
    };
    const where = `${join(folder, "config.yaml")}:2:1`;
    await expect(config.use(refuse)).rejects.toThrow(`${where}: token: cannot change`);
    expect(await config.use(() => 7)).toBe(7);
  });
});

// A syntax of a provider's own has tests of its own.
const IN_YAML = (await loadProviders()).filter(({ syntax }) => syntax === undefined);

describe.each(IN_YAML)("loadProviderConfig() for $name", (provider) => {
  const minimal = stringify(provider.docs.example);

  test("loadProviderConfig() hands over deletion, and the provider never sees it", async () => {
    const text = `${minimal}deletion: { enabled: false, holdOff: 5m }\n`;
    const config = await load(text, provider);
    expect(config.sections.get("deletion")).toEqual({
      ...DEFAULT_DELETION,
      enabled: false,
      holdOffMs: 300_000,
    });
    expect(config.warnings).toEqual([]);
    const without = await load(minimal, provider);
    expect(config.settings).toEqual(without.settings);
  });

  test("P-05 loadProviderConfig() tells what is wrong below deletion with its place", async () => {
    const text = `deletion:\n  holdOff: soon\n  enabeld: no\nnonsense: 1\n${minimal}`;
    expect(await listIssues(text, {}, provider)).toEqual([
      'FILE:2:3: deletion.holdOff: must be a duration from 0s to 24h, for example "90s"',
      "FILE:3:3: deletion.enabeld: unknown key; did you mean enabled?",
      "FILE:4:1: nonsense: unknown key; correct or remove it",
    ]);
  });
});

describe("loadProviderConfig() when an inventory file is read again", () => {
  const signal = new AbortController().signal;
  const entry = (id: string): string => `instances: [{ id: ${id}, name: ${id} }]\n`;
  const listIds = async (cloud: StaticCloud): Promise<string[]> => [
    ...(await cloud.provider.listInventory([], signal)).instances.keys(),
  ];

  test("loadProviderConfig() keeps deletion out of the provider's way, also later", async () => {
    const cloud = await startStaticCloud(`deletion: { holdOff: 2m }\n${entry("a")}`);
    expect(await listIds(cloud)).toEqual(["a"]);
    await cloud.write(`deletion: { holdOff: 3m }\n${entry("b")}`);
    expect(await listIds(cloud)).toEqual(["b"]);
    await cloud.stop();
  });

  test("loadProviderConfig() refuses the whole file when deletion becomes wrong", async () => {
    const cloud = await startStaticCloud(entry("a"));
    await cloud.write(`deletion: { holdOff: soon }\n${entry("b")}`);
    await expect(listIds(cloud)).rejects.toThrow(":1:13: deletion.holdOff: must be a duration");
    await cloud.write(entry("c"));
    expect(await listIds(cloud)).toEqual(["c"]);
    await cloud.stop();
  });
});

describe("P-05 loadProviderConfig()", () => {
  const cases: readonly [string, string, readonly string[]][] = [
    [
      "lists all problems with line and column",
      "token: 7\naddresses:\n  exclude: [10.0.0.0/8, nonsense]\n  network: ~\n",
      [
        "FILE:1:1: token: must be text",
        "FILE:3:25: addresses.exclude.1: must be a CIDR",
        "FILE:4:3: addresses.network.name: must be a name",
        "FILE: url: must be a URL",
      ],
    ],
    [
      "finds keys that are given twice",
      "url: a\ntoken: x\nurl: b\n",
      ["FILE:3:1: this key occurs twice; remove one"],
    ],
    [
      "finds keys that are given twice on one line",
      "{url: a, url: b}\n",
      ["FILE:1:10: this key occurs twice; remove one"],
    ],
    [
      "names the second colon of a line",
      "url: a: b\n  token: x\n",
      [
        "FILE:1:6: there is a second `:` on this line; quote the text if it contains one",
        "FILE:1:9: the next line is indented further, so it continues this value; indent both lines alike",
      ],
    ],
    [
      "names the indentation of the next line",
      "url: http://host:1\n token: x\n",
      [
        "FILE:1:6: the next line is indented further, so it continues this value; indent both lines alike",
      ],
    ],
    [
      "names the indentation of the next line in a block",
      "url: a\naddresses:\n  mode: leave\n\n   network: x\n",
      [
        "FILE:3:9: the next line is indented further, so it continues this value; indent both lines alike",
      ],
    ],
    [
      "names an open bracket",
      "url: a\naddresses: [1\n",
      [
        "FILE:3:1: the indentation does not match the lines above, or a bracket there is not closed",
      ],
    ],
    [
      "names a tab",
      "url: a\naddresses:\n\tx: 1\n",
      ["FILE:3:1: tabs cannot be used for indentation; use spaces"],
    ],
    [
      "names an alias of nothing",
      "url: a\ntoken: *b\n",
      ["FILE:2:8: an alias (*name) refers to no anchor; quote the text if it is not an alias"],
    ],
    ["refuses a list", "- url: a\n", ["FILE:1:1: must be one block of settings (key: value)"]],
    ["refuses plain text", "url\n", ["FILE:1:1: must be one block of settings (key: value)"]],
    [
      "refuses two documents",
      "url: a\n---\ntoken: b\n",
      ["FILE:1:1: must be one block of settings (key: value)"],
    ],
  ];
  test.each(cases)("P-05 loadProviderConfig() %s", async (_, text, issues) => {
    expect(await listIssues(text)).toEqual([...issues]);
  });

  test("P-05 loadProviderConfig() takes one key in two places for what it is", async () => {
    expect(await listIssues("url: a\nodd:\n  url: b\n")).toEqual([]);
  });

  test("P-05 loadProviderConfig() reports an unknown key beside what is missing", async () => {
    expect(await listIssues("urll: a\n")).toEqual([
      "FILE:1:1: urll: unknown key; did you mean url?",
      "FILE: url: must be a URL",
    ]);
  });

  test("P-05 loadProviderConfig() tells fifty problems and how many more there are", async () => {
    const keys = Array.from({ length: 60 }, (_, index) => `key${index}: 1\n`);
    const issues = await listIssues(`url: a\n${keys.join("")}`);
    expect(issues).toHaveLength(51);
    expect(issues.at(49)).toBe("FILE:51:1: key49: unknown key; correct or remove it");
    expect(issues.at(50)).toBe("FILE: and 10 more");
  });

  test("P-05 loadProviderConfig() keeps the name of an environment variable", async () => {
    expect(await listIssues("token: x\n", { BAD: "1" })).toEqual([
      "BAD: must be empty",
      "FILE: url: must be a URL",
    ]);
  });

  test("P-05 loadProviderConfig() says why a file cannot be read", async () => {
    const sub = join(folder, "folder");
    await mkdir(sub);
    const large = join(folder, "large");
    await writeFile(large, "#".repeat(1024 * 1024 + 1));
    const binary = join(folder, "binary");
    await writeFile(binary, "url: a\0");
    const latin = join(folder, "latin");
    await writeFile(latin, Buffer.from("url: a\npassword: p\u00e4ss\n", "latin1"));
    const cases: readonly [string, string][] = [
      [binary, "it is not UTF-8 text"],
      [latin, "it is not UTF-8 text"],
      [join(folder, "absent.yaml"), "there is no such file"],
      [sub, "it is a folder"],
      ["/dev/null", "it is not a file"],
      [large, "it is larger than 1 MiB"],
    ];
    for (const [path, problem] of cases) {
      const loading = loadProviderConfig({ path, env: {}, definition, sections });
      await expect(loading).rejects.toThrow(`${path}: Cannot read the file: ${problem}`);
    }
  });
});

describe("P-06 loadProviderConfig()", () => {
  const leaky = [
    `token: "${SECRET}`,
    `token: '${SECRET}' "${SECRET}"\n`,
    `url: u\ntoken: *${SECRET}\n`,
    `token: ${SECRET}: ${SECRET}\n`,
    `url: a\n  token: ${SECRET}\n`,
    `token: @${SECRET}\n`,
    `token: !!${SECRET} x\nurl: a\nurl: b\n`,
    `token: "\\q${SECRET}"\n`,
    `[${SECRET}`,
    `${SECRET}\n`,
    `%${SECRET}\n---\nurl: [\n`,
    `token: ${SECRET}\ntoken: ${SECRET}\n`,
    `addresses: {token: ${SECRET}\n`,
    `url: u\ndeletion: ${SECRET}\n`,
    `url: u\ndeletion: { enabled: ${SECRET}, confirmations: ${SECRET}, holdOff: ${SECRET} }\n`,
    `url: u\ndeletion: { fleetShare: ${SECRET}, fleetWindow: ${SECRET}, token: ${SECRET} }\n`,
  ];
  test.each(leaky)("P-06 loadProviderConfig() repeats nothing of %j", async (text) => {
    const issues = await listIssues(text);
    expect(issues).not.toBeEmpty();
    expect(issues.join("\n")).not.toContain(SECRET);
  });
});

describe("sections of a file", () => {
  const own: ConfigParser<unknown> = {
    settings: ["url", "deletion.trust"].map((path): SettingDescription => ({
      path,
      form: "string",
      type: "text",
      description: "One.",
    })),
    parseConfig: (settings) => ({ settings, issues: [], warnings: [] }),
  };
  const parse = (text: string): Promise<ProviderConfig<unknown>> =>
    parseProviderConfig(text, {
      path: "FILE",
      env: {},
      definition: own,
      sections: [DELETION, GALLERY_SECTION],
    });

  test("are taken out, except what the provider knows under their names", async () => {
    const { settings, sections, warnings } = await parse(
      "url: u\ndeletion: { fleetShare: 0.2, trust: true, holdOff: 1s }\ngalleries: { separator: ; }\n",
    );
    expect(settings).toEqual({ url: "u", deletion: { trust: true } });
    expect(sections.get("deletion")).toMatchObject({ fleetShare: 0.2, holdOffMs: 1_000 });
    expect(sections.get("galleries")).toMatchObject({ separator: ";" });
    expect(warnings.map(({ path }) => path)).toEqual(["deletion.holdOff"]);
  });

  test("have their standard settings if the file lacks them, and are all judged", async () => {
    const { settings, sections } = await parse("url: u\n");
    expect(settings).toEqual({ url: "u" });
    expect([...sections]).toEqual([
      ["deletion", DEFAULT_DELETION],
      ["galleries", GALLERY_SECTION.standard],
    ]);
    const wrong = parse("deletion: { holdOff: x }\ngalleries: { separator: 7, most: 0 }\n");
    await expect(wrong).rejects.toThrow(/deletion.holdOff.*\n.*galleries.separator.*\n.*most/);
  });
});

const PROVIDERS = {
  xenorchestra: await requireProvider("xenorchestra"),
  static: await requireProvider("static"),
};

/** Paths and messages of what is unknown in a text, a line each. */
async function list(provider: keyof typeof PROVIDERS, text: string): Promise<string[]> {
  const issues = await listIssues(text, {}, toSectionParser(PROVIDERS[provider]));
  return issues
    .map((one) => one.replace(/^FILE:\d+:\d+: /, ""))
    .filter((one) => /unknown/.test(one));
}

const CASES: readonly [keyof typeof PROVIDERS, string, readonly string[]][] = [
  ["xenorchestra", "deletion: { enable: false }", ["deletion.enable: did you mean enabled?"]],
  ["xenorchestra", "deletion: { Enabled: false }", ["deletion.Enabled: did you mean enabled?"]],
  ["xenorchestra", "deletions: { enabled: false }", ["deletions: did you mean deletion?"]],
  ["xenorchestra", "deletion: { holdoff: 5m }", ["deletion.holdoff: did you mean holdOff?"]],
  [
    "xenorchestra",
    "deletion.enabled: false",
    ["deletion.enabled: write it as a block: deletion: { enabled: … }"],
  ],
  ["xenorchestra", "deletion: { x: 1 }", ["deletion.x: correct or remove it"]],
  ["xenorchestra", "deletion: { enable: ~ }", ["deletion.enable: did you mean enabled?"]],
  ["xenorchestra", "confirmations: 9", ["confirmations: did you mean deletion.confirmations?"]],
  ["xenorchestra", "fleetshare: 0", ["fleetshare: correct or remove it"]],
  ["xenorchestra", "Url: x", ["Url: did you mean url?"]],
  ["xenorchestra", "region: x", ["region: did you mean regions?"]],
  ["xenorchestra", "constructor: x", ["constructor: correct or remove it"]],
  ["xenorchestra", "__proto__: x", ["__proto__: correct or remove it"]],
  ["xenorchestra", "addresses: { nets: x }", ["addresses.nets: correct or remove it"]],
  [
    "xenorchestra",
    "addresses: { externalCidrs: [], mainIpAsExternl: true }",
    [
      "addresses.externalCidrs: did you mean externalCIDRs?",
      "addresses.mainIpAsExternl: did you mean mainIpAsExternal?",
    ],
  ],
  ["xenorchestra", "network: x", ["network: did you mean addresses.network?"]],
  // Only maps have keys to judge: what else is wrong with these, the schemas say.
  ["xenorchestra", "addresses: x\ndeletion: 7\nurl: { a: 1 }", []],
  ["static", "instances: [7, { uuid: x }, [{ x: 1 }]]", ["instances.1.uuid: correct or remove it"]],
  ["static", "instances: [{ zonne: x }]", ["instances.0.zonne: did you mean zone?"]],
  [
    "static",
    "instances: [{ addresses: [{ typ: x, address: y }] }]",
    ["instances.0.addresses.0.typ: did you mean type?"],
  ],
  ["static", "instances: [{ labels: { any: x, instances.b: y } }]", []],
  ["static", "zones: []", ["zones: did you mean zone?"]],
  ["static", "- url: x", []],
];

describe("listUnknownKeys()", () => {
  test.each(CASES)("for %s in %s", async (provider, text, wanted) => {
    expect(await list(provider, text)).toEqual(
      wanted.map((line) => line.replace(": ", ": unknown key; ")),
    );
  });

  test("knows every key of the Go controller", async () => {
    const keys = ["url", "insecure", "username", "password", "token", "clientTimeout"];
    expect(await list("xenorchestra", keys.map((key) => `${key}: x`).join("\n"))).toEqual([]);
  });

  test("finds a thousand at most, however often an alias repeats them", () => {
    const item = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, 1]));
    const instances = Array.from({ length: 100_000 }, () => item);
    const { settings } = PROVIDERS.static;
    expect(listUnknownKeys({ instances }, settings)).toHaveLength(1_000);
  });

  test("ends when a file holds itself", () => {
    const lists: unknown[] = [];
    lists.push(lists, { addresses: lists });
    const block: Record<string, unknown> = {};
    Object.assign(block, { addresses: block, deletion: block, instances: lists });
    const { settings } = PROVIDERS.static;
    expect(listUnknownKeys(block, settings).length).toBeGreaterThan(0);
  });
});
