/**
 * The real cloud that the environment names for contracts.
 * @module
 */
import { readFile } from "node:fs/promises";

/** Where contracts may make, change and delete things: an address and keys in a shell are not enough. */
const PERMISSION = "LANDFALL_CHANGE_REAL_CLOUD";

/** A real cloud, or why the double is judged. */
type Found = { readonly url: string; readonly secret: string } | { readonly whyDouble: string };

/**
 * Finds the cloud that two variables name: its address, and a file with its keys.
 *
 * @throws Error that names the variable which is missing or wrong
 */
export async function findRealCloud(urlName: string, fileName: string): Promise<Found> {
  const { [urlName]: url, [fileName]: file, [PERMISSION]: permission } = process.env;
  if (permission && permission !== "yes") {
    throw new Error(`${PERMISSION}: must be "yes" or not set, but is "${permission}"`);
  }
  if (!url && !file) return { whyDouble: `${urlName} and ${fileName} are not set` };
  if (!url || !file) throw new Error(`${url ? fileName : urlName}: must be set, too`);
  if (!permission) return { whyDouble: `${PERMISSION} is not "yes"` };
  if (!URL.canParse(url)) throw new Error(`${urlName}: must be a URL, but is "${url}"`);
  return { url, secret: await readKeys(fileName, file) };
}

/** Reads the file that a variable names. @throws Error that names the variable */
export async function readKeys(variable: string, file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    throw new Error(`${variable}: cannot read "${file}"`, { cause: error });
  }
}
