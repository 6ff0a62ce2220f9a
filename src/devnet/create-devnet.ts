import { randomBytes } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FairSemaphore } from '@tandem/base/async/fair-semaphore.ts'
import { systemClock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { DEVNET_FORKS } from '../config/forks.ts'
import { DEVNET_DEFAULTS, DEVNET_LIMITS } from '../config/limits/commands.ts'
import { startInside } from '../node/node.ts'
import type { RpcConnection, RpcService } from '../rpc/transport/service.ts'
import { devnetAccounts, devnetNode, isWellKnown } from './options.ts'
import { REMOVE_OPTIONS, removeDeadFolders } from './temp-folder.ts'
import type { CreateDevnet, CreateDevnetOptions, DevnetOptions, Provider, RequestArguments } from './types.ts'

const DEFAULTS = {
  ...{ ...DEVNET_DEFAULTS, blockTime: 0 },
  ...{ ethereum: false, unlock: true, sameTimestamps: false, throwOnRevert: false, predeploys: true },
}
const WITHOUT_DEFAULT = ['mnemonic', 'chainId', 'hardfork', 'clientName', 'codeSizeLimit']
const CHOICES = { hardfork: DEVNET_FORKS, clientName: ['anvil', 'hardhat'] } as const

/** Completes options, whose undefined ones are not given. Checks the command's own bounds; the genesis checks the others. */
const optionsOf = (given: CreateDevnetOptions): DevnetOptions => {
  const named = Object.entries(given).filter(([, value]) => value !== undefined)
  const options: DevnetOptions = { ...DEFAULTS, ...Object.fromEntries(named) }
  for (const name of Object.keys(options))
    if (!(name in DEFAULTS) && !WITHOUT_DEFAULT.includes(name)) throw new Error(`${name} is no option of createDevnet`)
  for (const name of ['hardfork', 'clientName'] as const)
    if (options[name] !== undefined && !CHOICES[name].some(choice => choice === options[name]))
      throw new Error(`${name} must be one of ${CHOICES[name].join(', ')}`)
  const { accounts, blockTime, chainId } = options
  if (typeof chainId === 'bigint') throw new Error('chainId must be a number, not a bigint')
  if (!Number.isInteger(accounts) || accounts < 1 || accounts > DEVNET_LIMITS.accounts)
    throw new Error(`accounts must be a whole number from 1 to ${DEVNET_LIMITS.accounts}`)
  const { least, most } = DEVNET_LIMITS.blockSeconds
  if (blockTime !== 0 && !(blockTime >= least && blockTime <= most))
    throw new Error(`blockTime must be 0, or seconds from ${least} to ${most}`)
  return options
}

/** Removal, once in a process, of the folders that chains left whose processes ended without close(). */
let removal: Promise<unknown> | undefined

export const createDevnet: CreateDevnet = async (given = {}) => {
  const options = optionsOf(given)
  removal ??= removeDeadFolders().catch(() => undefined)
  const accounts = await devnetAccounts(options)
  const node = devnetNode(options, accounts, true)
  const dataDir = join(tmpdir(), `tandem-devnet-${process.pid}-${randomBytes(3).toString('hex')}`)
  let failure: Error | undefined
  /** Set when there is something to end. */
  let end: (() => Promise<void>) | undefined
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
        failure ??= error
        // Requests fail from now on; a failed stop has nobody to be told.
        end?.().catch(() => undefined)
      },
    },
  )
  const { chainId } = node.genesis.params
  const provider = new DevnetProvider(inside.connect, chainId)
  const request = (method: string, ...params: unknown[]) => provider.request({ method, params })
  let urls: Promise<{ readonly http: string; readonly ws: string }> | undefined
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= stop()
    return closing
  }
  const stop = async (): Promise<void> => {
    provider.close()
    // Its server would stay otherwise.
    await urls?.catch(() => undefined)
    await inside.stop()
    await Promise.all([removal, rm(dataDir, REMOVE_OPTIONS).catch(() => undefined)])
  }
  end = close
  if (failure !== undefined) {
    await close()
    throw failure
  }
  return {
    ...{ provider, chainId, accounts: accounts.accounts, close },
    mine: async (count = 1, interval = 1) =>
      void (await request('hardhat_mine', `0x${count.toString(16)}`, `0x${interval.toString(16)}`)),
    snapshot: async () => (await request('evm_snapshot')) as string,
    async revert(id) {
      if ((await request('evm_revert', id)) !== true) throw new Error(`no snapshot ${id}: one is good for one revert`)
    },
    async listen({ host = '127.0.0.1', port = 0 } = {}) {
      if (failure !== undefined) throw failure
      if (closing !== undefined) throw closedError()
      if (options.unlock && !isWellKnown(options))
        throw new Error('a port would sign for everybody with your own mnemonic: give unlock: false as well')
      urls ??= inside.listen({ host, port }).catch(error => {
        // Another port may be free.
        urls = undefined
        throw error
      })
      const opened = await urls
      if (port === 0 || port === Number(new URL(opened.http).port)) return opened
      throw new Error(`a chain has one port: this one listens at ${opened.http}`)
    },
    [Symbol.asyncDispose]: close,
  }
}

