import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { startInside } from '../node/node.ts'
import type { DevAccount } from './accounts.ts'
import {
  DEVNET_DEFAULTS,
  type DevnetOptions,
  devnetAccounts,
  devnetNode,
  isWellKnown,
  MAX_ACCOUNTS,
  MAX_BLOCK_SECONDS,
  MIN_BLOCK_SECONDS,
} from './options.ts'
import { DevnetProvider, ProviderRpcError, type RequestArguments } from './provider.ts'

export { type DevAccount, type DevnetOptions, DevnetProvider, ProviderRpcError, type RequestArguments }

/** The command's own bounds; the genesis checks the others. */
const checkOptions = ({ accounts, blockTime }: DevnetOptions): void => {
  if (!Number.isInteger(accounts) || accounts < 1 || accounts > MAX_ACCOUNTS)
    throw new Error(`accounts must be a whole number from 1 to ${MAX_ACCOUNTS}`)
  const isBlockTime = blockTime === 0 || (blockTime >= MIN_BLOCK_SECONDS && blockTime <= MAX_BLOCK_SECONDS)
  if (!isBlockTime) throw new Error(`blockTime must be 0, or seconds from ${MIN_BLOCK_SECONDS} to ${MAX_BLOCK_SECONDS}`)
}

/** Options as the command's; a block at once for each transaction, and unlocked accounts, unless said otherwise. */
export type CreateDevnetOptions = Partial<DevnetOptions>

/** Development chain inside this process. */
export interface Devnet extends AsyncDisposable {
  /** EIP-1193, for custom(provider) of viem, BrowserProvider of ethers and the like. */
  readonly provider: DevnetProvider
  readonly chainId: number
  /** Funded accounts with their keys. */
  readonly accounts: readonly DevAccount[]
  /** Mines `count` blocks (1), whose timestamps are `interval` seconds apart (1). */
  mine(count?: number, interval?: number): Promise<void>
  /** Returns the id of a snapshot, for one `revert`. */
  snapshot(): Promise<string>
  /** Returns to a snapshot, which is gone then. Throws when there is none of this id. */
  revert(id: string): Promise<void>
  /** Opens HTTP and WebSocket, by default on a free port of the loopback; returns their URLs. Throws when the port is in use. */
  listen(place?: {
    readonly host?: string
    readonly port?: number
  }): Promise<{ readonly http: string; readonly ws: string }>
  /** Frees everything; what is under way fails. */
  close(): Promise<void>
}

/**
 * Starts a chain in memory, without a port, a folder or a thread until one is needed. Any number of them may run in one process. Throws for
 * options that make no chain.
 */
export const createDevnet = async (given: CreateDevnetOptions = {}): Promise<Devnet> => {
  const options: DevnetOptions = {
    ...{ ...DEVNET_DEFAULTS, blockTime: 0 },
    ...{ ethereum: false, unlock: true, sameTimestamps: false, throwOnRevert: false, predeploys: true },
    ...given,
  }
  checkOptions(options)
  const accounts = await devnetAccounts(options)
  const node = devnetNode(options, accounts, true)
  const dataDir = join(tmpdir(), `tandem-devnet-${process.pid}-${randomBytes(3).toString('hex')}`)
  let failure: Error | undefined
  const inside = await startInside(
    {
      ...node,
      ...{ dataDir, execution: 'wasm', stateHistory: 'archive', host: '127.0.0.1', allowUnprotected: false },
      // Only this process signs with keys of its own.
      publicSigning: true,
      devnet: { ...node.devnet, isQuiet: true },
    },
    {
      logger: silentLogger,
      clock: systemClock,
      onFatal: error => {
        failure = error
        void close()
      },
    },
  )
  const { chainId } = node.genesis.params
  const provider = new DevnetProvider(inside.connect, chainId)
  const request = (method: string, ...params: unknown[]) => provider.request({ method, params })
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= stop()
    return closing
  }
  const stop = async (): Promise<void> => {
    provider.close()
    await inside.stop()
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 })
  }
  let urls: Promise<{ readonly http: string; readonly ws: string }> | undefined
  return {
    ...{ provider, chainId, accounts: accounts.accounts, close },
    mine: async (count = 1, interval = 1) =>
      void (await request('hardhat_mine', `0x${count.toString(16)}`, `0x${interval.toString(16)}`)),
    snapshot: async () => (await request('evm_snapshot')) as string,
    async revert(id) {
      if ((await request('evm_revert', id)) !== true) throw new Error(`no snapshot ${id}: one is good for one revert`)
    },
    listen({ host = '127.0.0.1', port = 0 } = {}) {
      if (failure !== undefined) throw failure
      if (options.unlock && !isWellKnown(options))
        throw new Error('a port would sign for everybody with your own mnemonic: give unlock: false as well')
      urls ??= inside.listen({ host, port })
      return urls
    },
    [Symbol.asyncDispose]: close,
  }
}
