/**
 * The documents' text about the inventory file as a cloud.
 * @module
 */
import type { ProviderDocs } from "../../cloud/provider_definition.ts";

/** See {@linkcode ProviderDocs}. */
export const STATIC_DOCS: ProviderDocs = {
  title: "inventory file",
  topology: { instanceType: "`type`", zone: "`zone`", region: "`region`" },
  providerId: {
    form: "static://<id>",
    meaning: "The instance of an inventory file; `scheme` changes the first word.",
  },
  example: { instances: [] },
};
