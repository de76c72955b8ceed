/**
 * The kind of metal3 that the simulated world is made of.
 * @module
 */
import type { CustomKind } from "../kubernetes/mod.ts";

/** BareMetalHosts, to be installed in a simulated API server. */
export const BARE_METAL_HOST: CustomKind = {
  apiVersion: "metal3.io/v1alpha1",
  kind: "BareMetalHost",
  plural: "baremetalhosts",
  namespaced: true,
};

/** The finalizer that metal3's operator sets on every host. */
export const HOST_FINALIZER = "baremetalhost.metal3.io";
/** An annotation, with any value: nothing may change the host. */
export const PAUSED = "baremetalhost.metal3.io/paused";
/** An annotation, with any value: metal3's operator restarts the host once, and removes it. */
export const REBOOT = "reboot.metal3.io";
/** An annotation, with any value: Cluster API takes the host for no other machine. */
export const UNHEALTHY = "capm3.metal3.io/unhealthy";
