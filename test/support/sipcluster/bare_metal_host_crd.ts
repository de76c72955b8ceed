/**
 * A CustomResourceDefinition of BareMetalHosts for tests, after the fields that metal3 has: an API server with it
 * refuses and drops what metal3's refuses and drops.
 * @module
 */

type Schema = Readonly<Record<string, unknown>>;

const TEXT: Schema = { type: "string" };
/** The API server of the tests (1.20, built with a newer Go) takes an empty text for null. */
const TEXT_OR_EMPTY: Schema = { ...TEXT, nullable: true };
const TIME: Schema = { type: "string", format: "date-time" };
const NUMBER: Schema = { type: "integer" };
const SWITCH: Schema = { type: "boolean" };
/** Fields that no test looks into. */
const ANYTHING: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

function object(properties: Readonly<Record<string, Schema>>, required: string[] = []): Schema {
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}

function oneOf(...words: string[]): Schema {
  return { type: "string", enum: words };
}

function list(items: Schema): Schema {
  return { type: "array", items };
}

/** Names a Secret; metal3 demands the namespace of the host if there is one. */
const SECRET = object({ name: TEXT, namespace: TEXT });
const REFERENCE = object({
  apiVersion: TEXT,
  fieldPath: TEXT,
  kind: TEXT,
  name: TEXT,
  namespace: TEXT,
  resourceVersion: TEXT,
  uid: TEXT,
});
const IMAGE = object(
  { url: TEXT, checksum: TEXT, checksumType: TEXT, format: oneOf("raw", "qcow2", "live-iso") },
  ["url"],
);
const BOOT_MODE = oneOf("UEFI", "UEFISecureBoot", "legacy");

const SPEC = object(
  {
    architecture: TEXT,
    automatedCleaningMode: oneOf("metadata", "disabled"),
    bmc: object({ address: TEXT, credentialsName: TEXT, disableCertificateVerification: SWITCH }, [
      "address",
      "credentialsName",
    ]),
    bootMACAddress: { type: "string", pattern: "[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}" },
    bootMode: BOOT_MODE,
    consumerRef: REFERENCE,
    customDeploy: object({ method: TEXT }, ["method"]),
    description: TEXT,
    disablePowerOff: SWITCH,
    externallyProvisioned: SWITCH,
    hardwareProfile: TEXT,
    image: IMAGE,
    inspectionMode: oneOf("disabled", "agent", "fast"),
    metaData: SECRET,
    networkData: SECRET,
    online: SWITCH,
    preprovisioningNetworkDataName: TEXT,
    raid: ANYTHING,
    rootDeviceHints: object({ deviceName: TEXT, model: TEXT, minSizeGigabytes: NUMBER, wwn: TEXT }),
    taints: list(ANYTHING),
    userData: SECRET,
  },
  ["online"],
);

const STATUS = object(
  {
    conditions: list(ANYTHING),
    errorCount: { type: "integer", default: 0 },
    errorMessage: TEXT_OR_EMPTY,
    errorType: oneOf(
      "provisioned registration error",
      "registration error",
      "inspection error",
      "preparation error",
      "provisioning error",
      "power management error",
      "servicing error",
    ),
    goodCredentials: ANYTHING,
    hardware: ANYTHING,
    lastUpdated: TIME,
    operationHistory: ANYTHING,
    operationalStatus: oneOf("OK", "discovered", "error", "delayed", "detached", "servicing"),
    poweredOn: SWITCH,
    provisioning: object(
      {
        ID: TEXT_OR_EMPTY,
        bootMode: BOOT_MODE,
        image: object({ url: TEXT, checksum: TEXT, format: TEXT }),
        rootDeviceHints: ANYTHING,
        state: TEXT,
      },
      ["ID", "state"],
    ),
    triedCredentials: ANYTHING,
  },
  ["errorCount", "errorMessage", "operationalStatus", "poweredOn", "provisioning"],
);

/** The CustomResourceDefinition. */
export const BARE_METAL_HOST_CRD: Schema = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "baremetalhosts.metal3.io" },
  spec: {
    group: "metal3.io",
    scope: "Namespaced",
    names: {
      kind: "BareMetalHost",
      listKind: "BareMetalHostList",
      plural: "baremetalhosts",
      shortNames: ["bmh", "bmhost"],
      singular: "baremetalhost",
    },
    versions: [
      {
        name: "v1alpha1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: object({ spec: SPEC, status: STATUS }) },
      },
    ],
  },
};

/** A whole status, which metal3 writes and an API server demands. @param state `available`, `provisioned` */
export function toHostStatus(state: string, errorMessage = ""): Schema {
  return {
    errorCount: errorMessage === "" ? 0 : 1,
    errorMessage,
    operationalStatus: errorMessage === "" ? "OK" : "error",
    poweredOn: true,
    provisioning: { ID: "", state },
  };
}
