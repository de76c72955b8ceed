/**
 * The documents' text about Xen Orchestra.
 * @module
 */
import type { ProviderDocs, ProviderInstall } from "../../cloud/provider_definition.ts";
import { LABEL_DESCRIPTIONS } from "./model/labels.ts";

/** See {@linkcode ProviderDocs}. */
export const XEN_ORCHESTRA_DOCS: ProviderDocs = {
  title: "Xen Orchestra",
  topology: {
    instanceType: "`4vCPU-8GB`, or the value of a tag of the VM",
    zone: "UUID of the host, or another value by `zoneLabelFrom`",
    region: "UUID of the pool",
  },
  labels: LABEL_DESCRIPTIONS,
  providerId: {
    form: "xenorchestra://<pool UUID>/<VM UUID>",
    meaning:
      "The VM, and the pool where Landfall first found it. The ID does not change when the VM moves.",
  },
  example: { url: "https://xo.example.org", token: "none" },
};

/** The Secret of the Go controller and of the CSI driver. See {@linkcode ProviderInstall}. */
export const XEN_ORCHESTRA_INSTALL: ProviderInstall = {
  other: "Go controller for Xen Orchestra",
  lease: "cloud-controller-manager-xenorchestra",
  secret: "xenorchestra-cloud-controller-manager",
  example: "url: https://xo.example.com\ntoken: REPLACE-ME\n",
  variable: "XOA_URL",
};
