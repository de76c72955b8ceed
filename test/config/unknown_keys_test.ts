/**
 * Keys that no setting has, and what was probably meant.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { DELETION } from "../../lib/cloud/deletion/settings.ts";
import { listUnknownKeys } from "../../lib/config/unknown_keys.ts";
import { requireProvider } from "../../lib/providers/mod.ts";

const PROVIDERS = {
  xenorchestra: await requireProvider("xenorchestra"),
  static: await requireProvider("static"),
};

/** Paths and messages of what is unknown in a text, a line each. */
function list(provider: keyof typeof PROVIDERS, text: string): string[] {
  const settings = [...PROVIDERS[provider].settings, ...DELETION.settings];
  const issues = listUnknownKeys(Bun.YAML.parse(text), settings);
  return issues.map(({ path, message }) => `${path}: ${message}`);
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
  test.each(CASES)("for %s in %s", (provider, text, wanted) => {
    expect(list(provider, text)).toEqual(
      wanted.map((line) => line.replace(": ", ": unknown key; ")),
    );
  });

  test.each([undefined, null, "text", 7, [[]]])("finds none in %j", (raw) => {
    expect(listUnknownKeys(raw, DELETION.settings)).toEqual([]);
  });

  test("knows every key of the Go controller", () => {
    const keys = ["url", "insecure", "username", "password", "token", "clientTimeout"];
    expect(list("xenorchestra", keys.map((key) => `${key}: x`).join("\n"))).toEqual([]);
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
