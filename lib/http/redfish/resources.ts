/**
 * The resources of the Redfish service, as JSON, with their schemas. Of machines there is only what a cloud knows: no
 * sensors, and no firmware inventory.
 *
 * The standard wants the document that lists the schemas for clients of OData from every service, from everyone and as
 * XML.
 * @module
 */
import type { ManagedMedia, ManagedReading } from "../../cloud/capabilities/machine_management.ts";
import type { MachineInterface } from "../../cloud/capabilities/machine_power.ts";
import {
  ACCOUNTS_PATH,
  DURATIONS,
  GRACEFUL,
  MANAGER_RESET_TYPES,
  MODES,
  OWN_ROLE,
  POWER_STATES,
  RESET_TYPES,
  ROLES,
  ROOT,
  type RoleId,
  SESSIONS_PATH,
  TARGETS,
  toManagerPath,
  toSystemPath,
  toTargets,
  toWord,
} from "./words.ts";

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
type Member = (typeof MEMBERS)[number];

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

const GIB = 2 ** 30;
const MAKER = "Landfall";
/** A cloud says no more about it. */
const FIRMWARE = { bios: "BIOS", uefi: "UEFI" } as const;
const HEALTHY = { State: "Enabled", Health: "OK" } as const;

/** The root. Everyone may read it, so it says nothing about machines. */
export function toRoot(): object {
  return {
    "@odata.type": toType("ServiceRoot"),
    "@odata.id": `${ROOT}/`,
    Id: "RootService",
    Name: "Root Service",
    RedfishVersion: "1.18.0",
    Vendor: MAKER,
    ProtocolFeaturesSupported: {
      ExcerptQuery: false,
      FilterQuery: false,
      OnlyMemberQuery: false,
      SelectQuery: false,
      ExpandQuery: { ExpandAll: false, Levels: false, Links: false, NoLinks: false },
    },
    AccountService: link(ACCOUNTS_PATH),
    Systems: link(`${ROOT}/Systems`),
    Managers: link(`${ROOT}/Managers`),
    SessionService: link(`${ROOT}/SessionService`),
    Links: { Sessions: link(SESSIONS_PATH) },
  };
}

/** What the root leads to, in the form of OData. */
export function toServiceDocument(): object {
  const names = ["Systems", "Managers", "SessionService"];
  const value = names.map((name) => ({ name, kind: "Singleton", url: `${ROOT}/${name}` }));
  return {
    "@odata.context": `${ROOT}/$metadata`,
    value: [{ name: "Service", kind: "Singleton", url: `${ROOT}/` }, ...value],
  };
}

/** A collection: `ComputerSystem`, `/redfish/v1/Systems` and the paths of its members. */
export function toCollection(type: Member, path: string, members: readonly string[]): object {
  return {
    "@odata.type": toCollectionType(type),
    "@odata.id": path,
    Name: `${type} Collection`,
    "Members@odata.count": members.length,
    Members: members.map(link),
  };
}

/**
 * A machine. While a guest runs that cannot be asked, graceful resets are not among the values, because they would be
 * refused.
 */
export function toSystem(
  { id, name, power, isGraceful, boot, firmware, firmwares, cpus, memoryBytes }: ManagedReading,
  hasMedia: boolean,
): object {
  const path = toSystemPath(id);
  const device = boot.device ?? "none";
  const cannotAsk = power === "running" && !isGraceful;
  const resets = Object.keys(RESET_TYPES).filter((one) => !(cannotAsk && GRACEFUL.has(one)));
  return {
    "@odata.type": toType("ComputerSystem"),
    "@odata.id": path,
    Id: id,
    UUID: id,
    Name: name,
    HostName: name,
    SystemType: "Virtual",
    Manufacturer: MAKER,
    Model: "Virtual machine",
    SerialNumber: id,
    BiosVersion: firmware === "unknown" ? null : FIRMWARE[firmware],
    Status: HEALTHY,
    PowerState: POWER_STATES[power],
    Boot: {
      BootSourceOverrideEnabled: toWord(DURATIONS, boot.duration),
      "BootSourceOverrideEnabled@Redfish.AllowableValues": Object.keys(DURATIONS),
      BootSourceOverrideTarget: toWord(TARGETS, device),
      "BootSourceOverrideTarget@Redfish.AllowableValues": Object.keys(toTargets(hasMedia)),
      BootSourceOverrideMode: firmware === "unknown" ? null : toWord(MODES, firmware),
      "BootSourceOverrideMode@Redfish.AllowableValues": firmwares.map((one) => toWord(MODES, one)),
    },
    ProcessorSummary: { Count: cpus, LogicalProcessorCount: cpus },
    MemorySummary: { TotalSystemMemoryGiB: memoryBytes / GIB },
    Processors: link(`${path}/Processors`),
    EthernetInterfaces: link(`${path}/EthernetInterfaces`),
    ...(hasMedia && { VirtualMedia: link(`${path}/VirtualMedia`) }),
    Links: { ManagedBy: [link(toManagerPath(id))] },
    Actions: {
      "#ComputerSystem.Reset": {
        target: `${path}/Actions/ComputerSystem.Reset`,
        "ResetType@Redfish.AllowableValues": resets,
      },
    },
  };
}

