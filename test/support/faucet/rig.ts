import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import type { FaucetPolicy } from '../../../src/config/limits/faucet.ts'
import type { FaucetNode } from '../../../src/faucet/faucet-node.ts'
import { FaucetService } from '../../../src/faucet/faucet-service.ts'
import { GrantStore } from '../../../src/faucet/grant-store.ts'
import { FaucetSender } from '../../../src/faucet/sender.ts'
import { createFaucetAccount, type FaucetAccount } from '../../../src/faucet/transfer.ts'

export const GENESIS: Hex = `0x${'11'.repeat(32)}`
const FLOOR_WEI = 25_000_000_000n
export const ACCOUNT: FaucetAccount = createFaucetAccount(new Uint8Array(32).fill(7), 1_998_991)
/** No limit besides that of an address. */
export const OPEN_POLICY: FaucetPolicy = {
  dailyGrants: 1e6,
  clientGrants: 1e6,
  clientGrantsWithoutWork: 1e6,
  groupParts: { narrow: 1, wide: 1 },
  workBits: 0,
  followsReversals: false,
}

/** The n-th recipient of a test. */
export const recipient = (n: number): Hex => `0x${(0xabc_0000 + n).toString(16).padStart(40, '0')}`

export const openStore = (path: string): GrantStore =>
  new GrantStore({ path, genesisHash: GENESIS, sender: ACCOUNT.address })

interface PartsOptions {
  readonly store: GrantStore
  readonly node: FaucetNode
  readonly clock: Clock
  readonly policy?: FaucetPolicy
}

export const serviceOf = ({ policy = OPEN_POLICY, ...parts }: PartsOptions): FaucetService =>
  new FaucetService({ ...parts, policy, account: ACCOUNT, floorWei: FLOOR_WEI, logger: silentLogger })

export const senderOf = ({ policy = OPEN_POLICY, ...parts }: PartsOptions): FaucetSender =>
  new FaucetSender({ ...parts, policy, account: ACCOUNT, floorWei: FLOOR_WEI, logger: silentLogger })
