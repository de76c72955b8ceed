/**
 * Signatures of requests as the server computes them: by the names and values that arrived.
 * @module
 */
import { createHmac } from "node:crypto";

/** Parameters of a request as they arrived, by name. Of a name that is sent twice, the server reads the first. */
export type RawParameters = ReadonlyMap<string, string>;

/** The text that is signed: all parameters but the signature, sorted by name, values encoded, all in lower case. */
function toSignedText(parameters: RawParameters): string {
  const names = [...parameters.keys()].filter((name) => name.toLowerCase() !== "signature").sort();
  const pairs = names.map((name) => `${name}=${encodeJava(parameters.get(name) ?? "")}`);
  return pairs.join("&").toLowerCase();
}

/** The signature that a secret makes of the parameters, in base64; the server compares it as text. */
export function toSignature(secret: string, parameters: RawParameters): string {
  return createHmac("sha1", secret).update(toSignedText(parameters)).digest("base64");
}

/** As Java's `URLEncoder` with `%20` for a blank: only letters, digits and `.`, `-`, `_`, `*` stay as they are. */
function encodeJava(value: string): string {
  const toHex = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  return value.replaceAll(/[^A-Za-z0-9.\-_*]+/g, (rest) =>
    [...Buffer.from(rest)].map(toHex).join(""),
  );
}
