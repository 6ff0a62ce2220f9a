import { EventEmitter } from 'node:events'
import type { RpcConnection, RpcService } from '../rpc/transport/service.ts'
import type { Provider, RequestArguments } from './types.ts'

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

/** Code of EIP-1193 for a provider without a chain. */
const DISCONNECTED = 4900

interface JsonRpcText {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
  readonly params?: { readonly subscription: string; readonly result: unknown }
}

/** Provider over a connection of this process. */
export class DevnetProvider extends EventEmitter implements Provider {
  readonly #connection: RpcConnection
  #isClosed = false

  constructor(connect: RpcService['connect'], chainId: number) {
    super()
    this.#connection = connect(text => this.#notify(text))
    // When its owner has had the time to listen.
    setImmediate(() => this.emit('connect', { chainId: `0x${chainId.toString(16)}` }))
  }

  async request({ method, params }: RequestArguments): Promise<unknown> {
    if (this.#isClosed) throw closedError()
    const text = await this.#connection.request(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    // Work that the close cut short has no response.
    if (text === '') throw closedError()
    const { result, error } = JSON.parse(text) as JsonRpcText
    if (error !== undefined) throw new ProviderRpcError(error)
    return result
  }

  /** Later requests fail with code 4900. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#connection.close()
    this.emit('disconnect', closedError())
  }

  #notify(text: string): void {
    const { params } = JSON.parse(text) as JsonRpcText
    if (params !== undefined) this.emit('message', { type: 'eth_subscription', data: params })
  }
}

const closedError = (): ProviderRpcError =>
  new ProviderRpcError({ code: DISCONNECTED, message: 'the chain is closed: create another with createDevnet()' })
