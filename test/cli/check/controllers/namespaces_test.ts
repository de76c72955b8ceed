import { expect, test } from "bun:test";
import { listMissingNamespaces } from "../../../../lib/cli/check/controllers/namespaces.ts";
import { vinoController } from "../../../../lib/controllers/vino/definition.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { ScriptedKubeClient } from "../../../support/kube/scripted_kube_client.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

const { signal } = new AbortController();

async function ask(namespace: string, answer: () => unknown): Promise<string[]> {
  const client = new ScriptedKubeClient(new ManualClock());
  client.answerRead = answer;
  const flags = { "ip-pool-namespace": namespace };
  const findings = await listMissingNamespaces(client, [{}, vinoController], flags, signal);
  return findings.map(({ level, code, source }) => `${level} ${code} ${source}`);
}

function refuse(error: Error): () => never {
  return () => {
    throw error;
  };
}

test.each<[string, string, () => unknown, string[]]>([
  ["nothing of one that exists", "ipam", () => ({ metadata: { name: "ipam" } }), []],
  ["nothing of the one that every cluster has", "kube-system", refuse(new Error("asked")), []],
  [
    "one that does not exist",
    "ipam",
    refuse(new KubeError("notFound", "404")),
    ["failure missingNamespace --ip-pool-namespace"],
  ],
  [
    "that it cannot know",
    "ipam",
    refuse(new KubeError("forbidden", "403")),
    ["warning forbidden --ip-pool-namespace"],
  ],
])("listMissingNamespaces() reports %s", async (_what, namespace, answer, findings) => {
  expect(await ask(namespace, answer)).toEqual(findings);
});

test("listMissingNamespaces() hides no bug", async () => {
  await expect(ask("ipam", refuse(new TypeError("a bug")))).rejects.toThrow("a bug");
});
