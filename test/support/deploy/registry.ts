/**
 * A registry on loopback that serves one OCI layout, and takes nothing.
 *
 * https://github.com/opencontainers/distribution-spec/blob/v1.1.0/spec.md
 * @module
 */
import type { LayoutReader, LayoutDescriptor } from "./layouts.ts";

/** A registry that runs. */
interface Registry extends AsyncDisposable {
  /** `127.0.0.1:<port>`. */
  readonly host: string;
}

/** Starts a registry with what a layout has under a tag. Any repository name will do. */
export function startRegistry(layout: LayoutReader, tag: string): Registry {
  const descriptors = new Map<string, LayoutDescriptor>();
  const add = (descriptor: LayoutDescriptor): void => {
    descriptors.set(descriptor.digest, descriptor);
    if (descriptor.mediaType.endsWith(".index.v1+json")) {
      layout.readIndex(descriptor).manifests.forEach(add);
    } else if (descriptor.mediaType.endsWith(".manifest.v1+json")) {
      const { config, layers } = layout.readManifest(descriptor);
      [config, ...layers].forEach(add);
    }
  };
  const root = layout.readRoot(tag);
  add(root);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const { pathname } = new URL(url);
      if (pathname === "/v2/") return new Response("{}");
      const [, reference = ""] = /^\/v2\/.+\/(?:manifests|blobs)\/([^/]+)$/.exec(pathname) ?? [];
      const found = reference === tag ? root : descriptors.get(reference);
      if (found === undefined) return new Response("{}", { status: 404 });
      const headers = { "content-type": found.mediaType, "docker-content-digest": found.digest };
      return new Response(new Uint8Array(layout.readBlob(found)), { headers });
    },
  });
  return {
    host: `127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
