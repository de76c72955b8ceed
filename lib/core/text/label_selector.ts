/**
 * Label selectors in the form that `kubectl --selector` takes, without `>` and `<`. Pure.
 * @module
 */
import { isLabelKey, isLabelValue } from "./label.ts";

/** One condition. Without values, the key alone counts. As in Kubernetes, a missing label fulfils a negated one. */
export interface Requirement {
  readonly key: string;
  readonly isNegated: boolean;
  readonly values?: readonly string[];
}

/** All conditions must hold. An empty selector matches everything. */
export type LabelSelector = readonly Requirement[];

/** The form, in words. */
export const LABEL_SELECTOR_FORM: string =
  'a label selector of "key", "!key", "key=value", "key==value", "key!=value", "key in (a, b)" and ' +
  '"key notin (a, b)", with a comma between them and without ">" and "<", ' +
  'for example "!example.com/bare-metal" or "pool in (a, b),disk!=hdd"';

const COMMA_OUTSIDE_BRACKETS = /,(?![^(]*\))/;
const SET = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const EQUALITY = /^([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)$/;
const EXISTENCE = /^(!?)\s*([^\s=!,()]+)$/;

/** Parses a selector; `undefined` if it is empty or is none. */
export function parseLabelSelector(text: string): LabelSelector | undefined {
  const selector: Requirement[] = [];
  for (const part of text.split(COMMA_OUTSIDE_BRACKETS)) {
    const requirement = parsePart(part.trim());
    if (requirement === undefined || !isValid(requirement)) return undefined;
    selector.push(requirement);
  }
  return selector;
}

/** Whether these labels fulfil a selector. */
export function matchesLabels(
  selector: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  return selector.every(({ key, isNegated, values }) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    const isFound = value !== undefined && (values?.includes(value) ?? true);
    return isFound !== isNegated;
  });
}

function parsePart(part: string): Requirement | undefined {
  const [, setKey, operator, list = ""] = SET.exec(part) ?? [];
  if (setKey !== undefined) {
    const values = list.split(",").map((value) => value.trim());
    return { key: setKey, isNegated: operator === "notin", values };
  }
  const [, key, sign, value = ""] = EQUALITY.exec(part) ?? [];
  if (key !== undefined) return { key, isNegated: sign === "!=", values: [value] };
  const [, not, bare] = EXISTENCE.exec(part) ?? [];
  return bare === undefined ? undefined : { key: bare, isNegated: not === "!" };
}

function isValid({ key, values = [] }: Requirement): boolean {
  return isLabelKey(key) && values.every(isLabelValue);
}
