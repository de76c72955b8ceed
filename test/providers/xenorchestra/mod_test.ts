/**
 * The definition that the registry holds.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import { toDeps } from "./fake_server.ts";

describe("xenOrchestra", () => {
  test("turns a file into a provider without asking the cloud", () => {
    const file = { url: "https://127.0.0.1:1", token: "t", refreshInterval: "10s" };
    const { settings } = xenOrchestra.parseConfig(file, {});
    if (settings === undefined) throw new Error("no settings");
    const provider = xenOrchestra.create(settings, toDeps());
    expect(provider).toMatchObject({
      name: xenOrchestra.name,
      refreshIntervalMs: 10_000,
      providedNodeIps: "trusted",
    });
  });
});
