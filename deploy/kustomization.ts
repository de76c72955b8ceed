/**
 * The kustomization.yaml of the manifests: the one place where users set their image.
 * @module
 */
import { IMAGE, WRITTEN } from "./names.ts";
import { type Comments, toYaml, toYamlFile } from "./yaml.ts";

const COMMENTS: Comments = {
  "images.0.newName":
    "Replace this by the name of your image, for example registry.example.org/landfall.",
  "images.0.newTag":
    "To pin the image, replace newTag by its digest, which the file digest of the install guide has,\n" +
    "or landfall-VERSION-image.digest of npm run release:\n" +
    "digest: sha256:…",
};

const HEAD = `Set your image here, then apply this folder: kubectl apply -k .

Build the image and push it to your registry first: docs/guides/install.md.`;

const OF_CLOUD: Comments = {
  resources: "Or deployment.yaml, for clusters whose control planes are not Nodes.",
};

/** Renders the file of a cloud. */
export function renderKustomization(): string {
  return renderResources({ resources: ["daemonset.yaml"] }, OF_CLOUD);
}

/** Renders a component with one file. */
export function renderComponent(file: string): string {
  const [apiVersion, kind] = ["kustomize.config.k8s.io/v1alpha1", "Component"];
  return toYamlFile(WRITTEN, [toYaml({ apiVersion, kind, resources: [file] })]);
}

/** Renders the file for these files and components of its folder. */
export function renderResources(
  parts: { readonly resources: readonly string[]; readonly components?: readonly string[] },
  comments: Comments = {},
): string {
  const kustomization = {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    ...parts,
    images: [{ name: IMAGE.repository, newName: IMAGE.repository, newTag: IMAGE.tag }],
  };
  return toYamlFile(HEAD, [toYaml(kustomization, { ...comments, ...COMMENTS })]);
}
