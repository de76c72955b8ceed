/**
 * What is wrong with a spec, in words, and lists of names.
 * @module
 */
import { describeError } from "../../core/errors.ts";
import { joinFew } from "../../core/text/printable.ts";
import { isKubeError, type KubeError } from "../../kube/api/errors.ts";
import type { ConsumerReference } from "../../kube/kinds/bare_metal_host.ts";
import { SECRETS } from "../../kube/kinds/secret.ts";

/** What is wrong with a spec, and where. */
export interface SpecProblem {
  /** `spec.services.jumpHost[0].nodePort` */
  readonly path: string;
  /** What must be; no full stop. It may show a part of the value: but nothing of a password. */
  readonly message: string;
}

/** Messages are kept: an object has a limited size. */
const PROBLEMS_NAMED_MAX = 20;
const NAMED_MAX = 10;

/** All problems in one text, for a condition. */
export function describeProblems(problems: readonly SpecProblem[]): string {
  const named = problems.map(({ path, message }) => `${path}: ${message}`);
  return joinSome(named, PROBLEMS_NAMED_MAX);
}

/**
 * Joins the first sentences, and says how many more there are: by semicolons, or by full stops if one of them
 * has a full stop inside.
 *
 * @param sentences Without a full stop at the end
 * @param max How many it shows
 */
export function joinSome(sentences: readonly string[], max: number = NAMED_MAX): string {
  const shown = sentences.slice(0, max);
  const more = sentences.length - shown.length;
  if (shown.length > 1 && shown.some((one) => one.includes(". "))) {
    const last = more > 0 ? [`And ${more} more`] : [];
    return [...shown.slice(0, 1), ...shown.slice(1).map(capitalize), ...last].join(". ");
  }
  return joinFew(sentences, max);
}

/** Begins a sentence with a capital letter. Names of machines and roles stay as they are. */
export function capitalize(sentence: string): string {
  const isWord = /^[a-z]+ /.test(sentence);
  return isWord ? sentence.charAt(0).toUpperCase() + sentence.slice(1) : sentence;
}

/** Names the first ten inside a sentence, and says how many more there are: a cluster may have thousands of hosts. */
export function nameSome(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  const shown = names.slice(0, NAMED_MAX).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** How the API server says that a right is missing in a namespace. */
const NO_RIGHT = /cannot \w+ resource .* in the namespace "([^"]+)"/;

/** Whether the API server says that a right is missing in a namespace. */
export function lacksRight(error: unknown): boolean {
  return isKubeError(error, "forbidden") && NO_RIGHT.test(error.message);
}

/** Describes an error, and says what to do if a right is missing in a namespace. */
export function describeCause(error: unknown): string {
  const cause = describeError(error);
  const [, namespace] = isKubeError(error, "forbidden") ? (NO_RIGHT.exec(cause) ?? []) : [];
  if (namespace === undefined) return cause;
  return (
    `${cause}. To let Landfall work in namespace ${namespace}, bind its ClusterRole for tenants or hosts there: ` +
    "rbac.tenantNamespaces or rbac.hostNamespaces of the chart"
  );
}

/** Describes a refusal. Messages of the API server may repeat values: those of a Secret are not shown. */
export function describeRefusal(error: KubeError, kind: string | undefined): string {
  if (kind !== SECRETS.kind || NO_RIGHT.test(error.message)) return describeCause(error);
  const fields = error.fields.map(({ field }) => field).join(", ");
  return fields === "" ? `${error.code ?? ""} ${error.reason ?? ""}`.trim() : fields;
}

/** With kind, namespace and name: `Metal3Machine tenants/worker-1`. */
export function describeConsumer({
  kind = "",
  namespace = "",
  name = "",
}: ConsumerReference): string {
  return `${kind} ${[namespace, name].filter(Boolean).join("/")}`.trim();
}
