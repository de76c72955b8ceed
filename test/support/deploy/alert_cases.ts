/**
 * For each alert of deploy/monitoring: what makes it fire, and what looks alike and does not.
 * @module
 */

/** Values of series over time, in the notation of `promtool test rules`, one a minute. */
export type Series = Readonly<Record<string, string>>;

/** When an alert fires and when not. */
interface AlertCase {
  readonly alert: string;
  /** Minutes after which is looked. */
  readonly minutes: number;
  /** How many alerts fire. @default {1} */
  readonly count?: number;
  readonly fires: Series;
  readonly quiet: readonly Series[];
}

const A = 'job="landfall",instance="a:10258"';
const B = 'job="landfall",instance="b:10258"';
const OTHER = 'job="kube-controller-manager",instance="a:10257"';
const LEASE = 'name="cloud-controller-manager-xenorchestra"';
const up = {
  [`landfall_instances{presence="present",${A}}`]: "3x60",
  [`landfall_instances{presence="present",${B}}`]: "3x60",
};
const leading = { ...up, [`leader_election_master_status{${LEASE},${A}}`]: "1x60" };
const expiry = `landfall_xenorchestra_token_expiry_timestamp_seconds{${A}}`;
const DAY = 86_400;

/** One for each alert. */
export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: "LandfallNoLeader",
    minutes: 10,
    fires: {
      ...up,
      [`leader_election_master_status{${LEASE},${A}}`]: "0x60",
      [`leader_election_master_status{${LEASE},${B}}`]: "0x60",
      // Another program's Lease is no comfort.
      [`leader_election_master_status{name="kube-controller-manager",${OTHER}}`]: "1x60",
    },
    quiet: [
      { ...leading, [`leader_election_master_status{${LEASE},${B}}`]: "0x60" },
      // One replica without leader election.
      up,
      // A hand-over.
      {
        ...up,
        [`leader_election_master_status{${LEASE},${A}}`]: "1x8 0x60",
        [`leader_election_master_status{${LEASE},${B}}`]: "0x9 1x60",
      },
    ],
  },
  {
    alert: "LandfallNoLeader",
    minutes: 10,
    // Who leads with the Lease of a kind does nothing for Nodes.
    fires: {
      ...up,
      [`leader_election_master_status{${LEASE},${A}}`]: "0x60",
      [`leader_election_master_status{name="landfall-galleries",${A}}`]: "1x60",
    },
    quiet: [
      { ...leading, [`leader_election_master_status{name="landfall-galleries",${A}}`]: "1x60" },
    ],
  },
  {
    alert: "LandfallNoLeader",
    minutes: 10,
    fires: { 'up{job="other"}': "1x60" },
    quiet: [leading],
  },
  {
    alert: "LandfallTwoLeaders",
    minutes: 10,
    count: 1,
    fires: { ...leading, [`leader_election_master_status{${LEASE},${B}}`]: "1x60" },
    quiet: [
      { ...leading, [`leader_election_master_status{${LEASE},${B}}`]: "0x60" },
      // Scraped at different moments of a hand-over.
      { ...leading, [`leader_election_master_status{${LEASE},${B}}`]: "0x9 1 0x60" },
      { ...leading, [`leader_election_master_status{name="kube-scheduler",${OTHER}}`]: "1x60" },
    ],
  },
  {
    alert: "LandfallInventoryStale",
    minutes: 30,
    fires: { ...up, [`landfall_inventory_age_seconds{${A}}`]: "0+60x60" },
    quiet: [
      {
        ...up,
        [`landfall_inventory_age_seconds{${A}}`]: "30x60",
        [`landfall_inventory_age_seconds{${B}}`]: "12x60",
      },
      {
        [`landfall_instances{presence="present",${A}}`]: "3x60",
        [`landfall_inventory_age_seconds{${A}}`]: "0+60x8 10x60",
      },
    ],
  },
  {
    alert: "LandfallInventoryStale",
    minutes: 30,
    // There never was one.
    fires: { [`landfall_instances{presence="present",${A}}`]: "0x60" },
    quiet: [
      {
        [`landfall_instances{presence="present",${A}}`]: "0x60",
        [`landfall_inventory_age_seconds{${A}}`]: "_x5 12x60",
      },
    ],
  },
  {
    alert: "LandfallPartNotCovered",
    minutes: 30,
    fires: {
      [`landfall_inventory_covered{part="p1",${A}}`]: "0x60",
      [`landfall_inventory_covered{part="p2",${A}}`]: "1x60",
    },
    quiet: [
      { [`landfall_inventory_covered{part="p1",${A}}`]: "1x60" },
      { [`landfall_inventory_covered{part="p1",${A}}`]: "1x22 0x5 1x60" },
    ],
  },
  {
    alert: "LandfallNodesUnmatched",
    minutes: 30,
    fires: {
      [`landfall_instances{presence="present",${A}}`]: "9x60",
      [`landfall_instances{presence="unknown",${A}}`]: "1x60",
      [`landfall_instances{presence="absent",${A}}`]: "1x60",
    },
    quiet: [
      {
        [`landfall_instances{presence="unknown",${A}}`]: "0x60",
        [`landfall_instances{presence="foreign",${A}}`]: "2x60",
      },
      { [`landfall_instances{presence="unknown",${A}}`]: "0x20 1x60" },
    ],
  },
  {
    alert: "LandfallDeletionBlocked",
    minutes: 30,
    count: 2,
    fires: {
      [`landfall_node_deletions_blocked{reason="fleetLimit",${A}}`]: "4x60",
      [`landfall_node_deletions_blocked{reason="notCovered",${A}}`]: "1x60",
    },
    quiet: [{ [`landfall_node_deletions_blocked{reason="notListed",${A}}`]: "1x20 _x40" }],
  },
  {
    alert: "LandfallFleetLimitReached",
    minutes: 10,
    fires: {
      [`landfall_fleet_missing{${A}}`]: "5x60",
      [`landfall_fleet_missing{${B}}`]: "0x60",
      [`landfall_fleet_limit{${A}}`]: "3x60",
      [`landfall_fleet_limit{${B}}`]: "3x60",
    },
    quiet: [{ [`landfall_fleet_missing{${A}}`]: "3x60", [`landfall_fleet_limit{${A}}`]: "3x60" }],
  },
  {
    alert: "LandfallTokenExpiresSoon",
    minutes: 30,
    fires: { [expiry]: `${13 * DAY}x60` },
    quiet: [{ [expiry]: `${15 * DAY}x60` }, up],
  },
  {
    alert: "LandfallTokenExpiresNow",
    minutes: 30,
    fires: { [expiry]: "600x60" },
    quiet: [{ [expiry]: `${3 * DAY}x60` }, up],
  },
  {
    alert: "LandfallConfigRefused",
    minutes: 30,
    fires: {
      [`landfall_config_last_reload_successful{${A}}`]: "0x60",
      [`landfall_config_last_reload_successful{${B}}`]: "1x60",
    },
    quiet: [
      { [`landfall_config_last_reload_successful{${A}}`]: "1x60" },
      { [`landfall_config_last_reload_successful{${A}}`]: "1x20 0x8 1x30" },
    ],
  },
  {
    alert: "LandfallReconcileErrors",
    minutes: 40,
    count: 1,
    fires: {
      [`landfall_reconciles_total{controller="cloud-node",outcome="error",${A}}`]: "0+2x60",
      [`landfall_reconciles_total{controller="cloud-node",outcome="ok",${A}}`]: "0+90x60",
    },
    quiet: [
      {
        [`landfall_reconciles_total{controller="cloud-node",outcome="ok",${A}}`]: "0+90x60",
        [`landfall_reconciles_total{controller="cloud-node",outcome="conflict",${A}}`]: "0+9x60",
        [`landfall_reconciles_total{controller="cloud-node",outcome="throttled",${A}}`]: "0+9x60",
      },
      { [`landfall_reconciles_total{controller="cloud-node",outcome="error",${A}}`]: "0x38 9x60" },
    ],
  },
  {
    alert: "LandfallLoadBalancerPending",
    minutes: 20,
    count: 1,
    fires: {
      [`landfall_load_balancer_pending_seconds{${A}}`]: "0x5 60+60x60",
      [`landfall_load_balancer_pending_seconds{${B}}`]: "0x60",
    },
    quiet: [
      { [`landfall_load_balancer_pending_seconds{${A}}`]: "0x60" },
      { [`landfall_load_balancer_pending_seconds{${A}}`]: "0x15 60 120 180 240 0x40" },
    ],
  },
  {
    alert: "LandfallLoadBalancersFailing",
    minutes: 30,
    count: 1,
    fires: {
      [`landfall_load_balancers{state="failing",${A}}`]: "0x5 2x60",
      [`landfall_load_balancers{state="failing",${B}}`]: "0x60",
    },
    quiet: [
      {
        [`landfall_load_balancers{state="failing",${A}}`]: "0x60",
        [`landfall_load_balancers{state="waiting",${A}}`]: "3x60",
      },
      { [`landfall_load_balancers{state="failing",${A}}`]: "0x20 1x5 0x40" },
    ],
  },
  {
    alert: "LandfallLoadBalancerLeftovers",
    minutes: 90,
    count: 1,
    fires: {
      [`landfall_load_balancer_leftovers{${A}}`]: "0x5 2x90",
      [`landfall_load_balancer_leftovers{${B}}`]: "0x95",
    },
    quiet: [
      { [`landfall_load_balancer_leftovers{${A}}`]: "0x95" },
      // Released within the hour.
      { [`landfall_load_balancer_leftovers{${A}}`]: "2x50 0x45" },
    ],
  },
  {
    alert: "LandfallAddressPoolNearlyFull",
    minutes: 30,
    count: 1,
    fires: {
      [`landfall_address_pool_addresses{pool="a",family="IPv4",${A}}`]: "16x40",
      [`landfall_address_pool_addresses_used{pool="a",family="IPv4",${A}}`]: "14x5 15x35",
      // Another family and another pool do not count for it.
      [`landfall_address_pool_addresses{pool="a",family="IPv6",${A}}`]: "18446744073709552000x40",
      [`landfall_address_pool_addresses_used{pool="a",family="IPv6",${A}}`]: "15x40",
      [`landfall_address_pool_addresses{pool="b",family="IPv4",${A}}`]: "256x40",
      [`landfall_address_pool_addresses_used{pool="b",family="IPv4",${A}}`]: "15x40",
    },
    quiet: [
      {
        [`landfall_address_pool_addresses{pool="a",family="IPv4",${A}}`]: "10x40",
        [`landfall_address_pool_addresses_used{pool="a",family="IPv4",${A}}`]: "9x40",
      },
      // A pool of one address is for one Service.
      {
        [`landfall_address_pool_addresses{pool="a",family="IPv4",${A}}`]: "1x40",
        [`landfall_address_pool_addresses_used{pool="a",family="IPv4",${A}}`]: "1x40",
      },
      // Soon there is room again.
      {
        [`landfall_address_pool_addresses{pool="a",family="IPv4",${A}}`]: "10x40",
        [`landfall_address_pool_addresses_used{pool="a",family="IPv4",${A}}`]: "10x12 8x28",
      },
    ],
  },
  {
    alert: "LandfallVinosFailing",
    minutes: 30,
    count: 1,
    fires: {
      [`landfall_vinos{state="failing",${A}}`]: "0x5 2x60",
      [`landfall_vinos{state="failing",${B}}`]: "0x60",
    },
    quiet: [
      {
        [`landfall_vinos{state="failing",${A}}`]: "0x60",
        [`landfall_vinos{state="working",${A}}`]: "3x60",
      },
      { [`landfall_vinos{state="failing",${A}}`]: "0x20 1x5 0x40" },
    ],
  },
  {
    alert: "LandfallVinoMachinesVanished",
    minutes: 30,
    fires: { [`landfall_vino_machine_changes_total{change="vanished",${A}}`]: "0x20 1x40" },
    quiet: [
      {
        [`landfall_vino_machine_changes_total{change="vanished",${A}}`]: "4x60",
        [`landfall_vino_machine_changes_total{change="removed",${A}}`]: "0+1x60",
      },
    ],
  },
  {
    alert: "LandfallRedfishFailing",
    minutes: 40,
    count: 1,
    fires: {
      // One host, which is asked about once a minute.
      [`landfall_redfish_requests_total{method="GET",code="503",${A}}`]: "0+1x60",
      [`landfall_redfish_requests_total{method="GET",code="200",${A}}`]: "900x60",
    },
    quiet: [
      {
        [`landfall_redfish_requests_total{method="GET",code="200",${A}}`]: "0+90x60",
        [`landfall_redfish_requests_total{method="GET",code="401",${A}}`]: "0+9x60",
        [`landfall_redfish_requests_total{method="GET",code="501",${A}}`]: "0+9x60",
      },
      // A change of the leader.
      { [`landfall_redfish_requests_total{method="GET",code="503",${A}}`]: "0x30 20x60" },
    ],
  },
  {
    alert: "LandfallRedfishLoginsThrottled",
    minutes: 30,
    fires: {
      [`landfall_redfish_login_failures_total{reason="throttled",${A}}`]: "0x10 0+3x60",
    },
    quiet: [
      {
        [`landfall_redfish_login_failures_total{reason="wrong",${A}}`]: "0+1x60",
        [`landfall_redfish_login_failures_total{reason="throttled",${A}}`]: "7x60",
      },
    ],
  },
  {
    alert: "LandfallEventsDropped",
    minutes: 30,
    fires: { [`landfall_events_total{result="dropped",${A}}`]: "0x10 1+1x60" },
    quiet: [
      {
        [`landfall_events_total{result="sent",${A}}`]: "0+9x60",
        [`landfall_events_total{result="filtered",${A}}`]: "0+9x60",
        [`landfall_events_total{result="dropped",${A}}`]: "7x60",
      },
    ],
  },
  {
    alert: "LandfallRestarts",
    minutes: 30,
    fires: { ...up, [`process_start_time_seconds{${A}}`]: "100x5 400x5 700x5 1000x60" },
    quiet: [
      { ...up, [`process_start_time_seconds{${A}}`]: "100x5 400x60" },
      { ...up, [`process_start_time_seconds{${OTHER}}`]: "100x5 400x5 700x5 1000x60" },
    ],
  },
];
