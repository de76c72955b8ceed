/**
 * What the definition says about settings.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { DELETION } from "../../../lib/cloud/deletion/settings.ts";
import { LOAD_BALANCERS } from "../../../lib/cloud/pools/settings.ts";
import { parseProviderConfig } from "../../../lib/config/provider_config.ts";
import { ConfigError } from "../../../lib/core/errors.ts";
import { cloudStack } from "../../../lib/providers/cloudstack/mod.ts";

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

describe("address pools", () => {
  const files: readonly [string, number][] = [
    [
      "apiUrl: https://cs.example.org\nloadBalancers: { pools: [{ name: a, addresses: [192.0.2.1] }] }\n",
      2,
    ],
    ["[Global]\napi-url = https://cs.example.org\n[LoadBalancers]\npools = a\n", 3],
  ];
  test.each(files)("are refused, because CloudStack has load balancers: %j", async (text, line) => {
    const sections = [DELETION, LOAD_BALANCERS];
    const options = { path: "FILE", env: {}, definition: cloudStack, sections };
    const error: unknown = await parseProviderConfig(text, options).catch(
      (cause: unknown) => cause,
    );
    const issues = error instanceof ConfigError ? error.issues : [];
    const found = issues.filter(({ message }) =>
      message.startsWith("CloudStack has load balancers"),
    );
    expect(found.map((one) => one.line)).toEqual([line]);
  });
});

test("the definition says which Lease the Apache provider holds beside Landfall, and who needs more rights", () => {
  expect(cloudStack.install).toMatchObject({
    serviceLease: "cloudstack-service-controller",
    controllers: ["service"],
  });
});
