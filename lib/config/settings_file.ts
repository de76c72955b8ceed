/**
 * The settings file for a provider that reads it again, for example an inventory.
 * @module
 */
import type { ConfigFile, ConfigParser, Environment } from "../cloud/provider_definition.ts";
import type { SettingsSection } from "../cloud/settings/section.ts";
import { readSmallFile } from "../core/small_file.ts";
import { decodeConfigText } from "./config_text.ts";
import { parseProviderConfig } from "./provider_config.ts";

/** Called with the content after each reading. Never throws. */
export type ReadListener = (bytes: Uint8Array) => void;

/** See {@linkcode ConfigFile}. Followers of the file get each reading, and need not read it again. */
export class SettingsFile implements ConfigFile {
  readonly path: string;
  readonly #env: Environment;
  readonly #sections: readonly SettingsSection[];
  readonly #listeners = new Set<ReadListener>();

  /** @param sections As {@linkcode parseProviderConfig} takes them */
  constructor(path: string, env: Environment, sections: readonly SettingsSection[]) {
    this.path = path;
    this.#env = env;
    this.#sections = sections;
  }

  async read(): Promise<Uint8Array> {
    const bytes = await readSmallFile(this.path);
    for (const listener of this.#listeners) listener(bytes);
    return bytes;
  }

  async parse<S>(bytes: Uint8Array, definition: ConfigParser<S>): Promise<S> {
    const where = { path: this.path, env: this.#env, sections: this.#sections };
    const text = decodeConfigText(bytes, this.path);
    return (await parseProviderConfig(text, { ...where, definition })).settings;
  }

  /** Calls `listener` after each successful reading. Returns the function that ends this. */
  subscribe(listener: ReadListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
