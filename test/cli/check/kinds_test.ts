import { expect, test } from "bun:test";
import { listMissingKinds } from "../../../lib/cli/check/kinds.ts";
import { vinoController } from "../../../lib/controllers/vino/definition.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { NODES } from "../../../lib/kube/kinds/node.ts";
import { GALLERIES } from "../../support/galleries/gallery.ts";
import { toDiscovery } from "../../support/kube/discovery.ts";
import { ScriptedKubeClient } from "../../support/kube/scripted_kube_client.ts";
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
  const apply = "kubectl apply --server-side -f deploy/manifests/vino/crd.yaml";
  const waits = "until then its controller waits";
  expect(advice.get("vinoes.airship.airshipit.org")).toBe(`${apply}: ${waits}`);
  expect(advice.get("baremetalhosts.metal3.io")).toBe(`install it in version v1alpha1: ${waits}`);
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
