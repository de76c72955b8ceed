/**
 * Paths that are not objects: version, health, the list of kinds, and just enough OpenAPI for kubectl.
 * @module
 */
import { noSuchPath } from "../api_error.ts";
import type { Json, JsonObject } from "../patches/json.ts";
import { apiVersionOf, type Kind } from "./kind.ts";
import { KINDS } from "./kinds.ts";

/** Of the API server that the contract holds it against. */
const NEWEST = "1.37.2";
const [MAJOR = "", MINOR = ""] = NEWEST.split(".");
const VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"];
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/**
 * Answers `/version`, the health checks and discovery, old and aggregated.
 *
 * @param kinds What it serves now. @default {the built-in kinds}
 * @throws ApiError 404 for any other path
 */
export function discover(
  pathname: string,
  request: Request,
  kinds: readonly Kind[] = KINDS,
): Response {
  if (["/healthz", "/livez", "/readyz"].includes(pathname)) return new Response("ok");
  const accept = (request.headers.get("accept") ?? "").replaceAll(" ", "");
  if ((pathname === "/api" || pathname === "/apis") && accept.includes(AGGREGATED)) {
    return json(aggregated(kinds, pathname === "/api"), AGGREGATED);
  }
  if (pathname === "/version") return json(VERSION, "application/json");
  if (pathname === "/openapi/v2") return new Response(OPENAPI_V2, { headers: OPENAPI_V2_HEADERS });
  const body = openApiAt(pathname, kinds) ?? documentAt(kinds, pathname);
  if (body === undefined) throw noSuchPath();
  return json(body, "application/json");
}

function json(body: Json, type: string): Response {
  return new Response(JSON.stringify(body), { headers: { "content-type": type } });
}

function documentAt(all: readonly Kind[], pathname: string): JsonObject | undefined {
  if (pathname === "/api") return { kind: "APIVersions", versions: ["v1"] };
  if (pathname === "/apis") {
    return {
      kind: "APIGroupList",
      apiVersion: "v1",
      groups: groupsOf(all).map((group) => groupInfo(all, group)),
    };
  }
  const match = /^\/(?:api|apis\/([^/]+))\/([^/]+)$/.exec(pathname);
  const [, group = "", version = ""] = match ?? [];
  const kinds = all.filter((kind) => kind.group === group && kind.version === version);
  const [first] = kinds;
  if (match !== null && first !== undefined) {
    const head = { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersionOf(first) };
    return { ...head, resources: kinds.flatMap(resourcesOf) };
  }
  const named = /^\/apis\/([^/]+)$/.exec(pathname)?.[1];
  if (named === undefined || !groupsOf(all).includes(named)) return undefined;
  return { kind: "APIGroup", apiVersion: "v1", ...groupInfo(all, named) };
}

// Clients compare their own version with it.
const VERSION: JsonObject = {
  major: MAJOR,
  minor: MINOR,
  gitVersion: `v${NEWEST}-simulated`,
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "2026-01-01T00:00:00Z",
  goVersion: "none",
  compiler: "none",
  platform: "none",
};

function groupsOf(all: readonly Kind[]): readonly string[] {
  return [...new Set(all.map((kind) => kind.group))].filter((group) => group !== "");
}

function groupInfo(all: readonly Kind[], group: string): JsonObject {
  const versions = [...new Set(all.filter((kind) => kind.group === group).map(apiVersionOf))].map(
    (groupVersion) => ({ groupVersion, version: groupVersion.split("/")[1] ?? "" }),
  );
  return { name: group, versions, preferredVersion: versions[0] ?? {} };
}

function resourcesOf(kind: Kind): readonly JsonObject[] {
  const base = { singularName: kind.singular, namespaced: kind.namespaced, kind: kind.kind };
  const main = { name: kind.plural, ...base, verbs: VERBS, shortNames: kind.shortNames };
  if (!kind.hasStatus) return [main];
  const verbs = ["get", "patch", "update"];
  return [main, { ...base, name: `${kind.plural}/status`, singularName: "", verbs }];
}

function aggregated(all: readonly Kind[], isCore: boolean): JsonObject {
  const groups = isCore ? [""] : groupsOf(all);
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map((group) => {
      const kinds = all.filter((kind) => kind.group === group);
      const versions = [...new Set(kinds.map((kind) => kind.version))].map((version) => ({
        version,
        resources: kinds.filter((kind) => kind.version === version).map(discoveryOf),
        freshness: "Current",
      }));
      return { metadata: group === "" ? {} : { name: group }, versions };
    }),
  };
}

function discoveryOf(kind: Kind): JsonObject {
  const responseKind = { group: kind.group, version: kind.version, kind: kind.kind };
  const subresources = kind.hasStatus
    ? [{ subresource: "status", responseKind, verbs: ["get", "patch", "update"] }]
    : [];
  return {
    resource: kind.plural,
    responseKind,
    scope: kind.namespaced ? "Namespaced" : "Cluster",
    singularResource: kind.singular,
    verbs: VERBS,
    shortNames: kind.shortNames,
    subresources,
  };
}

/** No kind is in it: a client that asks for one that the server lacks says so then, and not that it has no OpenAPI. */
const OPENAPI_V2 = new Uint8Array([0x0a, 3, ...new TextEncoder().encode("2.0")]);
const OPENAPI_V2_HEADERS = {
  "content-type": "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
};

/** The document at `/openapi/v3` or `/openapi/v3/<api path>`; `undefined` for any other path. */
function openApiAt(pathname: string, all: readonly Kind[] = KINDS): JsonObject | undefined {
  const roots = [...new Set(all.map(rootOf))];
  if (pathname === "/openapi/v3") {
    const paths = roots.map(
      (root) => [root, { serverRelativeURL: `/openapi/v3/${root}` }] as const,
    );
    return { paths: Object.fromEntries(paths) };
  }
  const root = pathname.slice("/openapi/v3/".length);
  if (!pathname.startsWith("/openapi/v3/") || !roots.includes(root)) return undefined;
  const kinds = all.filter((kind) => rootOf(kind) === root);
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "v1.35.0" },
    paths: Object.fromEntries(kinds.map((kind) => [pathOf(kind), toOperations(kind)])),
    components: { schemas: {} },
  };
}

function rootOf(kind: Kind): string {
  return `${kind.group === "" ? "api" : "apis"}/${apiVersionOf(kind)}`;
}

function pathOf(kind: Kind): string {
  const namespace = kind.namespaced ? "/namespaces/{namespace}" : "";
  return `/${rootOf(kind)}${namespace}/${kind.plural}/{name}`;
}

function toOperations(kind: Kind): JsonObject {
  const patch = {
    "x-kubernetes-group-version-kind": {
      group: kind.group,
      version: kind.version,
      kind: kind.kind,
    },
    // A client that finds this parameter lets the server check fields.
    parameters: ["fieldValidation", "dryRun"].map((name) => ({
      name,
      in: "query",
      schema: { type: "string" },
    })),
    responses: {},
  };
  return { patch };
}
