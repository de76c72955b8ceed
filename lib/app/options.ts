/**
 * Everything that a process needs to run, from the command line and the settings.
 * @module
 */
import type { Announcer } from "./announcer.ts";
import type { Provider } from "../cloud/provider.ts";
import type { ProviderInUse } from "../cloud/provider_in_use.ts";
import type { SectionValues } from "../cloud/settings/schema.ts";
import type { FollowedConfig } from "../config/config_follower.ts";
import type { FlagValues, LoadedController } from "../controllers/definition.ts";
import type { Clock } from "../core/clock.ts";
import type { Fence } from "../core/fence.ts";
import type { Logger } from "../core/log.ts";
import type { MetricsRegistry } from "../core/metrics.ts";
import type { Notifier } from "../host/notify.ts";
import type { ListenAddress } from "../core/net/listen_address.ts";
import type { KubeClient } from "../kube/api/client.ts";
import type { ElectionTimes } from "../kube/election/leader.ts";
import type { LeaseName } from "../kube/election/lease.ts";
import type { Recovery } from "../kube/api/request.ts";

/** The Lease for leader election, and its times. */
export type ElectionSettings = LeaseName & ElectionTimes;

/** The HTTPS port. */
export interface SecureSettings {
  readonly address: ListenAddress;
  /** PEM files with certificate and key; absent: Landfall makes a certificate at the start. */
  readonly certFile?: string;
  readonly keyFile?: string;
  /** Paths that need no token; a `*` at the end matches any text. */
  readonly alwaysAllowPaths: readonly string[];
}

/** The file of `--cloud-config`, and its content at the start. */
export interface Configuration extends FollowedConfig<unknown> {
  /** Uses other settings of the cloud. Absent if the process has none: the file then has only sections for it. */
  readonly replace?: ProviderInUse["replace"];
}

/** Everything that a process needs to run. */
export interface AppOptions {
  /** The cloud; absent if no chosen controller needs one. */
  readonly provider?: Provider;
  readonly client: KubeClient;
  /** `provider` and the controllers check it before they write. @default {one of their own} */
  readonly fence?: Fence;
  /** The clients report here when a kept connection was silent. @default {they do not report it} */
  readonly recovery?: Recovery;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Name of this host, for Events. */
  readonly host: string;
  /** The chosen controllers. */
  readonly controllers: readonly LoadedController[];
  /** How many Nodes a controller works on at once. */
  readonly concurrentNodeSyncs: number;
  /** Values of the controllers' own flags. */
  readonly flags: FlagValues;
  /** Settings of the controllers' sections. @default {those without a file} */
  readonly sections?: SectionValues;
  /** The file that `provider` and `sections` came from, which the process follows; absent without a file. */
  readonly configuration?: Configuration;
  /** Writes Events about this process; absent: only the log has them. */
  readonly announcer?: Announcer;
  /** Address of the debug listener, which serves probes, metrics and debug pages; absent: there is none. */
  readonly debugAddress?: ListenAddress;
  /** The HTTPS port and its access control; absent: there is none. */
  readonly secure?: SecureSettings;
  /** How many connections each listener takes at once. @default {128} */
  readonly connectionsMax?: number;
  /** What `/configz` shows: flags and their values, without secrets. Absent: there is no such page. */
  readonly configz?: Readonly<Record<string, string>>;
  /**
   * Leader election, with a client of its own, so that no other request delays a renewal. Absent: this process is the
   * only one and acts immediately.
   */
  readonly election?: ElectionSettings & { readonly client: KubeClient };
  /** The service manager; absent if none waits for messages. */
  readonly notifier?: Notifier;
  /** Called once `debugAddress` is served, with the port that the system chose. */
  readonly onDebugListening?: (address: ListenAddress) => void;
}
