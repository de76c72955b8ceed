/**
 * The schemas of our resources, and the document that lists them for clients of OData. The standard wants it from every
 * service, from everyone and as XML.
 * @module
 */

/** Where the standard's schemas are. Clients may read them there. */
const PLACE = "http://redfish.dmtf.org/schemas/v1";

/** The version of each schema. */
const VERSIONS = {
  ServiceRoot: "v1_16_0",
  AccountService: "v1_15_0",
  Role: "v1_3_0",
  ComputerSystem: "v1_20_0",
  Processor: "v1_18_0",
  EthernetInterface: "v1_10_0",
  Manager: "v1_19_0",
  SessionService: "v1_1_9",
  Session: "v1_7_0",
  Message: "v1_1_2",
  VirtualMedia: "v1_6_0",
} as const;
/** What collections are of. */
const MEMBERS = [
  "ComputerSystem",
  "EthernetInterface",
  "Manager",
  "Processor",
  "Role",
  "Session",
  "VirtualMedia",
] as const;
/** What a collection is of. */
export type Member = (typeof MEMBERS)[number];

/** Returns the type of a resource, with the version of its schema: `#Manager.v1_19_0.Manager`. */
export function toType(name: keyof typeof VERSIONS): string {
  return `#${name}.${VERSIONS[name]}.${name}`;
}

/** Returns the type of a collection, which has no version: `#ManagerCollection.ManagerCollection`. */
export function toCollectionType(member: Member): string {
  return `#${member}Collection.${member}Collection`;
}

/** The header that says where the schema of a resource is. @param type As {@linkcode toType} returns it */
export function toSchemaLink(type: string): string {
  const file = type.slice(1, type.lastIndexOf("."));
  return `<${PLACE}/${file}.json>; rel=describedby`;
}

/** Renders the document, in CSDL: the schemas, and the container of what the root leads to. */
export function renderMetadata(): string {
  const references = [
    ...Object.entries(VERSIONS).map(([name, version]) => {
      // The container is that of the first version.
      const first = name === "ServiceRoot" ? [`${name}.v1_0_0`] : [];
      return toReference(name, [name, ...first, `${name}.${version}`]);
    }),
    ...MEMBERS.map((member) => toReference(`${member}Collection`, [`${member}Collection`])),
    toReference("RedfishExtensions", ["RedfishExtensions.v1_0_0"], "Redfish"),
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>
<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">
${references.join("\n")}
  <edmx:DataServices>
    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Service">
      <EntityContainer Name="Service" Extends="ServiceRoot.v1_0_0.ServiceContainer"/>
    </Schema>
  </edmx:DataServices>
</edmx:Edmx>
`;
}

function toReference(file: string, namespaces: readonly string[], alias?: string): string {
  const more = alias === undefined ? "" : ` Alias="${alias}"`;
  const includes = namespaces.map((one) => `    <edmx:Include Namespace="${one}"${more}/>`);
  return [
    `  <edmx:Reference Uri="${PLACE}/${file}_v1.xml">`,
    ...includes,
    "  </edmx:Reference>",
  ].join("\n");
}
