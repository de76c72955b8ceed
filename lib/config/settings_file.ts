/**
 * The settings file for a provider that reads it again, for example an inventory.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { ConfigFile, ConfigParser, Environment } from "../cloud/provider_definition.ts";
import {
  findSettings,
  type SectionValues,
  type SettingsSection,
} from "../cloud/settings/schema.ts";
import { ConfigError } from "../core/errors.ts";
import { readSmallFile } from "../core/small_file.ts";
import { decodeConfigText } from "./config_text.ts";
import { parseProviderConfig } from "./provider_config.ts";

/** See {@linkcode ConfigFile}. */
export class SettingsFile implements ConfigFile {
  readonly path: string;
  readonly #env: Environment;
  readonly #sections: readonly SettingsSection[];
  /** The settings that matter for Nodes, of the last content without a mistake. */
  #ofNodes: readonly unknown[] | undefined;

  /** @param sections As {@linkcode parseProviderConfig} takes them */
  constructor(path: string, env: Environment, sections: readonly SettingsSection[]) {
    this.path = path;
    this.#env = env;
    this.#sections = sections;
  }

  read(): Promise<Uint8Array> {
    return readSmallFile(this.path);
  }

  async parse<S>(bytes: Uint8Array, definition: ConfigParser<S>): Promise<S> {
    const text = decodeConfigText(bytes, this.path);
    const where = { path: this.path, env: this.#env, sections: this.#sections, definition };
    try {
      const { settings, sections } = await parseProviderConfig(text, where);
      this.#ofNodes = this.#listOfNodes(sections);
      return settings;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const ignored = this.#sections.filter((one) => one.isOnlyForServices).map(({ key }) => key);
      const rest = await parseProviderConfig(text, { ...where, ignored }).catch(() => undefined);
      // The old settings stay in use. New machines must not meet old settings for deletions.
      const isSame = rest && isDeepStrictEqual(this.#listOfNodes(rest.sections), this.#ofNodes);
      if (isSame === true) return rest.settings;
      throw error;
    }
  }

  #listOfNodes(sections: SectionValues): readonly unknown[] {
    return this.#sections
      .filter((one) => one.isOnlyForServices !== true)
      .map((one) => findSettings(one, sections));
  }
}
