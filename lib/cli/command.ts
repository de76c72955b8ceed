/**
 * What every command of the command line is given.
 * @module
 */
import type { ProviderRegistry } from "../cloud/provider_definition.ts";
import type { ControllerDefinition } from "../controllers/definition.ts";
import type { LogPipe } from "../host/log_pipe.ts";

/** What a command is given. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to standard output, without adding a newline. */
  readonly print: (text: string) => void;
  /** Writes to standard error, without adding a newline. */
  readonly complain: (text: string) => void;
  /** What is behind `complain`, if that is a pipe that somebody may not read. */
  readonly logPipe?: LogPipe;
  /** The controllers that there are. @default {CONTROLLERS} */
  readonly controllers?: readonly ControllerDefinition[];
  /** The clouds to choose from. @default {PROVIDERS} */
  readonly providers?: ProviderRegistry;
}
