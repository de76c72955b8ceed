/**
 * Builds answers in the form of Xen Orchestra: indented JSON with an ETag, JSON errors, HTML for unknown routes.
 * @module
 */
import { hash } from "node:crypto";

const JSON_TYPE = "application/json; charset=utf-8";
const HTML_TYPE = "text/html; charset=utf-8";

/**
 * JSON with an indent of two spaces and a weak ETag; 304 if the client has this version and does not send `no-cache`.
 */
export function toJson(body: unknown, status: number = 200, request?: Request): Response {
  const text = JSON.stringify(body, undefined, 2) ?? "";
  const etag = toEtag(text);
  const headers: Record<string, string> = { etag, vary: "Accept-Encoding" };
  if (status === 401) headers["www-authenticate"] = 'Basic realm="xo"';
  if (status === 200 && request && isFresh(request.headers, etag)) {
    return new Response(undefined, { status: 304, headers });
  }
  headers["content-type"] = JSON_TYPE;
  headers["content-length"] = String(Buffer.byteLength(text));
  return new Response(text, { status, headers });
}

/** The 404 of an object that does not exist or is not shown. */
export function toNotFound(id: string, type: string): Response {
  return toJson({ error: `no such ${type} ${id}`, data: { id, type } }, 404);
}

/** The 403 of an object that the user has no right to see. */
export function toForbidden(objectId: string, resource: string): Response {
  const missingPrivileges = [{ objectId, action: "read", resource }];
  return toJson({ error: "not enough privileges", data: { missingPrivileges } }, 403);
}

/** The page of a route that does not exist. */
export function toUnknownRoute(method: string, path: string): Response {
  return toHtml(404, "Error", `Cannot ${method} ${path}`);
}

/** An HTML page. */
export function toHtml(status: number, title: string, text: string): Response {
  const page = [
    "<!DOCTYPE html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<title>${title}</title>`,
    "</head>",
    "<body>",
    `<pre>${text}</pre>`,
    "</body>",
    "</html>",
    "",
  ].join("\n");
  const headers = { "content-type": HTML_TYPE, "content-length": String(Buffer.byteLength(page)) };
  return new Response(page, { status, headers });
}

/** The error that Xen Orchestra sends with another status. */
export function toStatus(status: number, retryAfterSeconds?: number): Response {
  const errors: Readonly<Record<number, string>> = {
    401: "invalid credentials",
    403: "not enough privileges",
    429: "too many requests",
    500: "internal error",
    503: "service unavailable",
  };
  const response = toJson({ error: errors[status] ?? `status ${status}` }, status);
  if (retryAfterSeconds !== undefined)
    response.headers.set("retry-after", String(retryAfterSeconds));
  return response;
}

/** Whether the client has this version, by the rules of Express. */
function isFresh(headers: Headers, etag: string): boolean {
  if (/(?:^|,)\s*no-cache\s*(?:,|$)/.test(headers.get("cache-control") ?? "")) return false;
  const wanted = (headers.get("if-none-match") ?? "").split(",").map((one) => one.trim());
  return wanted.some((one) => one === "*" || one === etag || `W/${one}` === etag);
}

function toEtag(text: string): string {
  const digest = hash("sha1", text, "base64").slice(0, 27);
  return `W/"${Buffer.byteLength(text).toString(16)}-${digest}"`;
}
