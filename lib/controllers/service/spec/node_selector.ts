/**
 * Reads which Nodes a Service chooses for its load balancer. Pure.
 * @module
 */
import {
  LABEL_SELECTOR_FORM,
  type LabelSelector,
  parseLabelSelector,
} from "../../../core/text/label.ts";
import { quote } from "../../../core/text/printable.ts";
import type { Service } from "../../../kube/kinds/service.ts";
import { NODE_SELECTOR } from "../words.ts";

/** Longer selectors would take too long to parse. */
const CHARS_MAX = 1_000;

/** The text of the selector, without spaces around it; empty without one. */
export function readSelectorText({ metadata }: Service): string {
  return metadata.annotations?.[NODE_SELECTOR]?.trim() ?? "";
}

/** Parses such a text, or says what is wrong with it. Without a text, the selector matches every Node. */
export function parseNodeSelector(
  text: string,
): { readonly selector: LabelSelector } | { readonly problem: string } {
  if (text === "") return { selector: [] };
  const field = `annotation ${NODE_SELECTOR}`;
  if (text.length > CHARS_MAX)
    return { problem: `${field}: has more than ${CHARS_MAX} characters` };
  const selector = parseLabelSelector(text);
  if (selector !== undefined) return { selector };
  return { problem: `${field}: ${quote(text)} is not ${LABEL_SELECTOR_FORM}` };
}
