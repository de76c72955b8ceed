/**
 * docs/reference/labels.md, from the frozen words of the controllers and providers.
 * @module
 */
import type { ProviderDocs } from "../../lib/cloud/provider_definition.ts";
import type { ControllerDefinition } from "../../lib/controllers/definition.ts";
import { TOPOLOGY_LABELS } from "../../lib/controllers/words.ts";
import { GENERATED_NOTE, toCode, toTable } from "./markdown.ts";
import { isOfServices, type Registries } from "./registries.ts";

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

# Labels, taints and annotations on a Node

The names on this page never change. Landfall writes the labels when it initialises a Node, and then keeps them up to
date with the machine. It never touches a label that is not listed here. While the cloud cannot give a value, the label
stays as it is. What Landfall reads and writes on a Service is on [a page of its own](annotations.md).

## Labels from every cloud

Landfall writes each label together with its older name. The value comes from the cloud:

${toTable(["label", ...clouds.map(({ title }) => title)], topology)}
${clouds.map(renderOwnLabels).join("")}## Provider ID, taint and annotation

${toTable(["what", "where", "meaning"], [...ids, ...toWordRows(controllers)])}`;
}

/** All taints together, all annotations together. */
function toWordRows(registry: readonly ControllerDefinition[]): string[][] {
  const words = registry.flatMap((one) =>
    isOfServices(one)
      ? one.words.filter(({ where }) => where === "label" || where === "taint")
      : one.words,
  );
  const places = Map.groupBy(words, ({ where }) => where);
  return [...places.values()]
    .flat()
    .map(({ word, where, meaning }) => [toCode(word), where, meaning]);
}

function renderOwnLabels({ title, labels }: ProviderDocs): string {
  if (labels === undefined) return "";
  const rows = Object.entries(labels).map(([key, what]) => [toCode(key), what]);
  return `## Labels from ${title}

To make a label value of a name, Landfall replaces each character that Kubernetes does not allow by \`-\`, cuts the name
to 63 characters, and removes everything but letters and digits from both ends.

${toTable(["label", "value"], rows)}
`;
}
