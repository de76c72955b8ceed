/**
 * Reads fields of a parsed YAML mapping by type, with errors that name file and field.
 * @module
 */
import { isFields } from "../../core/text/values.ts";
import { type SettingPlace, toConfigError } from "./problem.ts";

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
