import { randomBytes } from 'node:crypto'
import { bytesToHex, type Hex, toQuantity } from '@tandem/base/bytes.ts'
import { PROOF_SEEDS } from '../../crypto/proof-hash.ts'
import type { MinerWork, WorkSource } from '../../powchain/mining/miner.ts'

/** Time limit of a request to the node. */
const ANSWER_MS = 5_000
/** An answer of getWork and its like has a few hundred bytes. */
const ANSWER_BYTES = 16 * 1024
/** Requests without work after which it is not the next block that is awaited. */
const REFUSALS = 10
const NO_PAYEE =
  'the node has no work for a miner that names no payee: give --coinbase ADDRESS, or start the node with --mine-coinbase'
const [SEED_1, SEED_2] = PROOF_SEEDS.map(bytesToHex)

/** Error response of a node to a miner. */
export class NodeRefusal extends Error {}

/** Work of a node over JSON-RPC. */
export class RemoteWork implements WorkSource {
  readonly #url: string
  readonly #coinbase: Hex | undefined
  /** Id that distinguishes this miner's hash rate from those of others. */
  readonly #id = bytesToHex(randomBytes(32))
  #work: MinerWork | undefined
  /** Consecutive requests that got none. */
  #refusals = 0
  #accepted = 0
  #refused = 0

  constructor(url: string, coinbase: Hex | undefined) {
    this.#url = url
    this.#coinbase = coinbase
  }

  get counts(): { readonly accepted: number; readonly refused: number } {
    return { accepted: this.#accepted, refused: this.#refused }
  }

  job(): MinerWork | undefined {
    return this.#work
  }

  /** Requests a mining job. Rejects with NodeRefusal, or with the error of the connection; there is no job then. */
  async refresh(): Promise<void> {
    this.#work = undefined
    try {
      this.#work = workFrom(await this.#ask('native_getWork', this.#coinbase === undefined ? [] : [this.#coinbase]))
    } catch (error) {
      if (!(error instanceof NodeRefusal) || !/no mining work available/.test(error.message)) throw error
      if (++this.#refusals >= REFUSALS && this.#coinbase === undefined) throw new NodeRefusal(NO_PAYEE)
      return
    }
    this.#refusals = 0
  }

  async submitWork(nonce: Hex, sealHash: Hex, mixHash: Hex): Promise<boolean> {
    // The solution is lost when the node is unreachable; the threads go on.
    const answer = this.#ask('native_submitWork', [nonce, sealHash, mixHash]).catch(() => false)
    const isAccepted = (await answer) === true
    if (isAccepted) this.#accepted++
    else this.#refused++
    this.#work = undefined
    return isAccepted
  }

  async submitHashrate(rate: number): Promise<void> {
    await this.#ask('native_submitHashrate', [toQuantity(Math.round(rate)), this.#id])
  }

  async #ask(method: string, params: readonly unknown[]): Promise<unknown> {
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    const text = await response.text()
    if (text.length > ANSWER_BYTES) throw new NodeRefusal('a response that is too long')
    const { result, error } = JSON.parse(text) as { result?: unknown; error?: { code: number; message: string } }
    if (error?.code === -32_601)
      throw new NodeRefusal(`${this.#url} hands out no work: name the operator port of the node (--operator-port)`)
    if (error !== undefined) throw new NodeRefusal(error.message)
    return result
  }
}

const workFrom = (answer: unknown): MinerWork => {
  const parts = Array.isArray(answer) ? (answer as unknown[]) : []
  const [sealHash, seed, target] = parts
  if (![sealHash, seed, target].every(part => typeof part === 'string' && /^0x[0-9a-f]{64}$/.test(part)))
    throw new NodeRefusal('the node returned something that is no work')
  if (seed !== SEED_1 && seed !== SEED_2)
    throw new NodeRefusal('the node wants a hash function that this program does not know: upgrade it')
  return { sealHash: sealHash as Hex, version: seed === SEED_2 ? 2 : 1, target: BigInt(target as Hex) }
}
