/**
 * docs/reference/events.md, from the words of the controllers.
 * @module
 */
import { GENERATED_NOTE, toCode, toTable } from "./markdown.ts";

/** A controller, or another part of the process, and the Events that it writes. */
export interface EventSource {
  /** `source.component` of its Events. */
  readonly component: string;
  /** Its name for `--controllers`; for another part, what it is. */
  readonly controller: string;
  /** Where they are written, when it is not on a Node: the end of a sentence. */
  readonly place?: string;
  readonly events: Readonly<Record<string, EventDescription>>;
}

/** One Event, in words. */
interface EventDescription {
  readonly reason: string;
  readonly type: "Normal" | "Warning";
  /** When it is written, a whole sentence. */
  readonly meaning: string;
}

/** Renders the page; controllers and Events in the order given. */
export function renderEventsPage(sources: readonly EventSource[]): string {
  const sections = sources.map(
    ({
      component,
      controller,
      place,
      events,
    }) => `## ${controller.includes(" ") ? controller : toCode(controller)}

Written as ${toCode(component)}${place === undefined ? "" : ` ${place}`}.

${toTable(["reason", "type", "meaning"], Object.values(events).map(toRow))}`,
  );
  return `${GENERATED_NOTE}

# Events

Controllers write Events on Nodes, in the namespace \`default\`, and on Services, in the namespace of the Service.
\`kubectl describe node\` and \`kubectl describe service\` show them.
\`kubectl get events --field-selector involvedObject.kind=Node,reason=Synced\` lists those with one reason. Reasons
never change. Equal Events become one Event with a count. If there are very many Events on one Node, Landfall drops
some.

${sections.join("\n")}`;
}

function toRow({ reason, type, meaning }: EventDescription): string[] {
  return [toCode(reason), type, meaning];
}
