/**
 * Reads the flags of `landfall demo`.
 * @module
 */
import { resolve } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import { isLoopbackHost } from "../../core/net/ip.ts";
import { suggest } from "../../core/text/edit_distance.ts";
import { quote } from "../../core/text/printable.ts";
import { mustBeText } from "../../core/text/values.ts";
import { type ListenAddress, parseListenAddress } from "../../core/net/listen_address.ts";
import { DEMO_FLAGS, KIND_STORIES } from "../flags/command_flags.ts";
import { parseOwnFlags } from "../flags/own.ts";

const CLOUDS = DEMO_FLAGS.find(({ name }) => name === "cloud")?.choices ?? [];

/** How the demo runs. */
export interface DemoFlags {
  /** Which story: of Nodes and Services in a cloud, or of one kind of objects. */
  readonly story: "cloud" | (typeof KIND_STORIES)[number];
  /** The simulated cloud: one of the choices. */
  readonly cloud: string;
  readonly once: boolean;
  readonly verbose: boolean;
  readonly kubeconfig?: string;
  readonly debugAddress: ListenAddress;
}

/**
 * Reads the flags.
 *
 * @returns `undefined` for `--help`
 * @throws {ConfigError} when they cannot be used
 */
export function parseDemoFlags(argv: readonly string[]): DemoFlags | undefined {
  const { given, args, isHelpWanted } = parseOwnFlags(argv, { flags: DEMO_FLAGS, argsMax: 1 });
  if (isHelpWanted) return undefined;
  const [argument] = args;
  const story = KIND_STORIES.find((one) => one === argument);
  if (argument !== undefined && story === undefined) {
    const hint = CLOUDS.includes(argument)
      ? `; did you mean --cloud=${argument}?`
      : suggest(argument, KIND_STORIES) || `; there are ${KIND_STORIES.join(" and ")}`;
    throw new ConfigError([{ message: `there is no demo ${quote(argument)}${hint}` }]);
  }
  if (story !== undefined && given.has("cloud")) {
    const message = `cannot be used with ${story}: that demo has no choice of clouds`;
    throw new ConfigError([{ source: "--cloud", message }]);
  }
  const kubeconfig = given.text("kubeconfig");
  return {
    story: story ?? "cloud",
    cloud: given.text("cloud"),
    once: given.bool("once"),
    verbose: given.bool("verbose"),
    ...(kubeconfig === "" ? {} : { kubeconfig: resolve(kubeconfig) }),
    debugAddress: toLoopback(given.text("debug-address")),
  };
}

function toLoopback(text: string): ListenAddress {
  const source = "--debug-address";
  try {
    const address = parseListenAddress(text);
    if (address.kind === "unix" || isLoopbackHost(address.host)) return address;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ConfigError([{ source, message: error.message }], { cause: error });
  }
  const message = mustBeText("a loopback address or a unix socket", text);
  throw new ConfigError([{ source, message }]);
}
