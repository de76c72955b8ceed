/**
 * What the documents say of Apache CloudStack.
 * @module
 */
import type { ProviderDocs, ProviderInstall } from "../../cloud/provider_definition.ts";
import { LOAD_BALANCER_DOCS } from "./load_balancers/docs.ts";

/** See {@linkcode ProviderDocs}. */
export const CLOUDSTACK_DOCS: ProviderDocs = {
  title: "Apache CloudStack",
  file:
    "The INI file of the Apache provider, or a YAML file with the keys of the table. In the INI file a key is\n" +
    "written with dashes, such as `api-url` for `apiUrl`. All keys are in the section `[Global]`, except those of a\n" +
    "block: `addresses.mode` is `mode` in `[Addresses]`, and `deletion.trustEmptyAnswer` is `trust-empty-answer` in\n" +
    "`[Deletion]`. The settings of every cloud are written in the same way: `deletion.holdOff` is `hold-off` in\n" +
    "`[Deletion]`, and `outOfService.graceDuration` is `grace-duration` in `[OutOfService]`. Upper and lower case\n" +
    "are the same. If a key occurs more than once, its last line counts, with a warning; each line of a list adds\n" +
    "to it.\n\n" +
    "[Configure for CloudStack](../guides/configure-cloudstack.md) has examples.\n\n" +
    "`--cloud-provider=cloudstack` is another name for this cloud.",
  topology: {
    instanceType: "Name of the service offering, as `instanceTypeStyle` says",
    zone: "Name of the zone",
    region: "The setting `region`, or else the name of the zone",
  },
  providerId: {
    form: "external-cloudstack://<VM UUID>",
    meaning:
      "The VM. Landfall also reads `cloudstack:///<VM UUID>` and `cloudstack://<region>/<VM UUID>`. A Node with the " +
      "text `external-cloudstack`, which version 1.1 of the Apache provider wrote, is found by its name.",
  },
  loadBalancers: LOAD_BALANCER_DOCS,
  example: {
    apiUrl: "https://cloudstack.example.org/client/api",
    apiKey: "none",
    secretKey: "none",
  },
};

/** The Secret of the Apache provider. See {@linkcode ProviderInstall}. */
export const CLOUDSTACK_INSTALL: ProviderInstall = {
  other: "Apache provider",
  lease: "cloud-controller-manager",
  serviceLease: "cloudstack-service-controller",
  controllers: ["service"],
  secret: "cloudstack-secret",
  key: "cloud-config",
  folder: "cloudstack",
  example:
    "[Global]\n" +
    "api-url = https://cloudstack.example.com/client/api\n" +
    "api-key = REPLACE-ME\n" +
    "secret-key = REPLACE-ME\n",
};
