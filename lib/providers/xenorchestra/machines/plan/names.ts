/**
 * Names the things of Xen Orchestra in messages: the name for people, and the ID, because names are not unique. Pure.
 * @module
 */
import { quote } from "../../../../core/text/printable.ts";
import type { Stock, View } from "../look/view.ts";

interface Named {
  readonly id: string;
  readonly name: string;
}

/** `network "oam" (6b6ca0f5-…)`; only the ID if there is no other name. */
export function nameThing(what: string, { id, name }: Named): string {
  return name === id || name === "" ? `${what} ${id}` : `${what} ${quote(name)} (${id})`;
}

/** `pool "paris" (02f9029d-…)`. */
export function namePool({ pools }: Pick<View, "pools">, id: string): string {
  return nameThing("pool", findNamed(pools, id));
}

/** `network "oam" (6b6ca0f5-…)`. */
export function nameNetwork({ networks }: Pick<Stock, "networks">, id: string): string {
  return nameThing("network", findNamed(networks, id));
}

/** `storage repository "fast" (4cb0d74e-…)`. */
export function nameStorage({ storages }: Pick<Stock, "storages">, id: string): string {
  return nameThing("storage repository", findNamed(storages, id));
}

/** `template "debian" (1ba8e9d0-…)`. @param id The ID or the UUID */
export function nameTemplate({ templates }: Pick<Stock, "templates">, id: string): string {
  const found = templates.find((one) => one.id === id || one.uuid === id);
  return nameThing("template", { id, name: found?.name ?? id });
}

/** `host "xcp-1" (a5b3c1d2-…)`. */
export function nameHost({ hostsById }: Pick<View, "hostsById">, id: string): string {
  return nameThing("host", hostsById.get(id) ?? { id, name: id });
}

function findNamed(all: readonly Named[], id: string): Named {
  return all.find((one) => one.id === id) ?? { id, name: id };
}
