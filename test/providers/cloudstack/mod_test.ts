/**
 * What the definition says about settings.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { DELETION } from "../../../lib/cloud/deletion/settings.ts";
import { parseProviderConfig } from "../../../lib/config/provider_config.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { NO_LOAD_BALANCERS } from "../../../lib/providers/cloudstack/inspection/inspect.ts";
import { cloudStack } from "../../../lib/providers/cloudstack/mod.ts";
import { toDeps } from "./fake_server.ts";

describe("cloudStack", () => {
  test("the example of the manifests, and that of the documents, can be used", async () => {
    const options = { path: "FILE", env: {}, definition: cloudStack, sections: [DELETION] };
    const text = cloudStack.install?.example ?? "";
    const { settings, warnings, syntax } = await parseProviderConfig(text, options);
    expect(settings).toMatchObject({ url: "https://cloudstack.example.com/client/api" });
    expect([warnings, syntax]).toEqual([[], "INI"]);
    const { issues } = cloudStack.parseConfig(cloudStack.docs.example, {});
    expect(issues).toEqual([]);
  });
});

test("create() warns that there are no load balancers yet, but not for one short look", () => {
  const { settings } = cloudStack.parseConfig(cloudStack.docs.example, {});
  if (settings === undefined) throw new Error("Cannot use the example");
  for (const isTransient of [false, true]) {
    const warnings: string[] = [];
    const log = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
    cloudStack.create(settings, toDeps({ log, isTransient }));
    expect(warnings).toEqual(isTransient ? [] : [NO_LOAD_BALANCERS]);
  }
});
