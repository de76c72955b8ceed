/**
 * Reads which stickiness a Service asks for. Pure.
 * @module
 */
import type { LoadBalancerProblem } from "../../../../cloud/capabilities/load_balancers.ts";
import { quote } from "../../../../core/text/printable.ts";
import { toWaiting } from "./problems.ts";
import { ANNOTATIONS } from "../words.ts";

/** The stickiness that a Service asks for. */
export interface StickinessWish {
  readonly method: "LbCookie" | "SourceBased";
  readonly params: ReadonlyMap<string, string>;
}

/** Which values a parameter may have. */
type Form = { readonly pattern: RegExp; readonly words: string; readonly isFlag?: true };

const FLAG: Form = { pattern: /^true$/, words: "true", isFlag: true };
const NAME: Form = { pattern: /^[!-~]{1,128}$/, words: "a text without blanks" };

const PARAMS: Readonly<Record<StickinessWish["method"], ReadonlyMap<string, Form>>> = {
  LbCookie: new Map([
    ["cookie-name", NAME],
    ["mode", { pattern: /^(insert|rewrite|prefix)$/, words: "insert, rewrite or prefix" }],
    ["domain", NAME],
    // HAProxy gets the flag with any value, so `false` would mean true.
    ["nocache", FLAG],
    ["indirect", FLAG],
    ["postonly", FLAG],
  ]),
  SourceBased: new Map([
    ["tablesize", { pattern: /^[1-9]\d{0,8}[kmg]$/, words: "a number with k, m or g, like 200k" }],
    ["expire", { pattern: /^[1-9]\d{0,8}[smhd]$/, words: "a number with s, m, h or d, like 30m" }],
  ]),
};

/** Characters that would end a word in the configuration of HAProxy. */
const REFUSED = /[\s=&"'\\#]/;

/**
 * Reads both annotations.
 *
 * @returns `undefined` if the Service asks for none
 */
export function parseStickiness(
  method: string | undefined,
  params: string | undefined,
): StickinessWish | LoadBalancerProblem | undefined {
  if (method === undefined || method === "") {
    if (params === undefined || params === "") return undefined;
    return refuse(ANNOTATIONS.stickinessParams, params, "there is no method for it");
  }
  if (method === "AppCookie") {
    return refuse(ANNOTATIONS.stickinessMethod, method, "HAProxy can no longer do this");
  }
  if (method !== "LbCookie" && method !== "SourceBased") {
    return refuse(ANNOTATIONS.stickinessMethod, method, "write LbCookie or SourceBased");
  }
  const parsed = parseParams(method, params ?? "");
  if (typeof parsed !== "string") return { method, params: parsed };
  return refuse(ANNOTATIONS.stickinessParams, params ?? "", parsed);
}

/** @returns What is wrong, if it is a text */
function parseParams(
  method: StickinessWish["method"],
  text: string,
): ReadonlyMap<string, string> | string {
  const params = new Map<string, string>();
  if (text === "") return params;
  const known = PARAMS[method];
  for (const entry of text.split(",").map((one) => one.trim())) {
    const at = entry.indexOf("=");
    const key = at === -1 ? entry : entry.slice(0, at);
    const form = known.get(key);
    if (form === undefined) {
      return `${method} has no parameter ${quote(key)}, only ${[...known.keys()].join(", ")}`;
    }
    if (params.has(key)) return `it has ${key} twice`;
    const value =
      at === -1 && form.isFlag ? "true" : entry.slice(at === -1 ? entry.length : at + 1);
    if (value === "" || REFUSED.test(value) || !form.pattern.test(value)) {
      return `${key} must be ${form.words}`;
    }
    params.set(key, value);
  }
  return params;
}

function refuse(annotation: string, text: string, why: string): LoadBalancerProblem {
  return toWaiting(
    "StickinessNotPossible",
    `annotation ${annotation} has the value ${quote(text)}: ${why}`,
  );
}
