/**
 * Events, as `kubectl describe` shows them.
 * @module
 */
import type { CoreV1Event } from "@kubernetes/client-node";
import type { Kind, KubeObject, Raw } from "./resource.ts";

/** A core/v1 Event on the wire. */
export type KubeEvent = Omit<Raw<CoreV1Event>, "metadata"> & KubeObject;

/** Events of the core API, which `kubectl describe` reads. */
export const EVENTS: Kind<KubeEvent> = {
  apiVersion: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
};
