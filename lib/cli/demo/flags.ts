/**
 * The flags of `landfall demo`.
 * @module
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { ConfigError, describeError } from "../../core/errors.ts";
import { isLoopbackHost } from "../../core/net/ip.ts";
import { type ListenAddress, parseListenAddress } from "../../http/sockets/listen_address.ts";

/** What a person asked for. */
export interface DemoFlags {
  readonly once: boolean;
  readonly verbose: boolean;
  readonly kubeconfig?: string;
  readonly debugAddress: ListenAddress;
}

/** What `--help` prints. */
export const DEMO_HELP: string = `Usage: landfall demo [flags]

  --once                     play the story and exit: 0 if every step came true, else 1
  --kubeconfig=FILE          write the kubeconfig there (default: a temporary folder)
  --debug-address=HOST:PORT  where the debug pages are (default 127.0.0.1:10260; port 0 takes a free one)
  --verbose                  show the controller's log too
`;
/**
 * Reads the flags.
 *
 * @returns `undefined` when help was asked for
 * @throws {ConfigError} when they cannot be used
 */
export function parseDemoFlags(argv: readonly string[]): DemoFlags | undefined {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        once: { type: "boolean" },
        verbose: { type: "boolean" },
        help: { type: "boolean", short: "h" },
        kubeconfig: { type: "string" },
        "debug-address": { type: "string", default: "127.0.0.1:10260" },
      },
    });
    if (values.help) return undefined;
    return {
      once: values.once ?? false,
      verbose: values.verbose ?? false,
      ...(values.kubeconfig === undefined ? {} : { kubeconfig: resolve(values.kubeconfig) }),
      debugAddress: toLoopback(values["debug-address"]),
    };
  } catch (error) {
    throw new ConfigError([{ source: "demo", message: describeError(error) }]);
  }
}

function toLoopback(text: string): ListenAddress {
  const address = parseListenAddress(text);
  if (address.kind === "tcp" && !isLoopbackHost(address.host)) {
    throw new RangeError(
      `--debug-address: wanted a loopback address or a unix socket, found "${text}"`,
    );
  }
  return address;
}
