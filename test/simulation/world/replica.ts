/**
 * One replica of the cloud controller manager, with its provider and its settings file.
 * @module
 */
import { Announcer, toOwnObject } from "../../../lib/app/announcer.ts";
import { runApp } from "../../../lib/app/app.ts";
import type { AppOptions } from "../../../lib/app/options.ts";
import type { OutOfServiceSettings } from "../../../lib/cloud/deletion/streak.ts";
import { DELETION, OUT_OF_SERVICE } from "../../../lib/cloud/settings/sections.ts";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import type { ProviderDefinition } from "../../../lib/cloud/provider_definition.ts";
import { ProviderInUse } from "../../../lib/cloud/provider_in_use.ts";
import { parseProviderConfig, type ProviderConfig } from "../../../lib/config/provider_config.ts";
import { type ControllerDefinition, loadControllers } from "../../../lib/controllers/definition.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import type { Process } from "./process.ts";
import { Program, type ProgramOptions, type Running } from "./program.ts";
import { type Said, type Saying, type SettingsFile, SETTINGS_PATH } from "./settings_file.ts";

// What is loaded when it is needed takes longer the first time, and a seed tells the same story each time.
await Promise.all([import("../../../lib/config/yaml_places.ts"), import("yaml")]);

const OUT_OF_SERVICE_NAME = "cloud-node-out-of-service";
const SERVICE_NAME = "service";
const LOADED = await loadControllers(CONTROLLERS);

/** What a process says when it uses what its file says now, and when it does not. */
const TAKEN = "The configuration file changed; its settings are in use";
const REFUSED = "Cannot use the changed configuration file; keeping the old settings";

/** What a {@linkcode Replica} is part of. */
interface ReplicaOptions extends ProgramOptions {
  readonly definition: ProviderDefinition;
  readonly file: SettingsFile;
  /** Lets the out-of-service controller run, too, at first as careful as this says. */
  readonly outOfService?: OutOfServiceSettings;
  /** Flags of the controller of Services; absent: it does not run. */
  readonly serviceFlags?: Readonly<Record<string, number>>;
  /** Told when a process says that it could not take an inventory. */
  readonly onFailure: (process: Process) => void;
  /** Told when a process has a new inventory. */
  readonly onInventory: (process: Process, inventory: Inventory) => void;
  /** Told what a process says of its settings file, as it read it last. */
  readonly onSettings: (incarnation: Incarnation, isTaken: boolean) => void;
}

/** Settings in use. */
interface Use {
  readonly sinceMs: number;
  readonly said: Said;
}

/** What a process knows of the cloud. */
interface Knowledge {
  readonly askedMs: number;
  readonly said: Said;
}

/** A process and everything that belongs to it. */
export interface Incarnation extends Running {
  /** What it read last in its settings file. */
  seen: Saying;
  /** Under which settings it has been, the last in use; empty when it could use none. */
  readonly uses: Use[];
  /** When it asked for the inventory that it has in use, and by which settings; absent before the first. */
  inventory: Knowledge | undefined;
  /** When it first held the Lease, in monotonic milliseconds. */
  ledMs: number | undefined;
}

/** A replica. */
export class Replica extends Program<Incarnation, ReplicaOptions> {
  get file(): SettingsFile {
    return this.options.file;
  }

  protected create(running: Running): Incarnation {
    const { saying: seen } = this.file;
    return Object.assign(running, { seen, uses: [], inventory: undefined, ledMs: undefined });
  }

  /** @throws {ConfigError} when it cannot use its settings */
  protected async run(incarnation: Incarnation): Promise<void> {
    const { file } = this;
    const { definition } = this.options;
    const { stop, uses, process } = incarnation;
    const { said } = file.saying;
    const options = {
      path: SETTINGS_PATH,
      env: toEnvironment(process),
      definition,
      sections: [DELETION],
    };
    const config = await parseProviderConfig(file.read(process.name), options);
    if (said === undefined) throw new TypeError("It starts with settings that are wrong");
    uses.push({ sinceMs: this.options.timeline.monotonic(), said });
    await runApp(this.#toOptions(incarnation, config), stop.signal);
  }

  #toOptions(incarnation: Incarnation, current: ProviderConfig<unknown>): AppOptions {
    const { definition, onFailure, onSettings, outOfService, serviceFlags = {} } = this.options;
    const { process, stop } = incarnation;
    const base = this.toBase(incarnation, (message) => {
      if (message === "Cannot take inventory") onFailure(process);
      if (message === TAKEN || message === REFUSED) onSettings(incarnation, message === TAKEN);
    });
    const deps = { ...base, signal: stop.signal };
    const provider = new ProviderInUse(definition, current.settings, deps);
    return {
      ...base,
      provider: this.#watchInventories(provider, (askedMs, inventory) => {
        const { said } = incarnation.uses.at(-1) ?? {};
        if (said) incarnation.inventory = { askedMs, said };
        this.options.onInventory(process, inventory);
      }),
      announcer: new Announcer(toOwnObject({}, definition.name)),
      configuration: {
        path: SETTINGS_PATH,
        read: async () => {
          incarnation.seen = this.file.saying;
          return this.file.read(process.name);
        },
        env: toEnvironment(process),
        definition,
        replace: provider.replace.bind(provider),
        sections: [DELETION],
        current,
      },
      controllers: LOADED.filter(({ definition }) => this.#isChosen(definition)),
      concurrentNodeSyncs: 4,
      flags: { "node-status-update-frequency": 120_000, ...serviceFlags },
      sections: new Map<string, unknown>([
        ...current.sections,
        ...(outOfService ? [[OUT_OF_SERVICE.key, outOfService] as const] : []),
      ]),
    };
  }

  #isChosen({ name, isOffByDefault = false }: ControllerDefinition): boolean {
    const { outOfService, serviceFlags } = this.options;
    if (name === OUT_OF_SERVICE_NAME) return outOfService !== undefined;
    if (name === SERVICE_NAME) return serviceFlags !== undefined;
    return !isOffByDefault;
  }

  /** What a process knows of the cloud is as old as its inventory, and nothing outside tells how old that is. */
  #watchInventories(
    provider: Provider,
    onInventory: (askedMs: number, inventory: Inventory) => void,
  ): Provider {
    const { timeline } = this.options;
    const list = provider.listInventory.bind(provider);
    provider.listInventory = async (...asked) => {
      const askedMs = timeline.monotonic();
      const inventory = await list(...asked);
      onInventory(askedMs, inventory);
      return inventory;
    };
    return provider;
  }
}

/** The host of the URL says who asks. Where the settings hold the URL, it is in the file. */
function toEnvironment({ name }: Process): Readonly<Record<string, string>> {
  return { XOA_URL: `http://${name}.memory` };
}
