import { expect, test } from "bun:test";
import { listMissingKinds } from "../../../lib/cli/check/kinds.ts";
import { vinoController } from "../../../lib/controllers/vino/definition.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { NODES } from "../../../lib/kube/kinds/node.ts";
import { GALLERIES } from "../../support/galleries/gallery.ts";
import { toDiscovery } from "../../support/kube/discovery.ts";
import { ScriptedKubeClient } from "../../support/kube/scripted_kube_client.ts";
import { readSource } from "../../support/sources.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const { signal } = new AbortController();
const CRD = "the CustomResourceDefinition galleries.example.org";

/** What is said of Nodes and galleries by a server that answers like that. */
async function ask(answer: (path: string) => unknown): Promise<string[]> {
  const client = new ScriptedKubeClient(new ManualClock());
  client.onGet = answer;
  const findings = await listMissingKinds(client, [{ watches: [NODES, GALLERIES] }], signal);
  return findings.map(({ level, code, message }) => `${level} ${code} ${message}`);
}

test.each<[string, Parameters<typeof toDiscovery>[0], readonly string[]]>([
  ["nothing of kinds that are served", { "example.org": { v1: ["galleries"] } }, []],
  ["a kind that is missing", {}, [`warning missingKind ${CRD} is missing`]],
  [
    "a kind in another version",
    { "example.org": { v1alpha1: ["galleries"] } },
    [`warning missingKind ${CRD} exists, but not in version v1`],
  ],
])("listMissingKinds() reports %s", async (_what, served, wanted) => {
  const documents = toDiscovery(served);
  expect(await ask((path) => documents[path])).toEqual([...wanted]);
});

test("listMissingKinds() says how to install the kinds of a controller, not of other programs", async () => {
  const client = new ScriptedKubeClient(new ManualClock());
  client.onGet = (path) => toDiscovery({})[path];
  const findings = await listMissingKinds(client, [vinoController], signal);
  const advice = new Map(findings.map((one) => [one.message.split(" ")[2], one.advice]));
  const apply = "its controller waits until you run:\n  kubectl apply --server-side -f";
  expect(advice.get("vinoes.airship.airshipit.org")).toBe(
    `${apply} deploy/manifests/vino/crd.yaml`,
  );
  const { crdUrl = "" } = BARE_METAL_HOSTS;
  expect(advice.get("baremetalhosts.metal3.io")).toBe(`${apply} ${crdUrl}`);
  // The guides name the same file.
  for (const guide of ["sipclusters", "vino"]) {
    const text = await readSource(`docs/guides/${guide}/guide.md`);
    const [, root = ""] = /METAL3=(\S+)/.exec(text) ?? [];
    expect(text.replaceAll("$METAL3", root)).toContain(crdUrl);
  }
  const other = await listMissingKinds(client, [{ watches: [GALLERIES] }], signal);
  expect(other[0]?.advice).toBe("install it in version v1: until then its controller waits");
});

test("listMissingKinds() says why it cannot know", async () => {
  const refused = new KubeError("forbidden", "no");
  const refuse = (): never => {
    throw refused;
  };
  expect(await ask(refuse)).toEqual(["warning forbidden no"]);
  const bug = (): never => {
    throw new TypeError("a bug");
  };
  await expect(ask(bug)).rejects.toThrow("a bug");
});
