/**
 * Reads kubeconfig files and merges them as kubectl does: if several set the same field, the first wins.
 * Source: https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
 * @module
 */
import { toTriedPath } from "../../core/small_file.ts";
import { isMissingFile, type ReadFile, readNamedFile, toConfigError } from "./problem.ts";
import { Section } from "./section.ts";

/** The cluster and the user of the current context. */
export interface KubeconfigContext {
  readonly cluster: Section;
  readonly user: Section;
}

/** Each line costs one more reading of the text: texts of this length take about a second. */
const SEARCHED_LENGTH_MAX = 20_000_000;

/**
 * Reads the files in order and finds the current context.
 *
 * @param files Paths. If there is more than one, missing files are ignored
 * @throws {ConfigError} if no file exists, one is not a kubeconfig, or the context is not complete
 */
export async function readKubeconfig(
  files: readonly string[],
  readFile: ReadFile,
): Promise<KubeconfigContext> {
  const roots: Section[] = [];
  for (const file of files) {
    const root = await readRoot(file, readFile, files.length > 1);
    if (root !== undefined) roots.push(root);
  }
  if (roots.length === 0) {
    const tried = files.map(toTriedPath).join(", ");
    throw toConfigError({ source: "KUBECONFIG" }, `none of the files exists: ${tried}`);
  }
  return findContext(roots);
}

async function readRoot(
  file: string,
  readFile: ReadFile,
  optional: boolean,
): Promise<Section | undefined> {
  let text: string;
  try {
    text = await readFile(file);
  } catch (error) {
    if (optional && isMissingFile(error)) return undefined;
    text = await readNamedFile(() => Promise.reject(error), file, { source: file });
  }
  let value: unknown;
  try {
    value = Bun.YAML.parse(text);
  } catch (error) {
    const isTooDeep = error instanceof RangeError;
    const reason = isTooDeep ? "it is nested too deeply" : "it is not YAML";
    const line = isTooDeep ? undefined : findBadLine(text);
    throw toConfigError(
      { source: file, ...(line !== undefined && { line }) },
      `cannot be read as a kubeconfig: ${reason}`,
    );
  }
  return new Section(value, file);
}

/**
 * The line up to which the text is valid YAML, because the parser's error has no place. Long texts are not searched.
 */
function findBadLine(text: string): number | undefined {
  const lines = text.split("\n");
  if (lines.length * text.length > SEARCHED_LENGTH_MAX) return undefined;
  for (let good = lines.length - 1; good > 0; good -= 1) {
    if (isYaml(lines.slice(0, good).join("\n"))) return good + 1;
  }
  return 1;
}

function isYaml(text: string): boolean {
  try {
    Bun.YAML.parse(text);
    return true;
  } catch {
    return false;
  }
}

function findContext(roots: readonly Section[]): KubeconfigContext {
  const holder = roots.find((root) => root.has("current-context"));
  if (holder === undefined) {
    const source = roots.map((root) => root.source).join(", ");
    throw toConfigError({ source, path: "current-context" }, "is missing");
  }
  const name = holder.required("current-context");
  const context = findNamed(roots, "contexts", name, holder, "current-context").section("context");
  const cluster = context.required("cluster");
  const user = context.string("user");
  return {
    cluster: findNamed(roots, "clusters", cluster, context, "cluster").section("cluster"),
    user:
      user === undefined
        ? new Section(undefined, context.source, context.place("user").path)
        : findNamed(roots, "users", user, context, "user").section("user"),
  };
}

/** The entry with this name. `field` of `from` refers to it. */
function findNamed(
  roots: readonly Section[],
  list: "contexts" | "clusters" | "users",
  name: string,
  from: Section,
  field: string,
): Section {
  const all = roots.flatMap((root) => root.sections(list));
  const found = all.find((entry) => entry.string("name") === name);
  if (found !== undefined) return found;
  const known = all.map((entry) => entry.string("name") ?? "(no name)").join(", ") || "none";
  throw toConfigError(
    from.place(field),
    `${list.slice(0, -1)} "${name}" does not exist (known: ${known})`,
  );
}
