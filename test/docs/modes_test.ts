/**
 * What README.md says about each mode against the definitions of clouds and controllers.
 * @module
 */
import { expect, test } from "bun:test";
import { basename } from "node:path";
import { MANIFEST_CLOUDS } from "../../deploy/clouds.ts";
import { toControllers, toInstalled } from "../../deploy/names.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { METAL3_CRDS } from "../judges/install.ts";
import { listAnchors } from "../support/markdown_links.ts";
import { readSource } from "../support/sources.ts";

const README = await readSource("README.md");
const [, TABLE = ""] = README.split("\n## Which mode do I need?\n");
/** Cells of the row that leads to a guide. */
const readRow = (guide: string): string[] => {
  const row = TABLE.split("\n").find((line) => line.includes(`docs/guides/${guide}`)) ?? "";
  return row.split("|").map((cell) => cell.trim());
};
const toList = (names: readonly string[]): string[] => names.map((name) => `\`${name}\``);

test("README.md has its sections in the order in which a newcomer needs them", () => {
  expect(Array.from(README.matchAll(/^## (.+)$/gm), ([, title]) => title)).toEqual([
    "Which mode do I need?",
    "Try it",
    "Install",
    "What Landfall never does",
    "Status",
    "License",
  ]);
});

test.each([
  ["install.md", 0],
  ["install-cloudstack.md", 1],
])(
  "README.md names Secret, Lease and controllers of a cloud as the manifests do: %s",
  (guide, at) => {
    const cloud = MANIFEST_CLOUDS[at];
    if (cloud === undefined) throw new Error("Cannot find the cloud");
    const [, , controllers = "", , secret, lease] = readRow(guide);
    expect([secret, lease]).toEqual(toList([cloud.secret, cloud.lease]));
    const others = toControllers(cloud).filter((name) => at === 0 || name === "service");
    for (const name of toList(others)) expect(controllers).toContain(name);
  },
);

test.each([
  ["sipclusters/guide.md", "sipcluster"],
  ["vino/guide.md", "vino"],
])("README.md names Secret and Lease of a controller of its own: %s", (guide, name) => {
  const definition = CONTROLLERS.find((one) => one.name === name);
  const [, , controllers, , secret, lease] = readRow(guide);
  expect([controllers, lease]).toEqual(toList([name, definition?.lease ?? ""]));
  const own = toInstalled({ name }).name;
  expect(secret).toBe(definition?.needsCloud === false ? "none" : `\`${own}\``);
});

test("README.md and the page of modes say that addresses of pools need a program that announces them", async () => {
  const guide = await readSource("docs/guides/address-pools.md");
  expect(listAnchors(guide)).toContain("who-announces-an-address");
  const [intro = ""] = README.split("\n## ");
  const [, others = ""] = intro.replaceAll(/\s+/g, " ").split("On the other clouds they get ");
  expect(others).toMatch(/^addresses from pools .*announces them\]/);
  expect(others).toContain("(docs/guides/address-pools.md#who-announces-an-address)");
  expect(readRow("address-pools.md").join(" ")).toContain("one that announces");
  const [, pools = ""] = (await readSource("docs/guides/modes.md")).split("\n## Address pools\n");
  expect(pools).toMatch(/\*\*It does not\*\* announce an address/);
});

test.each(["sipclusters", "vino"])(
  "the guide of %s installs the tested CRD of hosts",
  async (folder) => {
    const guide = await readSource(`docs/guides/${folder}/guide.md`);
    const version = basename(METAL3_CRDS.folder).replace("metal3-crds-", "");
    expect(guide).toContain(`/metal3-io/baremetal-operator/${version}\n`);
  },
);
