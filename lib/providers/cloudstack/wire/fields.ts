/**
 * Fields of CloudStack's objects, in the forms that servers of different versions use.
 * @module
 */
import * as v from "valibot";
import { formatCidr, parseCidr } from "../../../core/net/ip.ts";
import { parseUuid } from "../../../core/text/values.ts";

/** Reads one field. */
export type Field<T> = v.GenericSchema<unknown, T>;

/** A text that may be missing. */
export const TEXT: Field<string | null | undefined> = v.nullish(v.string());

/** A text; empty if it is missing. Only a default lets a missing field be transformed, too. */
export const NAME: Field<string> = v.nullish(v.string(), "");

/** The ID of the object itself, in lower case. */
export const ID: Field<string> = v.pipe(
  v.string(),
  v.transform((one) => one.toLowerCase()),
  v.check((one) => parseUuid(one) === one, "a UUID"),
);

/** Some servers write booleans and numbers as texts. */
export const FLAG: Field<boolean> = v.union([
  v.boolean(),
  v.pipe(
    v.picklist(["true", "false"]),
    v.transform((one) => one === "true"),
  ),
]);

/** A whole number, at least 0 if it is a text. */
export const WHOLE_NUMBER: Field<number> = v.union([
  v.pipe(v.number(), v.integer()),
  v.pipe(v.string(), v.regex(/^\d{1,9}$/, "a number"), v.transform(Number)),
]);

/** A port, as a number or a text. */
export const PORT: Field<number> = v.pipe(
  WHOLE_NUMBER,
  v.check((one) => one >= 0 && one <= 65_535, "a port"),
);

/** The ID of another object, in lower case; `undefined` without one. */
export const REFERENCE: Field<string | undefined> = v.pipe(
  v.nullish(v.string(), ""),
  v.transform((one) => one.toLowerCase() || undefined),
);

/**
 * A list of blocks or addresses, canonical and sorted; `undefined` if an entry cannot be read. Blanks or commas are
 * between them: some versions join what is created with blanks, and what is updated with commas.
 */
export const CIDRS: Field<readonly string[] | undefined> = v.pipe(
  v.nullish(v.string(), ""),
  v.transform((text) => {
    const entries = text.split(/[\s,]+/).filter((one) => one !== "");
    const blocks = entries.flatMap((one) => parseCidr(one) ?? []);
    if (blocks.length < entries.length) return undefined;
    return [...new Set(blocks.map(formatCidr))].toSorted();
  }),
);
