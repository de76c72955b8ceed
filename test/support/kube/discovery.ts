/**
 * What an API server says of what it serves.
 * @module
 */

/** What an API server answers by path that serves these resources, by group and version, beside those of the core. */
export function toDiscovery(
  groups: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>,
): Readonly<Record<string, unknown>> {
  const lists = Object.entries(groups).map(([name, versions]) => ({
    name,
    versions: Object.keys(versions).map((version) => ({
      groupVersion: `${name}/${version}`,
      version,
    })),
  }));
  const documents = Object.entries(groups).flatMap(([group, versions]) =>
    Object.entries(versions).map(([version, names]) => {
      const resources = names.map((name) => ({ name, namespaced: true, kind: "Gallery" }));
      const groupVersion = `${group}/${version}`;
      const document = { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources };
      return [`/apis/${groupVersion}`, document] as const;
    }),
  );
  const root = { kind: "APIGroupList", apiVersion: "v1", groups: lists };
  return { "/apis": root, ...Object.fromEntries(documents) };
}
