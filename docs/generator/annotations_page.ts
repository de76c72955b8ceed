/**
 * docs/reference/annotations.md, from the words of the controllers of Services and of the clouds.
 * @module
 */
import { POOL_ANNOTATIONS } from "../../lib/cloud/pools/words.ts";
import type { AnnotationDocs, ProviderDocs } from "../../lib/cloud/provider_definition.ts";
import { GENERATED_NOTE, toCode, toTable } from "./markdown.ts";
import { isOfServices, type Registries } from "./registries.ts";

/** Renders the page. */
export function renderAnnotationsPage({ controllers, providers }: Registries): string {
  const words = controllers
    .filter(isOfServices)
    .flatMap((one) => one.words)
    .filter(({ where }) => where === "annotation" || where === "finalizer");
  const clouds = providers.map(({ docs }) => docs);
  return `${GENERATED_NOTE}

# Annotations and finalizers on a Service

The names on this page never change. They count for Services of type LoadBalancer that Landfall serves: those without
\`spec.loadBalancerClass\` or those with the class of \`--load-balancer-class\`.
[Load balancers](../guides/load-balancers.md) has examples.

## With every cloud

${toTable(
  ["what", "where", "meaning"],
  words.map(({ word, where, meaning }) => [toCode(word), where, meaning]),
)}
${clouds.map(renderCloud).join("")}## Address pools

With \`loadBalancers.pools\` in the [settings](config.md). [Address pools](../guides/address-pools.md) has examples.

${renderTable(POOL_ANNOTATIONS)}`;
}

function renderCloud({ title, loadBalancers }: ProviderDocs): string {
  if (loadBalancers === undefined) return "";
  return `## ${title}

${renderTable(loadBalancers.annotations)}
`;
}

function renderTable(annotations: readonly AnnotationDocs[]): string {
  const rows = annotations.map(({ name, values, meaning }) => [toCode(name), values, meaning]);
  return toTable(["annotation", "value", "meaning"], rows);
}
