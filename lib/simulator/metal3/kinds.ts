/**
 * The kind of metal3 that the simulated world is made of.
 * @module
 */
import type { CustomKind } from "../kubernetes/mod.ts";

/** BareMetalHosts, to be installed in a simulated API server, with the short names and columns of metal3's CRD. */
export const BARE_METAL_HOST: CustomKind = {
  apiVersion: "metal3.io/v1alpha1",
  kind: "BareMetalHost",
  plural: "baremetalhosts",
  namespaced: true,
  shortNames: ["bmh", "bmhost"],
  columns: [
    { name: "State", type: "string", jsonPath: ".status.provisioning.state" },
    { name: "Consumer", type: "string", jsonPath: ".spec.consumerRef.name" },
    { name: "Online", type: "string", jsonPath: ".spec.online" },
    { name: "Error", type: "string", jsonPath: ".status.errorType" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
};

/** The finalizer that metal3's operator sets on every host. */
export const HOST_FINALIZER = "baremetalhost.metal3.io";
/** An annotation, with any value: nothing may change the host. */
export const PAUSED = "baremetalhost.metal3.io/paused";
/** An annotation, with any value: metal3's operator restarts the host once, and removes it. */
export const REBOOT = "reboot.metal3.io";
/** An annotation, with any value: Cluster API takes the host for no other machine. */
export const UNHEALTHY = "capm3.metal3.io/unhealthy";
/** An annotation in JSON: what metal3's operator takes as the result of an inspection, and then removes. */
export const HARDWARE_DETAILS = "inspect.metal3.io/hardwaredetails";
