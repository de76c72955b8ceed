/**
 * The CustomResourceDefinitions of controllers that have kinds of their own.
 * @module
 */
import type {
  ControllerDefinition,
  KindDefinition,
  ProgramKinds,
} from "../lib/controllers/definition.ts";
import { CONTROLLERS } from "../lib/controllers/mod.ts";
import { wrapText } from "../lib/core/text/wrap.ts";
import { toYaml, toYamlFile } from "./yaml.ts";

/** Width of comments. */
const COLUMNS = 100;

/** A controller, and the kinds that Kubernetes does not have. */
export interface ControllerKinds {
  readonly controller: string;
  /** Where its manifests are, below `manifests/`. */
  readonly folder: string;
  readonly kinds: readonly KindDefinition[];
  /** Kinds of other programs that it runs. */
  readonly others: readonly ProgramKinds[];
}

/** Loads the kinds of controllers; of those without one nothing. */
export async function loadKinds(
  registry: readonly Pick<
    ControllerDefinition,
    "folder" | "loadKinds" | "loadProgramKinds" | "name"
  >[],
): Promise<ControllerKinds[]> {
  const all = registry.map(async ({ name, folder = name, ...one }) => ({
    controller: name,
    folder,
    kinds: (await one.loadKinds?.()) ?? [],
    others: (await one.loadProgramKinds?.()) ?? [],
  }));
  return (await Promise.all(all)).filter(({ kinds }) => kinds.length > 0);
}

/** The kinds of all controllers. */
export const KINDS: readonly ControllerKinds[] = await loadKinds(CONTROLLERS);

/**
 * Lists by name of a CRD which controllers have its kind, for the chart: a release applies the CRDs of the controllers
 * that it runs, because two releases cannot own one object.
 */
export function renderKindsTemplate(head: string, all: readonly ControllerKinds[]): string {
  const names = all.flatMap(({ controller, kinds }) =>
    kinds.map(({ crd }) => [crd.metadata.name, controller] as const),
  );
  return `{{- /* ${head} */}}
{{- define "landfall.kinds" -}}
${toYaml(Object.fromEntries(names))}{{- end }}
`;
}

/**
 * The files with CRDs by path: one for each controller and for each program that it runs, and for the chart one for
 * each kind of a controller.
 */
export function renderCrdFiles(
  head: string,
  all: readonly ControllerKinds[],
): [path: string, text: string][] {
  return all.flatMap(({ controller, folder, kinds, others }): [string, string][] => {
    const about = `${head}

The kinds of the controller ${controller}: kubectl apply -f crd.yaml. With a kind, Kubernetes deletes all its objects.`;
    const documents = kinds.map(({ crd }) => toYaml(crd));
    return [
      [`manifests/${folder}/crd.yaml`, toYamlFile(about, documents)],
      ...kinds.map(({ crd }): [string, string] => [
        `chart/files/crds/${crd.metadata.name}.yaml`,
        toYamlFile(head, [toYaml(crd)]),
      ]),
      ...others.map(({ file, about: why, crds }): [string, string] => [
        `manifests/${folder}/${file}`,
        toYamlFile(
          `${head}\n\n${wrapText(why, COLUMNS).join("\n")}`,
          crds.map((crd) => toYaml(crd)),
        ),
      ]),
    ];
  });
}