/** The processors of a machine: one with all its CPUs. */
export function toProcessor({ id, cpus }: Pick<ManagedReading, "id" | "cpus">): object {
  return {
    "@odata.type": toType("Processor"),
    "@odata.id": `${toSystemPath(id)}/Processors/CPU`,
    Id: "CPU",
    Name: "Virtual processors",
    ProcessorType: "CPU",
    ProcessorArchitecture: "x86",
    InstructionSet: "x86-64",
    TotalCores: cpus,
    TotalThreads: cpus,
    Status: HEALTHY,
  };
}

/** A network interface of a machine; its ID is its place in the list. */
export function toInterface(id: string, place: number, { mac, network }: MachineInterface): object {
  return {
    "@odata.type": toType("EthernetInterface"),
    "@odata.id": `${toSystemPath(id)}/EthernetInterfaces/${place}`,
    Id: String(place),
    Name: network ?? `Interface ${place}`,
    MACAddress: mac,
    PermanentMACAddress: mac,
    InterfaceEnabled: true,
    Status: HEALTHY,
  };
}

/** The manager of a machine: it stands for this service. */
export function toManager(id: string, version: string, hasMedia: boolean): object {
  return {
    "@odata.type": toType("Manager"),
    "@odata.id": toManagerPath(id),
    Id: id,
    UUID: id,
    Name: "Manager",
    ManagerType: "Service",
    Manufacturer: MAKER,
    Model: MAKER,
    FirmwareVersion: version,
    ...(hasMedia && { VirtualMedia: link(`${toManagerPath(id)}/VirtualMedia`) }),
    Status: HEALTHY,
    Links: { ManagerForServers: [link(toSystemPath(id))] },
    Actions: {
      "#Manager.Reset": {
        target: `${toManagerPath(id)}/Actions/Manager.Reset`,
        "ResetType@Redfish.AllowableValues": Object.keys(MANAGER_RESET_TYPES),
      },
    },
  };
}

/** The drive of a machine. @param path Of the resource */
export function toVirtualMedia(path: string, { name, url }: ManagedMedia): object {
  const isInserted = name !== undefined;
  return {
    "@odata.type": toType("VirtualMedia"),
    "@odata.id": path,
    Id: "Cd",
    Name: "Virtual CD",
    MediaTypes: ["CD", "DVD"],
    ConnectedVia: isInserted ? "URI" : "NotConnected",
    Inserted: isInserted,
    Image: url ?? null,
    ImageName: name ?? null,
    WriteProtected: true,
    TransferMethod: "Upload",
    Status: HEALTHY,
    Actions: {
      "#VirtualMedia.InsertMedia": { target: `${path}/Actions/VirtualMedia.InsertMedia` },
      "#VirtualMedia.EjectMedia": { target: `${path}/Actions/VirtualMedia.EjectMedia` },
    },
  };
}

/** The session service. */
export function toSessionService(timeoutSeconds: number): object {
  return {
    "@odata.type": toType("SessionService"),
    "@odata.id": `${ROOT}/SessionService`,
    Id: "SessionService",
    Name: "Session Service",
    ServiceEnabled: true,
    SessionTimeout: timeoutSeconds,
    Sessions: link(SESSIONS_PATH),
  };
}

/** The account service: what a user and a password of a machine may do. Accounts are Secrets of Kubernetes. */
export function toAccountService(): object {
  return {
    "@odata.type": toType("AccountService"),
    "@odata.id": ACCOUNTS_PATH,
    Id: "AccountService",
    Name: "Account Service",
    ServiceEnabled: true,
    Roles: link(`${ACCOUNTS_PATH}/Roles`),
  };
}

/** A role of the standard. */
export function toRole(id: RoleId): object {
  return {
    "@odata.type": toType("Role"),
    "@odata.id": `${ACCOUNTS_PATH}/Roles/${id}`,
    Id: id,
    RoleId: id,
    Name: `Role ${id}`,
    IsPredefined: true,
    AssignedPrivileges: ROLES[id],
  };
}

/** A session. It never shows its token or a password. */
export function toSession(id: string, username: string): object {
  return {
    "@odata.type": toType("Session"),
    "@odata.id": `${SESSIONS_PATH}/${id}`,
    Id: id,
    Name: "User Session",
    UserName: username,
    Roles: [OWN_ROLE],
  };
}

function link(path: string): { "@odata.id": string } {
  return { "@odata.id": path };
}
