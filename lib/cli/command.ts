/**
 * What the command line gives to every command.
 * @module
 */
import type { ProviderRegistry } from "../cloud/provider_definition.ts";
import type { ControllerDefinition } from "../controllers/definition.ts";
import type { Clock } from "../core/clock.ts";
import type { LogPipe } from "../host/log_pipe.ts";

/** What the command line gives to every command. */
export interface CommandContext {
  /** How the program is called: `kubectl landfall` if it is installed as a plugin. @default {"landfall"} */
  readonly program?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to standard output, without adding a newline. */
  readonly print: (text: string) => void;
  /** Whether all that was printed could be written: a reader such as `head` may be gone. @default {it could} */
  readonly hasReader?: () => boolean;
  /** Writes to standard error, without adding a newline. */
  readonly complain: (text: string) => void;
  /** Width in characters of the terminal behind `print`; `undefined` if there is none. @default {no terminal} */
  readonly columns?: () => number | undefined;
  /** The pipe behind `complain`, if it is one: its reader may be slow or gone. */
  readonly logPipe?: LogPipe;
  /** The available controllers. @default {CONTROLLERS} */
  readonly controllers?: readonly ControllerDefinition[];
  /** The available clouds. @default {PROVIDERS} */
  readonly providers?: ProviderRegistry;
  /** Time for everything in the demo. @default {systemClock} */
  readonly clock?: Clock;
}
