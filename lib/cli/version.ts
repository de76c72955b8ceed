/**
 * The version of this program.
 * @module
 */
import manifest from "../../package.json" with { type: "json" };

/** `--define` of the build sets it. Source that runs without a build has none. */
declare const LANDFALL_COMMIT: string | undefined;

/** As in package.json. */
export const VERSION: string = manifest.version;

/** The commit of git that was built, ending in `-dirty` if files had changed; `unknown` outside a build from git. */
export const COMMIT: string =
  typeof LANDFALL_COMMIT === "string" && LANDFALL_COMMIT !== "" ? LANDFALL_COMMIT : "unknown";
