/**
 * What the documents say of Apache CloudStack.
 * @module
 */
import type { ProviderDocs, ProviderInstall } from "../../cloud/provider_definition.ts";

/** See {@linkcode ProviderDocs}. */
export const CLOUDSTACK_DOCS: ProviderDocs = {
  title: "Apache CloudStack",
  topology: {
    instanceType: "name of the service offering, as `instanceTypeStyle` says",
    zone: "name of the zone",
    region: "`region`, or the name of the zone",
  },
  providerId: {
    form: "external-cloudstack://<VM UUID>",
    meaning: "The VM. It is what the Apache provider writes since 1.2.0.",
  },
  example: {
    apiUrl: "https://cloudstack.example.org/client/api",
    apiKey: "none",
    secretKey: "none",
  },
};

/** The Secret of the Apache provider. See {@linkcode ProviderInstall}. */
export const CLOUDSTACK_INSTALL: ProviderInstall = {
  secret: "cloudstack-secret",
  example: [
    "[Global]",
    "api-url = https://cloudstack.example.com/client/api",
    "api-key = REPLACE-ME",
    "secret-key = REPLACE-ME",
    "",
  ].join("\n"),
};
