import { expect, test } from "bun:test";
import { parse, parseAllDocuments } from "yaml";
import { KINDS, loadKinds, renderCrdFiles, renderKindsTemplate } from "../../deploy/crds.ts";
import { sipClusterController } from "../../lib/controllers/sipcluster/definition.ts";
import { DEX_PROGRAM_KINDS } from "../../lib/controllers/sipcluster/services/auth/dex_crds.ts";
import { SIP_CLUSTER_KIND } from "../../lib/controllers/sipcluster/resource/crd.ts";

test("loadKinds() leaves out controllers without kinds", async () => {
  expect(await loadKinds([{ name: "node" }, sipClusterController])).toEqual([
    {
      controller: "sipcluster",
      folder: "sipcluster",
      kinds: [SIP_CLUSTER_KIND],
      others: [DEX_PROGRAM_KINDS],
    },
  ]);
});

test("renderCrdFiles() writes the CRD for kubectl and for the chart, byte for byte the same object", async () => {
  const files = new Map(renderCrdFiles("Head.", await loadKinds([sipClusterController])));
  expect([...files.keys()]).toEqual([
    "manifests/sipcluster/crd.yaml",
    "chart/files/crds/sipclusters.airship.airshipit.org.yaml",
    "manifests/sipcluster/dex_crds.yaml",
  ]);
  files.delete("manifests/sipcluster/dex_crds.yaml");
  const crd: unknown = JSON.parse(JSON.stringify(SIP_CLUSTER_KIND.crd));
  for (const text of files.values()) {
    expect(text).toStartWith("# Head.\n");
    expect(parse(text)).toEqual(crd);
  }
});

test("renderKindsTemplate() says for each CRD file of the chart which controller has the kind", () => {
  const text = renderKindsTemplate("Head.", KINDS);
  const [, yaml = ""] = /-}}\n(.*){{-/s.exec(text) ?? [];
  const files = renderCrdFiles("Head.", KINDS).flatMap(([path]) =>
    path.startsWith("chart/") ? [path.replace(/.*\//, "").replace(/\.yaml$/, "")] : [],
  );
  const kinds: Record<string, string> = parse(yaml);
  expect(Object.keys(kinds)).toEqual(files);
  expect(kinds["sipclusters.airship.airshipit.org"]).toBe("sipcluster");
});

test("renderCrdFiles() writes the kinds of a program beside those of its controller", async () => {
  const files = new Map(renderCrdFiles("Head.", await loadKinds([sipClusterController])));
  const text = files.get("manifests/sipcluster/dex_crds.yaml") ?? "";
  expect(text).toStartWith("# Head.\n#\n# The kinds in which Dex, the OIDC provider");
  const crds: unknown[] = parseAllDocuments(text).map((document) => document.toJS());
  expect(crds).toEqual([...DEX_PROGRAM_KINDS.crds]);
});