/** Failed request: code, message and data are those of the JSON-RPC error (EIP-1193, EIP-1474). */
class ProviderRpcError extends Error {
  readonly code: number
  readonly data?: unknown

  constructor({ code, message, data }: { readonly code: number; readonly message: string; readonly data?: unknown }) {
    super(message)
    this.name = 'ProviderRpcError'
    this.code = code
    if (data !== undefined) this.data = data
  }
}

interface JsonRpcText {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
  readonly params?: { readonly subscription: string; readonly result: unknown }
}

/** Provider over a connection of this process. */
class DevnetProvider extends EventEmitter implements Provider {
  readonly #connection: RpcConnection
  /** Requests beyond wait here, where the queues of the node would refuse them. */
  readonly #places = new FairSemaphore({ total: DEVNET_LIMITS.requests, client: DEVNET_LIMITS.requests }, closedError)
  #isClosed = false

  constructor(connect: RpcService['connect'], chainId: number) {
    super()
    // A suite has as many listeners as subscriptions.
    this.setMaxListeners(0)
    this.#connection = connect(text => {
      const notification = (JSON.parse(text) as JsonRpcText).params
      if (notification !== undefined) this.#tell('message', { type: 'eth_subscription', data: notification })
    })
    // When its owner has had the time to listen.
    setImmediate(() => this.#isClosed || this.#tell('connect', { chainId: `0x${chainId.toString(16)}` }))
  }

  async request({ method, params }: RequestArguments): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const release = this.#places.tryAcquire('') ?? (await this.#places.acquire(''))
    const response = this.#isClosed ? Promise.resolve('') : this.#connection.request(body)
    const text = await response.finally(release)
    // Work that the close cut short has no response, or fails for reasons of its parts.
    const { result, error } = (text === '' ? {} : JSON.parse(text)) as JsonRpcText
    if (text === '' || (error !== undefined && this.#isClosed)) throw closedError()
    if (error !== undefined) throw new ProviderRpcError(error)
    return result
  }

  /** Later requests fail with code 4900. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#connection.close()
    this.#tell('disconnect', closedError())
  }

  /** An error of a listener, such as a failed assertion, is that of the process, as of any emitter, and neither stops nor gets lost in the chain. */
  #tell(event: string, value: unknown): void {
    try {
      this.emit(event, value)
    } catch (error) {
      process.nextTick(() => {
        throw error
      })
    }
  }
}

/** Error of a provider without a chain (EIP-1193). */
const closedError = (): ProviderRpcError =>
  new ProviderRpcError({ code: 4900, message: 'the chain is closed: create another with createDevnet()' })
