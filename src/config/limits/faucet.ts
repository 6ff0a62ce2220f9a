const SECOND_MS = 1_000

/** Bounds of the faucet (docs/faucet.md). */
export const FAUCET_LIMITS = {
  /** Amount of a grant: 10 tokens. */
  grantWei: 10n * 10n ** 18n,
  /** Time between two grants of an address. */
  periodMs: 86_400 * SECOND_MS,
  transferGas: 21_000n,
  /** Age of a proof of work. */
  workMs: 120 * SECOND_MS,
  /** Signed transfers that no block includes yet. */
  unsettled: 32,
  /** Requests that wait for their transfer to be sent. */
  waiting: 256,
  waitMs: 5 * SECOND_MS,
  pollMs: SECOND_MS,
  /** Time after which a transfer that no block includes is sent again. */
  rebroadcastMs: 10 * SECOND_MS,
  /** Time after which a transfer that no block includes is replaced by one at the price of the moment, when that is higher. */
  replaceMs: 30 * SECOND_MS,
  /** Rise of the price that nodes want of a replacement. */
  replacePercent: 10n,
  /** Rounds in which a used nonce has no receipt, before its grant is signed again. */
  lostRounds: 3,
  /** Age of the balance that requests are checked against. */
  balanceMs: 2 * SECOND_MS,
  /** The balance is read this often without any request, for the alarm. */
  watchMs: 60 * SECOND_MS,
  /** The alarm is raised when the balance is less than this many days of the outflow, and this many grants. */
  alarm: { days: 2n, grants: 20n },
  http: {
    bodyBytes: 2_048,
    clients: 10_000,
    quota: { perSecond: 2, burst: 400 },
    requestMs: 10_000,
    connectionMs: 20_000,
    connections: 1_024,
  },
} as const

/** Limits on the grants of a faucet. */
export interface FaucetPolicy {
  /** Grants of all addresses in 24 hours. */
  readonly dailyGrants: number
  /** Grants of a client (an IPv4 address, a /64 of IPv6) with a proof of work in 24 hours. */
  readonly clientGrants: number
  readonly clientGrantsWithoutWork: number
  /** Parts of a day's grants that all clients of a /24 or /48 get, and those of a /16 or /32: one divided by these. */
  readonly groupParts: { readonly narrow: number; readonly wide: number }
  /** Leading zero bits of a proof of work; 0: none is needed. */
  readonly workBits: number
  /** Blocks of the chain may be taken back (development chains): grants whose transfer is in none of them any more do not count. */
  readonly followsReversals: boolean
}

/** Caps that the operator may choose. */
export type FaucetCaps = Partial<Pick<FaucetPolicy, 'dailyGrants' | 'clientGrants'>>

export const PUBLIC_FAUCET: FaucetPolicy = {
  dailyGrants: 2_000,
  clientGrants: 5,
  clientGrantsWithoutWork: 1,
  groupParts: { narrow: 20, wide: 4 },
  workBits: 20,
  followsReversals: false,
}

/** On a development chain tests use many addresses. */
export const DEVNET_FAUCET: FaucetPolicy = {
  dailyGrants: 1_000_000,
  clientGrants: 1_000_000,
  clientGrantsWithoutWork: 1_000_000,
  groupParts: { narrow: 1, wide: 1 },
  workBits: 0,
  followsReversals: true,
}
