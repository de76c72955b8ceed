/**
 * The parts of a process with one controller that does nothing but offer objects to the pages.
 * @module
 */
import type { Parts } from "../../../lib/app/parts.ts";
import type { RunningController } from "../../../lib/controllers/definition.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { Caches } from "../../../lib/kube/cache/caches.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { EventSender } from "../../../lib/kube/events/events.ts";
import type { KubeObject, Resource } from "../../../lib/kube/kinds/resource.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import { ScriptedKubeClient } from "../kube/scripted_kube_client.ts";
import { ManualClock } from "../manual_clock.ts";

/** Its objects have these namespaces and names: `y/a`. Their UIDs are made of that. */
export function toServedParts(
  kind: Resource<KubeObject>,
  keys: readonly string[],
  offers: Partial<RunningController> = {},
): Pick<Parts, "caches" | "controllers" | "events" | "groups"> {
  const [definition] = CONTROLLERS;
  if (definition === undefined) throw new Error("there is no controller");
  const objects = new Store({ resource: kind, log: silentLogger });
  const items = keys.map((key) => {
    const [namespace = "", name = ""] = key.split("/");
    return { metadata: { namespace, name, uid: toUuid(key) } };
  });
  objects.replace(items, "1");
  const clock = new ManualClock();
  const client = new ScriptedKubeClient(clock);
  const caches = new Caches({ client, clock, log: silentLogger });
  const events = new EventSender({ client, clock, log: silentLogger });
  const controller: RunningController = { run: async () => {}, objects, ...offers };
  const controllers = [{ definition: { ...definition, kind }, controller }];
  return { caches, controllers, events, groups: [{ controllers }] };
}
