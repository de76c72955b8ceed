/**
 * A provider that is added by one line to a registry: chosen, described, and never loaded unless it is chosen.
 * @module
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { renderPages } from "../../docs/generator/pages.ts";
import { ALL } from "../../docs/generator/registries.ts";
import { main } from "../../lib/cli/main.ts";
import { CloudError } from "../../lib/cloud/errors.ts";
import type { ProviderRegistry } from "../../lib/cloud/provider_definition.ts";
import { loadProviders, PROVIDERS, requireProvider } from "../../lib/providers/mod.ts";
import { describeProviderContract } from "../provider_contract.ts";
import { EXAMPLE, ExampleProvider } from "../support/cloud/example_provider.ts";
import { SecretMount } from "../support/process/secret_mount.ts";
import { ROOT } from "../support/sources.ts";

const REGISTRY: ProviderRegistry = [...PROVIDERS, EXAMPLE];

describeProviderContract("example", async () => {
  const provider = new ExampleProvider({ machines: ["one", "two"] }, () => 0);
  return {
    provider,
    matchesBy: "name",
    machines: [{ nodeName: "one" }, { nodeName: "two" }],
    foreignProviderId: "static://one",
    malformedProviderIds: ["example:", "example://", "example://a/b"],
    remove: ({ nodeName }) => void provider.names.delete(nodeName),
    breakCloud: () => {
      provider.failure = new CloudError("unreachable", "the cloud is down");
    },
    stop: () => undefined,
  };
});

test("requireProvider() finds a provider that a registry was given", async () => {
  expect((await requireProvider("example", REGISTRY)).name).toBe("example");
  await expect(requireProvider("example")).rejects.toThrow(
    "(known: xenorchestra, static, external-cloudstack)",
  );
});

test("landfall check asks the cloud of a provider that it was given", async () => {
  using mount = new SecretMount({ "config.yaml": "machines: [one, two]" });
  const printed: string[] = [];
  const file = `--cloud-config=${mount.path("config.yaml")}`;
  const flags = ["--cloud-provider=example", file, "--kubeconfig=/nowhere", "--output=json"];
  const print = (text: string): unknown => printed.push(text);
  await main(["check", ...flags], { env: {}, print, complain: print, providers: REGISTRY });
  const report: unknown = JSON.parse(printed.join(""));
  const settings = { status: "ok", provider: "example" };
  expect(report).toMatchObject({ settings, cloud: { status: "ok", counts: { instances: 2 } } });
});

test("the reference pages describe a provider that a registry was given", async () => {
  const pages = renderPages({ ...ALL, providers: await loadProviders(REGISTRY) });
  expect(pages.get("config.md")).toContain("## Example cloud (`--cloud-provider=example`)");
  expect(pages.get("config.md")).toContain("| `machines` ");
  expect(pages.get("labels.md")).toContain("## Labels from example cloud");
  expect(pages.get("labels.md")).toContain("| `example://<name>` ");
  for (const text of renderPages().values()) expect(text).not.toContain("xample cloud");
});

test.each(["xenorchestra", "static"])("a run with %s loads no other provider", async (name) => {
  const code = `
    await import("${ROOT}/lib/cli/run.ts");
    const { requireProvider } = await import("${ROOT}/lib/providers/mod.ts");
    await requireProvider("${name}");
    console.log(Object.keys(require.cache).join("\\n"));`;
  await using child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe" });
  const loaded = (await child.stdout.text()).split("\n");
  const folder = join(ROOT, "lib/providers");
  const rooms = loaded.filter(
    (path) => path.startsWith(`${folder}/`) && path !== `${folder}/mod.ts`,
  );
  expect(rooms).toContain(join(folder, name, "mod.ts"));
  expect(rooms.filter((path) => !path.startsWith(join(folder, `${name}/`)))).toEqual([]);
});
