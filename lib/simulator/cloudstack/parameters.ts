/**
 * The parameters of a request, and the signature as the server computes it: by the names and values that arrived.
 * @module
 */
import { createHmac } from "node:crypto";

/** The parameters of one request. A value that is empty counts as absent, as on the server. */
export class Parameters {
  /** The command as it was sent; empty when there is none. */
  readonly command: string;
  /** As they arrived; of a name that is sent twice, the first value. */
  readonly raw: RawParameters;
  readonly #byName = new Map<string, string>();

  constructor(raw: RawParameters) {
    this.raw = raw;
    for (const [name, value] of raw) {
      const lower = name.toLowerCase();
      if (value !== "" && !this.#byName.has(lower)) this.#byName.set(lower, value);
    }
    this.command = this.get("command") ?? "";
  }

  /** A value, by a name in lower case. */
  get(name: string): string | undefined {
    return this.#byName.get(name);
  }

  /** Whether a value is `true`, in any case. */
  isTrue(name: string): boolean {
    return this.get(name)?.toLowerCase() === "true";
  }

  /** The parts of a value with commas. */
  list(name: string): string[] {
    const parts = (this.get(name) ?? "").split(",").map((part) => part.trim());
    return parts.filter((part) => part !== "");
  }

  /**
   * The entries of a map: of `tags[0].key=a` and `tags[0].value=b`, one with `key` and `value`. Here a value that is
   * empty is there, as on the server.
   */
  entries(name: string): Readonly<Record<string, string | undefined>>[] {
    const byIndex = new Map<string, Record<string, string>>();
    for (const [key, value] of this.raw) {
      const match = /^(\w+)\[(\d+)\]\.(\w+)$/.exec(key.toLowerCase());
      const [, map, index = "", field = ""] = match ?? [];
      if (map === name) byIndex.set(index, { [field]: value, ...byIndex.get(index) });
    }
    return [...byIndex.values()];
  }

  /** Values by name in lower case. */
  get byName(): ReadonlyMap<string, string> {
    return this.#byName;
  }

  /** The first parameter with a character that the server refuses: a control character other than a new line. */
  findUnprintable(): string | undefined {
    for (const [name, value] of this.raw) {
      if ([...value].some((one) => (one < " " && one !== "\n") || one === "\u007F")) return name;
    }
    return undefined;
  }
}

/** Reads the parameters of a request, from its query and its form. */
export async function readParameters(request: Request): Promise<Parameters> {
  const raw = new Map<string, string>();
  const add = (name: string, value: string): void => {
    if (!raw.has(name)) raw.set(name, value);
  };
  new URL(request.url).searchParams.forEach((value, name) => add(name, value));
  const type = request.headers.get("content-type") ?? "";
  if (request.method === "POST" && type.startsWith("application/x-www-form-urlencoded")) {
    new URLSearchParams(await request.text()).forEach((value, name) => add(name, value));
  }
  return new Parameters(raw);
}

/** Parameters of a request as they arrived, by name. Of a name that is sent twice, the server reads the first. */
type RawParameters = ReadonlyMap<string, string>;

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
