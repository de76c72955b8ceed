/**
 * BareMetalHosts of metal3, reduced to the fields that decide who gets a host.
 * @module
 */
import type { Kind } from "../../../kube/kinds/kind.ts";
import type { KubeObject } from "../../../kube/kinds/resource.ts";

/** The name of a Secret; without a namespace, one beside the object that names it. */
export interface SecretReference {
  readonly name?: string;
  readonly namespace?: string;
}

/** A host, as metal3 describes it. */
export interface BareMetalHost extends KubeObject {
  readonly spec?: {
    readonly online?: boolean;
    readonly bmc?: { readonly address?: string };
    readonly networkData?: SecretReference;
    readonly preprovisioningNetworkDataName?: string;
    readonly consumerRef?: {
      readonly kind?: string;
      readonly name?: string;
      readonly namespace?: string;
    };
    readonly externallyProvisioned?: boolean;
  };
  readonly status?: {
    readonly provisioning?: { readonly state?: string };
    readonly operationalStatus?: string;
    readonly errorType?: string;
    readonly errorMessage?: string;
    readonly poweredOn?: boolean;
  };
}

/** BareMetalHosts. */
export const BARE_METAL_HOSTS: Kind<BareMetalHost> = {
  apiVersion: "metal3.io/v1alpha1",
  kind: "BareMetalHost",
  plural: "baremetalhosts",
  namespaced: true,
};
