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

/** Parsing a longer one would take too long. */
const CHARS_MAX = 500;
/** Every Node is compared with every one of them. */
const CONDITIONS_MAX = 10;

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
  if (selector === undefined) {
    return { problem: `${field}: ${quote(text)} is not ${LABEL_SELECTOR_FORM}` };
  }
  if (selector.length <= CONDITIONS_MAX) return { selector };
  return { problem: `${field}: has more than ${CONDITIONS_MAX} conditions` };
}
