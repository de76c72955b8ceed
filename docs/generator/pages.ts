/**
 * Every generated page of docs/reference, and the generated parts of other pages.
 * @module
 */
import { PROCESS_EVENTS } from "../../lib/app/announcer.ts";
import { KEY_EVENTS } from "../../lib/app/unknown_keys.ts";
import { POOL_PROBLEMS } from "../../lib/cloud/pools/problems.ts";
import { type ControllerDefinition, listSections } from "../../lib/controllers/definition.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { LEADER_COMPONENT, LEADER_EVENTS } from "../../lib/kube/election/leader.ts";
import { PROVIDERS } from "../../lib/providers/mod.ts";
import { listCoverage } from "./acceptance_coverage.ts";
import { renderAcceptancePage } from "./acceptance_page.ts";
import { renderAnnotationsPage } from "./annotations_page.ts";
import { renderConfigPage } from "./config_page.ts";
import { type EventSource, renderEventsPage } from "./events_page.ts";
import { renderKindPage, toKindPageName } from "./kind_page.ts";
import { renderFlagsPage } from "./flags_page.ts";
import { renderLabelsPage } from "./labels_page.ts";
import { toCode } from "./markdown.ts";
import { renderMetricsPage } from "./metrics_page.ts";
import { renderPermissionsPage } from "./permissions_page.ts";
import { ALL, isOfServices, type Registries } from "./registries.ts";
import { CACHE_EVENTS } from "../../lib/kube/cache/caches.ts";

/** What writes Events beside the controllers. */
const PROCESS_SOURCES: readonly EventSource[] = [
  {
    controller: "Leader election",
    place: "on the Lease, in its namespace",
    component: LEADER_COMPONENT,
    events: LEADER_EVENTS,
  },
  {
    controller: "The process",
    place:
      "(or as another provider is called) on the Pod that `POD_NAME`, `POD_NAMESPACE` and `POD_UID` name; without " +
      "them on a `Component` of that name in `kube-system`",
    component: PROVIDERS[0].name,
    events: PROCESS_EVENTS,
  },
  {
    controller: "Labels and annotations",
    place: "on a Node, and as its controller is called on another object",
    component: CONTROLLERS[0].component,
    events: KEY_EVENTS,
  },
  {
    controller: "The caches",
    place: "on the object",
    component: PROVIDERS[0].name,
    events: CACHE_EVENTS,
  },
];

/** What clouds and address pools say about Services in Events. */
function listProblemSources(
  { name, component }: ControllerDefinition,
  { providers }: Registries,
): EventSource[] {
  const toSource = (what: string, problems: Readonly<Record<string, string>>): EventSource => ({
    controller: `${toCode(name)}, ${what}`,
    place: "on Services, in their namespaces",
    component,
    events: Object.fromEntries(
      Object.entries(problems).map(([reason, meaning]) => [
        reason,
        { reason, type: "Warning", meaning },
      ]),
    ),
  });
  return [
    ...providers.flatMap(({ docs: { title, loadBalancers } }) =>
      loadBalancers === undefined ? [] : [toSource(`with ${title}`, loadBalancers.problems)],
    ),
    toSource("with address pools", POOL_PROBLEMS),
  ];
}

/** Texts by file name in docs/reference. */
export function renderPages(registries: Registries = ALL): ReadonlyMap<string, string> {
  const { controllers, kinds, providers } = registries;
  const sources = controllers.flatMap((one): EventSource[] => [
    {
      ...one,
      controller: one.name,
      ...(isOfServices(one) && { place: "on Services, in their namespaces" }),
    },
    ...(isOfServices(one) ? listProblemSources(one, registries) : []),
  ]);
  return new Map([
    ["annotations.md", renderAnnotationsPage(registries)],
    ["config.md", renderConfigPage(providers, listSections(controllers))],
    ["events.md", renderEventsPage([...sources, ...PROCESS_SOURCES])],
    ["flags.md", renderFlagsPage(controllers)],
    ["labels.md", renderLabelsPage(registries)],
    ["metrics.md", renderMetricsPage(registries)],
    ["permissions.md", renderPermissionsPage(registries)],
    ...kinds.map((one): [string, string] => [toKindPageName(one), renderKindPage(one)]),
  ]);
}

/** Texts for contributors by file name in docs/contributing. */
export function renderContributorPages(): ReadonlyMap<string, string> {
  return new Map([["acceptance.md", renderAcceptancePage(listCoverage())]]);
}
