/**
 * What a process is made of and how it runs, as the command line and the configuration say.
 * @module
 */
import type { Announcer } from "./announcer.ts";
import type { Configuration } from "./reload.ts";
import type { Provider } from "../cloud/provider.ts";
import type { SectionValues } from "../cloud/settings/section.ts";
import type { FlagValues } from "../controllers/flags.ts";
import type { LoadedController } from "../controllers/load.ts";
import type { Clock } from "../core/clock.ts";
import type { Fence } from "../core/fence.ts";
import type { Logger } from "../core/log.ts";
import type { MetricsRegistry } from "../core/metrics.ts";
import type { Notifier } from "../host/notify.ts";
import type { ListenAddress } from "../http/sockets/listen_address.ts";
import type { KubeClient } from "../kube/api/client.ts";
import type { ElectionTimes } from "../kube/election/leader.ts";
import type { LeaseName } from "../kube/election/lease.ts";
import type { Recovery } from "../kube/api/recovery.ts";

/** The Lease that replicas agree by, and its times. */
export type ElectionSettings = LeaseName & ElectionTimes;

/** Leader election, with a client of its own: no other request may keep a renewal waiting. */
export interface ElectionOptions extends ElectionSettings {
  readonly client: KubeClient;
}

/** The HTTPS port. */
export interface SecureSettings {
  readonly address: ListenAddress;
  /** Files with certificate and key in PEM; absent: a certificate is made at the start. */
  readonly certFile?: string;
  readonly keyFile?: string;
  /** Paths that need no token; a `*` at the end stands for any text. */
  readonly alwaysAllowPaths: readonly string[];
}

/** What the process is made of and how it runs. */
export interface AppOptions {
  /** The cloud; absent: no controller that runs needs one. */
  readonly provider?: Provider;
  readonly client: KubeClient;
  /** What `provider` asks before it changes the cloud; the controllers ask it, too. @default {one of their own} */
  readonly fence?: Fence;
  /** What the clients tell when a kept connection was silent. @default {they report it to no part} */
  readonly recovery?: Recovery;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Name of this host, for Events. */
  readonly host: string;
  /** The controllers that run. */
  readonly controllers: readonly LoadedController[];
  /** How many Nodes are worked on at once. */
  readonly concurrentNodeSyncs: number;
  /** Of the controllers' own flags. */
  readonly flags: FlagValues;
  /** Of the controllers' sections. @default {what each has without a file} */
  readonly sections?: SectionValues;
  /** The file that `provider` and `sections` came from, to be followed; absent: there is none. */
  readonly configuration?: Configuration;
  /** Speaks of the process itself; absent: the log must do. */
  readonly announcer?: Announcer;
  /** Where probes, metrics and debug pages are served; absent: nowhere. */
  readonly debugAddress?: ListenAddress;
  /** The HTTPS port and who may look; absent: there is none. */
  readonly secure?: SecureSettings;
  /** Most connections of each listener. @default {128} */
  readonly connectionsMax?: number;
  /** What `/configz` shows: flags and their values, none of them a secret. Absent: there is no such page. */
  readonly configz?: Readonly<Record<string, string>>;
  /** How replicas agree on one that acts; absent: this process acts at once, and is the only one. */
  readonly election?: ElectionOptions;
  /** The way to the service manager; absent: none wants to be told. */
  readonly notifier?: Notifier;
  /** Told once `debugAddress` is served, with the port that it really has. */
  readonly onDebugListening?: (address: ListenAddress) => void;
}
