/**
 * The guides for Vinos against the program: fields, reasons, messages and samples.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { parseAllDocuments } from "yaml";
import { checkSpec } from "../../lib/controllers/vino/resource/check_spec.ts";
import { listUnsupportedFields } from "../../lib/controllers/vino/resource/conditions.ts";
import type { Vino, VinoSpec } from "../../lib/controllers/vino/resource/vino.ts";
import { CONDITION_WORDS } from "../../lib/controllers/vino/resource/words.ts";
import { listCode, listCodeBlocks, checkQuotes } from "../support/markdown_links.ts";
import { readSource } from "../support/sources.ts";

const GUIDE = await readSource("docs/guides/vino/guide.md");
const MIGRATION = await readSource("docs/guides/vino/migrate-from-vino.md");
const TROUBLE = await readSource("docs/guides/vino/troubleshooting.md");
const SAMPLES = "deploy/manifests/vino/samples";

async function readVinos(file: string): Promise<readonly Vino[]> {
  const documents = parseAllDocuments(await readSource(`${SAMPLES}/${file}`));
  const objects: Vino[] = documents.map((one) => one.toJS());
  return objects.filter((one) => Object(one).kind === "Vino");
}

function readSpec({ spec }: Vino): VinoSpec {
  const checked = checkSpec(spec);
  if (!("spec" in checked)) throw new Error(JSON.stringify(checked));
  return checked.spec;
}

describe("docs/guides/vino/migrate-from-vino.md", () => {
  test("says of every field without an effect what is here instead", async () => {
    const vinos = [...(await readVinos("all-fields.yaml")), ...(await readVinos("cluster.yaml"))];
    const fields = new Set(
      vinos.flatMap((vino) =>
        listUnsupportedFields(readSpec(vino)).map((path) =>
          path
            .replaceAll(/\[\d+\]/g, "")
            .split(".")
            .slice(1)
            .join("."),
        ),
      ),
    );
    expect(fields.size).toBeGreaterThan(12);
    const [, section = ""] = MIGRATION.split("\n## Fields by field\n");
    const [table = ""] = section.split("\n## ");
    const named = listCode(table).join(" ");
    const missing = [...fields].filter((field) => !named.includes(field.split(".").at(-1) ?? ""));
    // The kind of addresses follows from the subnet.
    expect(missing).toEqual([]);
  });

  test("its block makes the sample of the original operator complete", async () => {
    const [block = ""] = listCodeBlocks(MIGRATION, "yaml");
    const [{ spec: added }] = parseAllDocuments(block).map((one) => Object(one.toJS()));
    const [old] = await readVinos("cluster.yaml");
    const spec = readSpec({ ...old, metadata: { name: "x" }, spec: { ...old?.spec, ...added } });
    const { template, cpus, memory, networks } = spec.xenOrchestra ?? {};
    expect([template, cpus, memory].every((one) => one !== undefined)).toBe(true);
    expect(Object.keys(networks ?? {})).toEqual(
      (old?.spec?.networks ?? []).map(({ name }) => name),
    );
  });
});

describe("docs/guides/vino/guide.md", () => {
  test("its SIPCluster selects hosts of the sample, by a network that they have", async () => {
    const block = listCodeBlocks(GUIDE, "yaml").find((text) => text.includes("SIPCluster")) ?? "";
    const [cluster] = parseAllDocuments(block).map((one) => Object(one.toJS()));
    const [vino] = await readVinos("tenant.yaml");
    const labels = (vino?.spec?.nodes ?? []).map(({ bmhLabels }) => bmhLabels);
    const { nodes, services } = cluster.spec;
    for (const role of ["ControlPlane", "Worker"]) {
      expect(labels).toContainEqual(nodes[role].labelSelector.matchLabels);
    }
    const networks = (vino?.spec?.networks ?? []).map(({ name }) => name);
    expect(networks).toContain(services.loadBalancerControlPlane[0].nodeInterfaceId);
  });
});

describe("docs/guides/vino/troubleshooting.md", () => {
  test("has a heading for every reason that is not what should be", () => {
    const words = Object.values(CONDITION_WORDS).flatMap((one: object) =>
      Object.values<{ reason: string }>({ ...one }).map(({ reason }) => reason),
    );
    const missing = [...new Set(words)].filter((one) => !TROUBLE.includes(`\n## ${one}\n`));
    expect(missing.toSorted()).toEqual([
      "AllFieldsUsed",
      "AllHostsPublished",
      "AllMachinesReady",
      "NoHostInError",
      "NoPasswordInSpec",
      "NothingBlocked",
      "NothingDiffers",
      "ReconciliationSucceeded",
    ]);
  });

  test("quotes only messages that the program has", async () => {
    const { count, unknown } = await checkQuotes(TROUBLE, {
      folders: [
        "lib/controllers/vino",
        "lib/providers/xenorchestra/machines",
        "lib/kube/cache",
        "lib/app",
      ],
      others:
        /^(?:403 Forbidden|404 NotFound|422 Invalid|task read|vif create)$|^(?:kubectl|curl) |: /,
      variables: /(?<=^has no )(?:template|network|storage repository|host)$/,
    });
    expect(count).toBeGreaterThan(15);
    expect(unknown).toEqual([]);
  });
});
