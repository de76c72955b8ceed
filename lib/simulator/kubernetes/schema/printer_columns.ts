/**
 * The columns that a CustomResourceDefinition asks for in `kubectl get`.
 * @module
 */
import { assert } from "../../../core/errors.ts";
import { isArray, isObject, type Json } from "../patches/json.ts";

/** A column, as in `additionalPrinterColumns`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  /** @default 0 */
  readonly priority?: 0 | 1;
}

/** `.status` or `[?(@.type=="Ready")]`. */
const STEP = /\.([A-Za-z]\w*)|\[\?\(@\.(\w+)=="([^"]*)"\)\]/y;

/**
 * Reads the value at a JSONPath of two forms: names of fields, and the first item of a list with a field of a value.
 *
 * @returns `undefined` if there is none
 */
export function readJsonPath(object: Json, path: string): Json | undefined {
  let value: Json | undefined = object;
  STEP.lastIndex = 0;
  while (STEP.lastIndex < path.length) {
    const found = STEP.exec(path);
    assert(found !== null, `a column has a JSONPath that this server does not know: ${path}`);
    const [, name, key = "", wanted] = found;
    if (name !== undefined) value = isObject(value) ? value[name] : undefined;
    else {
      const items: readonly Json[] = isArray(value) ? value : [];
      value = items.find((one) => isObject(one) && one[key] === wanted);
    }
  }
  return value;
}
