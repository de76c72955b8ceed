/**
 * Apache CloudStack.
 * @module
 */
import type { ProviderDefinition } from "../../cloud/provider_definition.ts";
import { CLOUDSTACK_DOCS, CLOUDSTACK_INSTALL } from "./docs.ts";
import { type CloudStackSettings, parseCloudStackConfig } from "./settings/config.ts";
import { describeSettings } from "./settings/config_schema.ts";
import { INI_SYNTAX } from "./settings/ini_syntax.ts";

/** Its name and settings. The file is the INI file of the Apache provider, or YAML. */
export const cloudStackConfig: Omit<
  ProviderDefinition<CloudStackSettings>,
  "create" | "reconfigure"
> = {
  name: "external-cloudstack",
  docs: CLOUDSTACK_DOCS,
  install: CLOUDSTACK_INSTALL,
  syntax: INI_SYNTAX,
  settings: describeSettings(),
  parseConfig: parseCloudStackConfig,
};
