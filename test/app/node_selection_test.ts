/**
 * The setting `nodes.selector`, from the file of a running process to Nodes, cloud, page and check.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { Configuration } from "../../lib/app/options.ts";
import { listNodePlans } from "../../lib/cli/check/nodes.ts";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion/guard.ts";
import { DELETION, NODE_SELECTION } from "../../lib/cloud/settings/sections.ts";
import { loadProviderConfig, toSectionParser } from "../../lib/config/provider_config.ts";
import { requireProvider } from "../../lib/providers/mod.ts";
import { toInventory } from "../support/cloud/instances.ts";
import { isDone, toProvider } from "../support/nodes/node_cloud.ts";
import { toNode, toRegistration } from "../support/nodes/nodes.ts";
import { startRig, until } from "../support/nodes/rig.ts";
import { SecretMount } from "../support/process/secret_mount.ts";

const BARE = { "example.com/bare-metal": "" };
const toText = (selector: string): string =>
  `nodes:\n  selector: "${selector}"\ndeletion:\n  holdOff: 1s\n  confirmations: 1\n`;

async function toConfiguration(path: string): Promise<Configuration> {
  const definition = toSectionParser(await requireProvider("static"));
  const sections = [NODE_SELECTION, DELETION];
  const current = await loadProviderConfig({ path, env: {}, definition, sections });
  return { path, env: {}, definition, sections, current };
}

describe("nodes.selector", () => {
  test("leaves Nodes out of everything, and takes them in as soon as the file says so", async () => {
    using mount = new SecretMount({ "config.yaml": toText("!example.com/bare-metal") });
    const provider = toProvider("vm", "left");
    provider.refreshIntervalMs = 5_000;
    await using rig = await startRig({
      provider,
      controllers: ["cloud-node", "cloud-node-label-sync", "cloud-node-lifecycle"],
      configuration: await toConfiguration(mount.path("config.yaml")),
    });
    const { objects, requests } = rig.kubernetes;
    const bare = toRegistration("bare", { labels: BARE, systemUuid: "11", ready: "False" });
    objects.createNode(bare);
    for (const name of ["vm", "left"]) objects.createNode(toRegistration(name));
    await until("the others are initialised", () => isDone(rig.readNode("left")));
    // It leaves the selector, and its machine goes: nothing of that matters any more.
    objects.patchNode("left", { metadata: { labels: BARE } });
    const foreign = 'landfall_instances{presence="foreign"} 2';
    // Before the process knows of the label, it would ask the cloud for a machine that is missing.
    await until("it is left alone", () => rig.metrics.render().includes(foreign));
    objects.patchNodeStatus("left", { conditions: [{ type: "Ready", status: "False" }] });
    provider.instances.delete("left");
    const { lists } = provider;
    await until("the cloud was listed again", () => provider.lists > lists + 3);
    expect(provider.interest.map(({ name }) => name)).toEqual(["vm"]);
    expect(provider.reads).toBe(0);
    expect(requests.count({ verb: "patch", name: "bare" })).toBe(0);
    expect(rig.listEvents("bare")).toEqual([]);
    expect(rig.listEvents("left").map(({ reason }) => reason)).toEqual(["Synced"]);
    expect(rig.metrics.render()).toContain(foreign);

    mount.update({ "config.yaml": toText("kubernetes.io/os notin (windows)") });
    await until("the one waits, and says so", () => rig.listEvents("bare").length > 0);
    await until("the other is deleted", () => rig.readNode("left") === undefined);
    expect(rig.listEvents("bare", "NodeInitializationFailed")).toHaveLength(1);
  });

  test("is said by check, which warns of no such Node and asks nobody about it", async () => {
    const provider = toProvider();
    const sources = {
      provider,
      inventory: toInventory([]),
      acting: { hasLifecycle: true, deletion: DEFAULT_DELETION },
      selector: NODE_SELECTION.parse({ selector: "!example.com/bare-metal" }).settings.selector,
    };
    const nodes = [toNode("bare", { labels: BARE })];
    expect(await listNodePlans(nodes, sources, AbortSignal.timeout(5_000))).toMatchObject([
      {
        level: "ok",
        presence: "foreign",
        message: 'its labels do not match "nodes.selector": Landfall leaves this Node alone',
        changes: [],
      },
    ]);
    expect(provider.reads).toBe(0);
  });

  test.each([
    ["a", { a: "1" }, { b: "1" }],
    ["!a", { b: "1" }, { a: "" }],
    ["a=1, b==2", { a: "1", b: "2" }, { a: "1" }],
    ["a!=1", {}, { a: "1" }],
    ["a=", { a: "" }, {}],
    ["a in (1, 2),!b", { a: "2" }, { a: "2", b: "" }],
    ["example.com/a notin(1,2)", { a: "1" }, { "example.com/a": "1" }],
    ["constructor", { constructor: "" }, {}],
  ])("%s selects %j and not %j", async (selector, inside, outside) => {
    const { settings, issues } = NODE_SELECTION.parse({ selector });
    expect(issues).toEqual([]);
    const sources = {
      provider: toProvider("n"),
      inventory: toInventory([]),
      acting: { hasLifecycle: true, deletion: DEFAULT_DELETION },
      selector: settings.selector,
    };
    const plans = await listNodePlans(
      [inside, outside].map((labels, at) => toNode(`n${at}`, { labels })),
      sources,
      AbortSignal.timeout(5_000),
    );
    expect(plans.map(({ presence }) => presence)).toEqual(["unknown", "foreign"]);
  });

  test.each(["a,", ",", "a b", "a=b=c", "a in ()x", "-a", "a=_", "a in (b", "x>5", 7, { a: 1 }])(
    "cannot be %j",
    (selector) => {
      const { settings, issues } = NODE_SELECTION.parse({ selector });
      expect(settings.selector).toEqual([]);
      expect(issues).toMatchObject([
        { path: "nodes.selector", message: expect.stringContaining('without ">" and "<"') },
      ]);
    },
  );

  test("selects every Node when it is empty", () => {
    for (const written of [undefined, {}, { selector: "" }, { selector: null }]) {
      expect(NODE_SELECTION.parse(written).settings).toEqual({ selector: [] });
    }
  });
});
