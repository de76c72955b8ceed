/**
 * docs/reference/labels.md, from the frozen words of the controllers and providers.
 * @module
 */
import type { ProviderDocs } from "../../lib/cloud/provider_definition.ts";
import type { ControllerDefinition } from "../../lib/controllers/definition.ts";
import { TOPOLOGY_LABELS } from "../../lib/controllers/words.ts";
import { GENERATED_NOTE, toCode, toTable } from "./markdown.ts";
import type { Registries } from "./registries.ts";

/** Renders the page. */
export function renderLabelsPage({ controllers, providers }: Registries): string {
  const clouds = providers.map(({ docs }) => docs);
  const topology = (["instanceType", "zone", "region"] as const).map((kind) => [
    TOPOLOGY_LABELS[kind].map(toCode).join(" and "),
    ...clouds.map((docs) => docs.topology[kind]),
  ]);
  const ids = clouds.map(({ providerId: { form, meaning } }) => [
    toCode(form),
    "`spec.providerID`",
    meaning,
  ]);
  return `${GENERATED_NOTE}

# Labels and other words on a Node

Words that are written into a cluster never change. Labels are written when a Node is initialised, and follow its
machine from then on. Those that are not listed here are never touched, and what the cloud cannot tell at the moment
leaves a label as it is.

## Labels from every cloud

Each is written together with its older twin. The value is that of the cloud:

${toTable(["label", ...clouds.map(({ title }) => title)], topology)}
${clouds.map(renderOwnLabels).join("")}## Provider ID, taint and annotation

${toTable(["what", "where", "meaning"], [...ids, ...toWordRows(controllers)])}`;
}

/** All taints together, all annotations together. */
function toWordRows(registry: readonly ControllerDefinition[]): string[][] {
  const words = registry.flatMap((one) => one.words);
  const places = Map.groupBy(words, ({ where }) => where);
  return [...places.values()]
    .flat()
    .map(({ word, where, meaning }) => [toCode(word), where, meaning]);
}

function renderOwnLabels({ title, labels }: ProviderDocs): string {
  if (labels === undefined) return "";
  const rows = Object.entries(labels).map(([key, what]) => [toCode(key), what]);
  return `## Labels from ${title}

A name becomes a label value by putting \`-\` for what Kubernetes does not allow there, cutting it to 63 characters, and
trimming both ends to letters and digits.

${toTable(["label", "value"], rows)}
`;
}
