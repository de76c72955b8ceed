/**
 * docs/reference/labels.md, from the frozen words of the controllers and providers.
 * @module
 */
import type { ControllerDefinition } from "../../lib/controllers/definition.ts";
import { TOPOLOGY_LABELS } from "../../lib/controllers/words.ts";
import { LABEL_DESCRIPTIONS } from "../../lib/providers/xenorchestra/mod.ts";
import { GENERATED_NOTE, toCode, toTable } from "./markdown.ts";

const TOPOLOGY: Readonly<Record<keyof typeof TOPOLOGY_LABELS, readonly [string, string]>> = {
  instanceType: ["`4vCPU-8GB`, or what a tag of the VM says", "`type`"],
  zone: ["UUID of the host, or as `zoneLabelFrom` says", "`zone`"],
  region: ["UUID of the pool", "`region`"],
};

/** Renders the page. */
export function renderLabelsPage(registry: readonly ControllerDefinition[]): string {
  const topology = (["instanceType", "zone", "region"] as const).map((kind) => [
    TOPOLOGY_LABELS[kind].map(toCode).join(" and "),
    ...TOPOLOGY[kind],
  ]);
  const own = Object.entries(LABEL_DESCRIPTIONS).map(([key, what]) => [toCode(key), what]);
  return `${GENERATED_NOTE}

# Labels and other words on a Node

Words that are written into a cluster never change. Labels are written when a Node is initialised, and follow its
machine from then on. Those that are not listed here are never touched, and what the cloud cannot tell at the moment
leaves a label as it is.

## Labels from every cloud

Each is written together with its older twin. The value is that of the cloud:

${toTable(["label", "Xen Orchestra", "inventory file"], topology)}
## Labels from Xen Orchestra

A name becomes a label value by putting \`-\` for what Kubernetes does not allow there, cutting it to 63 characters, and
trimming both ends to letters and digits.

${toTable(["label", "value"], own)}
## Provider ID, taint and annotation

${toTable(
  ["what", "where", "meaning"],
  [
    [
      "`xenorchestra://<pool UUID>/<VM UUID>`",
      "`spec.providerID`",
      "The VM. The pool is the one it was found in first: it stays when the VM moves.",
    ],
    [
      "`static://<id>`",
      "`spec.providerID`",
      "The instance of an inventory file; `scheme` changes the first word.",
    ],
    ...toWordRows(registry),
  ],
)}`;
}

/** All taints together, all annotations together. */
function toWordRows(registry: readonly ControllerDefinition[]): string[][] {
  const words = registry.flatMap((one) => one.words);
  const places = Map.groupBy(words, ({ where }) => where);
  return [...places.values()]
    .flat()
    .map(({ word, where, meaning }) => [toCode(word), where, meaning]);
}
