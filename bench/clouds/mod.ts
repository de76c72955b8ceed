/**
 * The clouds that the benchmark can simulate.
 * @module
 */
import { join } from "node:path";

/** Name of a cloud, as `--cloud` takes it. */
export type CloudName = "xenorchestra" | "cloudstack";

/** What the benchmark has to know about a cloud. */
interface CloudKind {
  /** Its name in texts. */
  readonly title: string;
  /** Value of `--cloud-provider`. */
  readonly provider: string;
  /** Name of the settings' file. */
  readonly file: string;
  /** The settings. @param folder Where the secrets are, each in a file of its name */
  readonly toSettings: (url: string, folder: string) => string;
  /** Whether Nodes show on which host their machine runs, so that a live migration changes them. */
  readonly showsHosts: boolean;
}

/** Every cloud. */
export const CLOUDS: Readonly<Record<CloudName, CloudKind>> = {
  xenorchestra: {
    title: "Xen Orchestra",
    provider: "xenorchestra",
    file: "cloud.yaml",
    toSettings: (url, folder) => `url: ${url}\ntokenFile: ${join(folder, "token")}\n`,
    showsHosts: true,
  },
  cloudstack: {
    title: "Apache CloudStack",
    provider: "external-cloudstack",
    file: "cloud.ini",
    toSettings: (url, folder) =>
      `[Global]\napi-url = ${url}\napi-key-file = ${join(folder, "apiKey")}\n` +
      `secret-key-file = ${join(folder, "secretKey")}\n`,
    showsHosts: false,
  },
};

/** Every name, the default first. */
export const CLOUD_NAMES: readonly CloudName[] = ["xenorchestra", "cloudstack"];

/** Reads a name. @throws {Error} for a cloud that the benchmark does not have */
export function readCloudName(flag: string, text: string): CloudName {
  const name = CLOUD_NAMES.find((one) => one === text);
  if (name !== undefined) return name;
  throw new Error(`${flag}: there is no "${text}"; there are ${CLOUD_NAMES.join(", ")}`);
}
