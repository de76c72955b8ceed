/**
 * Just enough OpenAPI for kubectl to see that the server itself checks fields.
 * @module
 */
import type { JsonObject } from "../patches/json.ts";
import { apiVersionOf, type Kind } from "./kind.ts";
import { KINDS } from "./kinds.ts";

/** The document at `/openapi/v3` or `/openapi/v3/<api path>`; `undefined` for any other path. */
export function openApiAt(pathname: string, all: readonly Kind[] = KINDS): JsonObject | undefined {
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
