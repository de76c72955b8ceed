import { expect, test } from "bun:test";
import { reportUnknownKeys } from "../../lib/app/unknown_keys.ts";
import { nodeController } from "../../lib/controllers/node/definition.ts";
import { nodeLifecycleController } from "../../lib/controllers/node_lifecycle/definition.ts";
import { serviceController } from "../../lib/controllers/service/definition.ts";
import type { StoreReader } from "../../lib/kube/cache/store.ts";
import type { EventOptions } from "../../lib/kube/events/events.ts";
import type { KubeObject } from "../../lib/kube/kinds/resource.ts";

const WARNING = "Warning UnknownKey: the annotation";
const KEEP = "landfall.dev/keep-address";

type Listener = Parameters<StoreReader<KubeObject>["subscribe"]>[0];

/** A store with what its listeners get. */
function toStore() {
  const listeners = new Set<Listener>();
  return {
    listeners,
    get: () => undefined,
    keys: () => [],
    subscribe: (listener: Listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tell(before: KubeObject | undefined, after: KubeObject | undefined): void {
      for (const listener of listeners) listener("a", before, after);
    },
  };
}

function toObject(annotations: Record<string, string>, resourceVersion = "1"): KubeObject {
  return { metadata: { name: "a", resourceVersion, annotations } };
}

test("reportUnknownKeys() reports a misspelt annotation once, as the controller of the object", () => {
  const [services, nodes] = [toStore(), toStore()];
  const told: string[] = [];
  const speakAs = (component: string) => ({
    record: (_object: KubeObject, { reason, type, message }: EventOptions): void =>
      void told.push(`${component}: ${type} ${reason}: ${message}`),
  });
  const controllers = [nodeController, nodeLifecycleController, serviceController].map(
    (definition) => ({
      definition,
      controller: definition === serviceController ? { objects: services } : {},
    }),
  );
  const end = reportUnknownKeys(controllers, nodes, { speakAs });
  const wrong = toObject({ "landfall.dev/keep-adress": "true" });
  services.tell(undefined, wrong);
  services.tell(wrong, toObject({ "landfall.dev/keep-adress": "true" }, "2"));
  services.tell(wrong, toObject({ "landfall.dev/keep-address": "true" }));
  services.tell(wrong, undefined);
  nodes.tell(undefined, toObject({ "landfall.dev/nonsense": "" }));
  expect(told).toEqual([
    `service-controller: ${WARNING} "landfall.dev/keep-adress" has no effect: did you mean ${KEEP}?`,
    `cloud-node-controller: ${WARNING} "landfall.dev/nonsense" has no effect: Landfall does not know it`,
  ]);
  end();
  expect(services.listeners.size + nodes.listeners.size).toBe(0);
});
