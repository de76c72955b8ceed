/**
 * A file of settings that a provider reads again.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { DELETION } from "../../lib/cloud/settings/sections.ts";
import { LOAD_BALANCERS } from "../../lib/cloud/pools/settings.ts";
import { SettingsFile } from "../../lib/config/settings_file.ts";
import { ConfigError } from "../../lib/core/errors.ts";
import { staticProvider } from "../../lib/providers/static/mod.ts";
import { GALLERY_SECTION } from "../support/galleries/gallery.ts";

const toText = (name: string, more = ""): string =>
  `instances: [{ id: a, name: ${name} }]\n${more}`;

describe("SettingsFile", () => {
  test("parse() judges by the provider and by what every cloud has, with lines", async () => {
    const file = new SettingsFile("FILE", {}, [DELETION]);
    const parse = (text: string) => file.parse(new TextEncoder().encode(text), staticProvider);
    expect((await parse(toText("x", "deletion: { enabled: false }"))).instances).toHaveLength(1);
    const more = toText("x", "galleries: { most: 2 }");
    const brought = new SettingsFile("FILE", {}, [GALLERY_SECTION]);
    const bytes = new TextEncoder().encode(more);
    expect((await brought.parse(bytes, staticProvider)).instances).toHaveLength(1);
    await expect(parse(more)).rejects.toThrow("galleries: unknown key");
    const refused = parse(toText("5", "deletion: { x: 1 }"));
    await expect(refused).rejects.toBeInstanceOf(ConfigError);
    await expect(refused).rejects.toThrow("FILE:1:22: instances.0.name: must be text");
    await expect(refused).rejects.toThrow("FILE:2:13: deletion.x: unknown key");
  });

  test.each([
    ["a wrong value", "loadBalancers: { pools: [{ name: a, addresses: [x] }] }"],
    ["no block", "loadBalancers: 5"],
    ["an unknown key", "loadBalancers: { poools: [] }"],
  ])("parse() goes on without load balancers that have %s", async (_what, block) => {
    const file = new SettingsFile("FILE", {}, [DELETION, LOAD_BALANCERS]);
    const parse = (text: string) => file.parse(new TextEncoder().encode(text), staticProvider);
    // What the settings in use say about Nodes is not known yet.
    await expect(parse(toText("x", block))).rejects.toThrow("FILE:2");
    await parse(toText("x", "deletion: { enabled: true }"));
    const same = await parse(toText("y", `${block}\ndeletion: { enabled: true }`));
    expect(same.instances).toMatchObject([{ name: "y" }]);
    const changed = parse(toText("x", `${block}\ndeletion: { enabled: false }`));
    await expect(changed).rejects.toThrow("FILE:2");
    const both = parse(toText("x", `${block}\ndeletion: { x: 1 }`));
    await expect(both).rejects.toThrow("FILE:3:13: deletion.x: unknown key");
    await expect(parse(toText("x", "loadBalancer: {}"))).rejects.toThrow("loadBalancer: unknown");
  });
});
