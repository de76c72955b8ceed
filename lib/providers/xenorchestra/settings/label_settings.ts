/**
 * Schema of the settings of Xen Orchestra about labels of Nodes.
 * @module
 */
import * as v from "valibot";
import {
  BLOCK,
  need,
  needText,
  parsed,
  setting,
  type SettingMessage,
  type SettingSchema,
} from "../../../cloud/settings/schema.ts";
import { explainTagPrefix } from "../../../cloud/tag_labels.ts";
import { isLabelValue, LABEL_VALUE_FORM } from "../../../core/text/label.ts";
import { parseUuid } from "../../../core/text/uuid.ts";

/** The source of a Node's zone. */
export type ZoneSource =
  | { readonly kind: "host" }
  | { readonly kind: "pool" }
  /** Landfall writes no zone label. */
  | { readonly kind: "none" }
  | { readonly kind: "hostTag"; readonly prefix: string };

/** The settings of a file about labels. A key that is not set is absent. */
export interface FileLabelSettings {
  readonly zoneLabelFrom?: ZoneSource | undefined;
  /** Labels by ID (lower case) or name of a host or pool. */
  readonly zones?: ReadonlyMap<string, string> | undefined;
  /** Labels by ID (lower case) or name of a pool. */
  readonly regions?: ReadonlyMap<string, string> | undefined;
  readonly nodeLabelsFromTags?: { readonly prefixes?: readonly string[] | undefined } | undefined;
  readonly instanceTypeTag?: string | undefined;
}

type Setting<T> = v.OptionalSchema<SettingSchema<T>, undefined>;

const LABEL_VALUE = v.pipe(
  v.string(needText),
  v.check((text) => text !== "" && isLabelValue(text), need(LABEL_VALUE_FORM)),
);

/**
 * Landfall reads a UUID in the region label as that of the pool where the VM was last seen, so it must not be another
 * name.
 */
const REGION_VALUE = v.pipe(
  LABEL_VALUE,
  v.check((text) => parseUuid(text) === undefined, need("a name, not a UUID")),
);

/** The entries for the schema of all settings. */
export const LABEL_SETTINGS: {
  readonly zoneLabelFrom: Setting<ZoneSource>;
  readonly zones: Setting<ReadonlyMap<string, string>>;
  readonly regions: Setting<ReadonlyMap<string, string>>;
  readonly nodeLabelsFromTags: v.OptionalSchema<
    v.ObjectSchema<{ readonly prefixes: Setting<string[]> }, SettingMessage>,
    undefined
  >;
  readonly instanceTypeTag: Setting<string>;
} = {
  zoneLabelFrom: setting(parsed(parseZoneSource, "host, pool, none, or hostTag:<prefix>"), {
    type: "`host`, `pool`, `hostTag:<prefix>` or `none`",
    default: "host",
    description:
      "Where the zone comes from: the host's UUID, the pool's UUID, or the text after the prefix in a " +
      "tag of the host. For a host without such a tag Landfall writes no zone label. `none`: Landfall writes no zone " +
      "label and leaves existing ones as they are.",
  }),
  zones: setting(ownNames(LABEL_VALUE), {
    type: "map of text",
    description:
      "Zone labels of your own: the UUID or name of a host or pool, and the label. The entry of a host goes before " +
      "that of its pool. Without an entry, `zoneLabelFrom` decides. If several hosts or several pools have the " +
      "same name, an entry with this name counts for none of them, and their Nodes keep their labels.",
  }),
  regions: setting(ownNames(REGION_VALUE), {
    type: "map of text",
    description:
      "Region labels of your own: the UUID or name of a pool, and the label. Without an entry the region is the " +
      "pool's UUID. Names count as in `zones`.",
  }),
  nodeLabelsFromTags: v.optional(
    v.object(
      {
        prefixes: setting(prefixes(), {
          type: "list of text",
          default: "[]",
          description:
            "VM tags of the form `key=value` become Node labels when the key begins with one of these prefixes. The " +
            "label has the whole key. Landfall removes it when the tag is removed, and never changes a label " +
            "that it did not set. It refuses keys of Kubernetes, of Xen Orchestra and of `landfall.dev/`.",
        }),
      },
      need(BLOCK),
    ),
  ),
  instanceTypeTag: setting(v.string(needText), {
    type: "text",
    description:
      "Prefix of a VM tag. The text after it is the instance type. For a VM without such a tag Landfall computes " +
      "the type, for example `4vCPU-8GB`.",
  }),
};

/** Creates the schema of a map by ID or name. IDs get the form that Xen Orchestra reports. */
function ownNames(value: v.GenericSchema<unknown, string>) {
  return v.pipe(
    v.record(v.pipe(v.string(), v.trim()), value, need("entries (UUID or name: label)")),
    v.transform(
      (names): ReadonlyMap<string, string> =>
        new Map(Object.entries(names).map(([key, label]) => [parseUuid(key) ?? key, label])),
    ),
  );
}

function prefixes() {
  const prefix = v.pipe(
    v.string(needText),
    v.rawCheck(({ dataset, addIssue }) => {
      const message = dataset.typed ? explainTagPrefix(dataset.value) : undefined;
      if (message !== undefined) addIssue({ message });
    }),
  );
  return v.array(prefix, need("a list, for example [example.com/]"));
}

function parseZoneSource(text: string): ZoneSource | undefined {
  if (text === "host" || text === "pool" || text === "none") return { kind: text };
  const [, prefix] = /^hostTag:(.+)$/.exec(text) ?? [];
  return prefix === undefined ? undefined : { kind: "hostTag", prefix };
}
