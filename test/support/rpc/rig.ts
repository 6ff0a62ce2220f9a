import { silentLogger } from '@tandem/base/logger.ts'
import type { NetworkParams } from '../../../src/config/networks.ts'
import { createRpcServer, type RpcServer, type RpcServerOptions } from '../../../src/rpc/transport/server.ts'
import { MemoryChain } from './memory-chain.ts'
import { EchoCalls, EchoSimulations, MemoryPool, NO_KEYS, NODE } from './services.ts'

export interface Answer {
  readonly jsonrpc: string
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** A server over in-memory parts, on a free port of the loopback. */
export class Rig {
  readonly chain: MemoryChain
  readonly pool: MemoryPool
  readonly calls: EchoCalls
  readonly server: RpcServer

  private constructor(chain: MemoryChain, pool: MemoryPool, calls: EchoCalls, server: RpcServer) {
    this.chain = chain
    this.pool = pool
    this.calls = calls
    this.server = server
  }

  static async start(options: Partial<RpcServerOptions> & { readonly network?: NetworkParams } = {}): Promise<Rig> {
    const { network, ...rest } = options
    const chain = new MemoryChain(network)
    const pool = new MemoryPool()
    const calls = new EchoCalls()
    const server = await createRpcServer({
      host: '127.0.0.1',
      port: 0,
      log: silentLogger,
      view: chain,
      pool,
      calls,
      simulations: new EchoSimulations(() => chain.head()),
      wallet: NO_KEYS,
      info: NODE,
      ...rest,
    })
    return new Rig(chain, pool, calls, server)
  }

  get url(): string {
    return `http://127.0.0.1:${this.server.port}`
  }

  /** The body of the answer to a body that is sent as it stands. */
  async post(body: string): Promise<string> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    return response.text()
  }

  async call(method: string, params: unknown = []): Promise<Answer> {
    return JSON.parse(await this.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))) as Answer
  }

  /** The result; throws for an error answer. */
  async result<T = unknown>(method: string, params: unknown = []): Promise<T> {
    const answer = await this.call(method, params)
    if (answer.error !== undefined) throw new Error(`${answer.error.code} ${answer.error.message}`)
    return answer.result as T
  }

  /** `code message` of an error answer. */
  async failure(method: string, params: unknown = []): Promise<string> {
    const answer = await this.call(method, params)
    return answer.error === undefined
      ? `result ${JSON.stringify(answer.result)}`
      : `${answer.error.code} ${answer.error.message}`
  }

  async stop(): Promise<void> {
    await this.server.close()
  }
}
