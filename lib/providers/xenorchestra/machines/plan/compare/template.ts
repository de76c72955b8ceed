/**
 * Compares the template of a VM with the one that the specification names. Pure.
 * @module
 */
import type { Template, Vm } from "../../look/view.ts";

/**
 * The template from which a VM was made, if it is not the given one.
 *
 * @param template Absent: it could not be found
 * @returns ID or UUID; `undefined` also if it is not known
 */
export function findOtherTemplate(
  { creation }: Pick<Vm, "creation">,
  template: Pick<Template, "id" | "uuid"> | undefined,
): string | undefined {
  const from = creation?.template;
  if (template === undefined || from === undefined) return undefined;
  return [template.id, template.uuid].includes(from) ? undefined : from;
}
