/**
 * The settings of credentials: where each stands, and what is wrong with it. All errors name file and field. Values are
 * checked before use, because a failed request does not say what is wrong.
 * @module
 */
import { isFields, mustBe } from "../../core/text/values.ts";
import { CertificateError, parseCertificates } from "../../core/http/connection.ts";
import { ConfigError } from "../../core/errors.ts";
import { describeFileProblem, toTriedPath } from "../../core/small_file.ts";
import { createPrivateKey, type KeyObject, type X509Certificate } from "node:crypto";

/** Reads a text file; rejects as `node:fs/promises` does. */
export type ReadFile = (path: string) => Promise<string>;

/** The place of a setting. */
export interface SettingPlace {
  /** File, flag or environment variable. */
  readonly source: string;
  /** Path of the field in the source. Absent: the source as a whole. */
  readonly path?: string;
  /** Line in the source, from 1. */
  readonly line?: number;
}

/** An error about one setting. Its message never contains the setting's value if that may be secret. */
export function toConfigError(place: SettingPlace, message: string): ConfigError {
  return new ConfigError([{ ...place, message }]);
}

/**
 * Reads a file that a setting names.
 *
 * @throws {ConfigError} with the setting and the file
 */
export async function readNamedFile(
  readFile: ReadFile,
  file: string,
  place: SettingPlace,
): Promise<string> {
  try {
    return await readFile(file);
  } catch (error) {
    const tried = toTriedPath(file);
    const named = place.source === tried ? "" : ` "${tried}"`;
    throw toConfigError(place, `cannot read the file${named}: ${describeFileProblem(error)}`);
  }
}

/** A mapping in a file. An absent or null mapping is empty. */
export class Section {
  /** The file with the mapping. */
  readonly source: string;
  readonly #path: string;
  readonly #values: Readonly<Record<string, unknown>>;

  /** @throws {ConfigError} if `value` is neither a mapping nor absent */
  constructor(value: unknown, source: string, path: string = "") {
    this.source = source;
    this.#path = path;
    if (value === undefined || value === null) {
      this.#values = {};
    } else if (isFields(value)) {
      this.#values = value;
    } else {
      throw toConfigError(this.place(), "must be a mapping");
    }
  }

  /** The place of a field, or of the section itself. */
  place(field?: string): SettingPlace {
    const path = [this.#path, field].filter((part) => part).join(".");
    return path === "" ? { source: this.source } : { source: this.source, path };
  }

  /** Names of the fields with a value. */
  names(): string[] {
    return Object.keys(this.#values).filter((name) => (this.#values[name] ?? "") !== "");
  }

  has(field: string): boolean {
    return this.names().includes(field);
  }

  /** A text, or `undefined` when it is absent or empty. */
  string(field: string): string | undefined {
    const value = this.#values[field] ?? "";
    if (typeof value !== "string") throw toConfigError(this.place(field), "must be a string");
    return value === "" ? undefined : value;
  }

  /** Like {@linkcode Section.string}, but required. */
  required(field: string): string {
    const value = this.string(field);
    if (value === undefined) throw toConfigError(this.place(field), "is missing");
    return value;
  }

  boolean(field: string): boolean {
    const value = this.#values[field] ?? false;
    if (typeof value !== "boolean") {
      throw toConfigError(this.place(field), "must be true or false");
    }
    return value;
  }

  section(field: string): Section {
    return new Section(this.#values[field], this.source, this.place(field).path);
  }

  /** Items of a list of mappings. Messages name each by its `name`, if it has one. */
  sections(field: string): Section[] {
    return this.#list(field).map((item, at) => {
      const label = isFields(item) && typeof item["name"] === "string" ? item["name"] : at;
      return new Section(item, this.source, this.place(`${field}.${label}`).path);
    });
  }

  strings(field: string): string[] {
    return this.#list(field).map((item) => {
      if (typeof item !== "string") {
        throw toConfigError(this.place(field), "must be a list of strings");
      }
      return item;
    });
  }

  /** The raw value of a field. */
  raw(field: string): unknown {
    return this.#values[field];
  }

  #list(field: string): unknown[] {
    const value = this.#values[field] ?? [];
    if (!Array.isArray(value)) throw toConfigError(this.place(field), "must be a list");
    return value;
  }
}

/** PEM and its place. */
export interface PlacedPem {
  readonly pem: string;
  readonly place: SettingPlace;
}

const ENCRYPTED_KEY = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

/**
 * Checks a bundle of certificates.
 *
 * @returns The same PEM
 * @throws {ConfigError} if it has no certificate, or one cannot be decoded
 */
export function checkCertificates(given: PlacedPem): string {
  toCertificates(given);
  return given.pem;
}

/**
 * Checks that a client certificate and a key can be decoded and belong together.
 *
 * @throws {ConfigError} with the wrong one
 */
export function checkKeyPair(cert: PlacedPem, key: PlacedPem): { cert: string; key: string } {
  const [leaf] = toCertificates(cert);
  if (ENCRYPTED_KEY.test(key.pem)) {
    throw toConfigError(key.place, "the private key is encrypted; use one without a passphrase");
  }
  let parsed: KeyObject;
  try {
    parsed = createPrivateKey(key.pem);
  } catch {
    throw toConfigError(key.place, mustBe("a private key in PEM"));
  }
  if (!leaf.checkPrivateKey(parsed)) {
    throw toConfigError(
      key.place,
      `the private key does not belong to the client certificate (${cert.place.path ?? cert.place.source})`,
    );
  }
  return { cert: cert.pem, key: key.pem };
}

/**
 * Decodes a `*-data` field: PEM in base64.
 *
 * @throws {ConfigError} when it is not base64
 */
export function decodePem(base64: string, place: SettingPlace): PlacedPem {
  const compact = base64.replaceAll(/\s/g, "");
  if (compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) {
    throw toConfigError(place, mustBe("base64"));
  }
  return { pem: Buffer.from(compact, "base64").toString("utf8"), place };
}

function toCertificates({
  pem,
  place,
}: PlacedPem): readonly [X509Certificate, ...X509Certificate[]] {
  try {
    return parseCertificates(pem);
  } catch (error) {
    if (error instanceof CertificateError) throw toConfigError(place, error.message);
    throw error;
  }
}

/**
 * Checks that a header can hold a token.
 *
 * @throws {ConfigError} without the token
 */
export function checkToken(token: string, place: SettingPlace): string {
  if (token === "") throw toConfigError(place, "the token is empty");
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw toConfigError(place, "the token contains white space or characters that are not ASCII");
  }
  return token;
}
