/**
 * Every deliberate break, by what it breaks.
 * @module
 */
import { ACCESS_BREAKS } from "./access.ts";
import { BOUND_BREAKS } from "./bounds.ts";
import type { Break } from "./break.ts";
import { CLOUD_BREAKS } from "./cloud.ts";
import { DELETION_BREAKS } from "./deletion.ts";
import { KUBERNETES_BREAKS } from "./kubernetes.ts";
import { LEADERSHIP_BREAKS } from "./leadership.ts";
import { NODE_BREAKS } from "./nodes.ts";
import { SECRET_BREAKS } from "./secrets.ts";
import { SETTINGS_BREAKS } from "./settings.ts";

/** Breaks that belong together. */
export interface BreakGroup {
  readonly title: string;
  readonly breaks: readonly Break[];
}

/** All groups, in the order of the documentation. */
export const BREAK_GROUPS: readonly BreakGroup[] = [
  { title: "Deletion", breaks: DELETION_BREAKS },
  { title: "Settings", breaks: SETTINGS_BREAKS },
  { title: "What is written on Nodes", breaks: NODE_BREAKS },
  { title: "One acts, one at a time", breaks: LEADERSHIP_BREAKS },
  { title: "The API server", breaks: KUBERNETES_BREAKS },
  { title: "The cloud", breaks: CLOUD_BREAKS },
  { title: "Who may look", breaks: ACCESS_BREAKS },
  { title: "Bounds", breaks: BOUND_BREAKS },
  { title: "What is said", breaks: SECRET_BREAKS },
];

/** All breaks. */
export const BREAKS: readonly Break[] = BREAK_GROUPS.flatMap(({ breaks }) => breaks);
