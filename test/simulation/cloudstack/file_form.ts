/**
 * The settings file of CloudStack in a story: the INI file of the Apache provider, or YAML.
 * @module
 */

import { ASKER, type Said, toDeletionKeys } from "../world/settings_file.ts";
import { toKeys } from "./places.ts";

/** What stays as it is in all files of a story. */
interface FixedSettings {
  /** Whether it is the INI file of the Apache provider; else it is YAML. */
  readonly isIni: boolean;
  /** ID or name of the project; absent: none. */
  readonly project?: string;
  readonly trustsEmptyAnswer: boolean;
}

type Pairs = Readonly<Record<string, string>>;

/** Writes settings down, right and wrong. */
export class FileForm {
  readonly #fixed: FixedSettings;

  constructor(fixed: FixedSettings) {
    this.#fixed = fixed;
  }

  /** A file that says this. */
  toText({ token, refreshIntervalMs, labels, leavesAddresses, deletion }: Said): string {
    const { isIni, project, trustsEmptyAnswer } = this.#fixed;
    const global: Pairs = {
      apiUrl: `http://${ASKER}.memory/client/api`,
      ...toKeys(token),
      ...(project !== undefined && { projectId: project }),
      ...(labels.region !== undefined && { region: labels.region }),
      refreshInterval: `${refreshIntervalMs}ms`,
      ...(labels.typeStyle !== undefined && { instanceTypeStyle: labels.typeStyle }),
    };
    const addresses: Pairs = leavesAddresses ? { mode: "leave" } : {};
    const all: Pairs = {
      ...toDeletionKeys(deletion),
      trustEmptyAnswer: String(trustsEmptyAnswer),
    };
    const lines = isIni
      ? [
          "[Global]",
          ...toIni(global),
          ...(leavesAddresses ? ["[Addresses]", ...toIni(addresses)] : []),
          "[Deletion]",
          ...toIni(all),
        ]
      : [
          ...toYaml(global),
          ...(leavesAddresses ? ["addresses:", ...toYaml(addresses, "  ")] : []),
          "deletion:",
          ...toYaml(all, "  "),
        ];
    return `${lines.join("\n")}\n`;
  }

  /** Files that cannot be used, made from one that can. */
  listSpoilt(text: string): readonly (string | undefined)[] {
    const { isIni } = this.#fixed;
    const between = isIni ? " =" : ":";
    const change = (key: RegExp, value: string): string =>
      text.replace(key, (name) => `${name.replace(/[ :=].*/, "")}${between} ${value}`);
    return [
      undefined,
      "",
      isIni ? "[Global" : "refreshInterval: [",
      `${text.slice(0, text.length >> 1).replace(/\n.*$/, "")}\n${isIni ? "[[" : ": :"}\n`,
      change(/refresh-?interval.*/i, "soon"),
      change(/confirmations.*/, "0"),
      change(/instance-?type-?style.*/i, "stretched"),
      change(/secret-?key.*/i, ""),
    ];
  }
}

function toIni(pairs: Pairs): string[] {
  return Object.entries(pairs).map(([key, value]) => {
    const name = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return `${name} = ${value}`;
  });
}

function toYaml(pairs: Pairs, indent: string = ""): string[] {
  return Object.entries(pairs).map(([key, value]) => `${indent}${key}: ${value}`);
}
