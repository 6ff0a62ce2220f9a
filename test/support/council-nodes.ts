import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { COUNCIL_ADDRESS, NETWORKS } from '../../src/config/networks.ts'
import { addressFromPrivateKey } from '../../src/crypto/signature.ts'
import type { ExecutionMode } from '../../src/evm/executor-types.ts'
import { signedRaw } from './chain.ts'
import { Committee, keyOf, type NodeOfMany } from './committee.ts'
import { encodeCouncilCall, registrationSignature, STAKE, TOKEN } from './council-contract.ts'
import { receiptOf } from './load.ts'
import { eventually, PATIENCE_MS } from './node-process.ts'

const CYCLE_BLOCKS = 8
/** A changed council serves the cycle after the next, so within three of them. */
const SERVING_MS = 2 * PATIENCE_MS

/** The validator of node `index`: its key is also the account that owns it. */
export const validatorKey = (index: number): Uint8Array => keyOf(`validator ${index}`)
export const validatorOf = (index: number): Hex => addressFromPrivateKey(validatorKey(index))

/** Nodes whose council changes by transactions, as their operators would send them, on cycles of few blocks. */
export class CouncilOfNodes {
  readonly committee: Committee
  readonly cycleBlocks: number
  /** By index of the validator; those without a node yet are missing. */
  readonly nodes = new Map<number, NodeOfMany>()

  readonly #execution: ExecutionMode

  private constructor(committee: Committee, execution: ExecutionMode, cycleBlocks: number) {
    this.committee = committee
    this.cycleBlocks = cycleBlocks
    this.#execution = execution
    for (const [index, node] of committee.nodes.entries()) this.nodes.set(index, node)
  }

  /** `params`: of the genesis file, beyond those that make changes fast. */
  static async open(
    validators: number,
    blockSeconds: number,
    params: Readonly<Record<string, unknown>> = {},
    execution: ExecutionMode = 'shadow',
  ): Promise<CouncilOfNodes> {
    const { rewards = { cycleBlocks: CYCLE_BLOCKS } } = params as {
      readonly rewards?: { readonly cycleBlocks?: number }
    }
    const committee = await Committee.open(validators, blockSeconds, {
      params: {
        rewards,
        council: { openRegistration: false, unbondingSeconds: 0 },
        roundTimeoutMs: 500,
        devHelpers: false,
        ...params,
      },
    })
    const { cycleBlocks = NETWORKS.devnet.rewards.cycleBlocks } = rewards
    return new CouncilOfNodes(committee, execution, cycleBlocks)
  }

  node(index: number): NodeOfMany {
    const node = this.nodes.get(index)
    if (node === undefined) throw new Error(`validator ${index} has no node`)
    return node
  }

  /** The node with the key of validator `index`, made if need be, among all that there are. */
  async run(index: number): Promise<void> {
    const node = this.nodes.get(index) ?? (await this.committee.add(`v${index}`, validatorKey(index)))
    const others = [...this.nodes.values()].filter(other => other !== node)
    this.nodes.set(index, node)
    await node.start(others, ['--metrics-port', '0', '--execution', this.#execution])
  }

  /** The first node is asked and told everything. */
  get first(): NodeOfMany {
    return this.node(0)
  }

  /** Gives the owners of validators what they stake. */
  async fund(indexes: readonly number[]): Promise<void> {
    const start = await this.#nonce(this.committee.funded)
    const raws = indexes.map((index, at) =>
      signedRaw(this.committee.funded, { nonce: start + at, to: validatorOf(index), value: 50n * TOKEN }),
    )
    await this.#include(raws)
  }

  /** Candidates register, and as many members as it takes vote for them: each that is let in counts for the next. */
  async admit(members: readonly number[], candidates: readonly number[]): Promise<void> {
    const registrations = candidates.map(index => {
      const [key, address] = [validatorKey(index), validatorOf(index)]
      const signature = registrationSignature(key, {
        chainId: NETWORKS.devnet.chainId,
        owner: address,
        reward: address,
      })
      return this.#call(key, 0, 'register', [`Validator ${index}`, address, address, signature], STAKE)
    })
    await this.#include(registrations)
    const nonces = new Map<number, number>()
    for (const index of [...members, ...candidates]) nonces.set(index, await this.#nonce(validatorKey(index)))
    const votes: Uint8Array[] = []
    const voters = [...members]
    for (const candidate of candidates) {
      for (const voter of voters.slice(0, Math.floor((2 * voters.length) / 3) + 1)) {
        const nonce = nonces.get(voter) ?? 0
        nonces.set(voter, nonce + 1)
        votes.push(
          this.#call(validatorKey(voter), nonce, 'approve', [validatorOf(candidate), await this.#idOf(candidate)]),
        )
      }
      voters.push(candidate)
    }
    await this.#include(votes)
  }

  /** Id of a registration, as the contract tells it. */
  async #idOf(index: number): Promise<bigint> {
    const data = encodeCouncilCall('registrationOf', [validatorOf(index)])
    const words = await this.first.rpc<Hex>('eth_call', { to: COUNCIL_ADDRESS, data }, 'latest')
    return BigInt(`0x${words.slice(2 + 3 * 64, 2 + 4 * 64)}`)
  }

  async exit(indexes: readonly number[]): Promise<void> {
    const raws: Uint8Array[] = []
    for (const index of indexes) {
      const nonce = await this.#nonce(validatorKey(index))
      raws.push(this.#call(validatorKey(index), nonce, 'requestExit', [validatorOf(index)]))
    }
    await this.#include(raws)
  }

  /** Waits until exactly these decide the next block. */
  async serving(indexes: readonly number[]): Promise<void> {
    const wanted = indexes.map(validatorOf).sort().join()
    const isServing = async () => {
      const members = await this.first.rpc<readonly Hex[]>('native_getCommittee')
      return [...members].sort().join() === wanted || undefined
    }
    await eventually(`a committee of ${indexes.join()}`, isServing, { withinMs: SERVING_MS, everyMs: 100 })
  }

  /** `blocks` more on all of these nodes, and the same on each. */
  async goOn(indexes: readonly number[], blocks: number): Promise<number> {
    const number = (await this.first.number()) + blocks
    const hashes = await Promise.all(indexes.map(index => this.node(index).reach(number)))
    if (new Set(hashes).size !== 1) throw new Error(`block ${number} differs: ${hashes.join()}`)
    return number
  }

  close(): Promise<void> {
    return this.committee.close()
  }

  #call(key: Uint8Array, nonce: number, name: string, args: readonly unknown[], value = 0n): Uint8Array {
    const data = hexToBytes(encodeCouncilCall(name, args))
    return signedRaw(key, { nonce, to: COUNCIL_ADDRESS, value, data, gasLimit: 3_000_000n })
  }

  async #nonce(key: Uint8Array): Promise<number> {
    return Number(await this.first.rpc<Hex>('eth_getTransactionCount', addressFromPrivateKey(key), 'pending'))
  }

  /** Until all of them are in blocks and did what they should. */
  async #include(raws: readonly Uint8Array[]): Promise<void> {
    const hashes: Hex[] = []
    for (const raw of raws) hashes.push(await this.first.rpc<Hex>('eth_sendRawTransaction', bytesToHex(raw)))
    for (const hash of hashes) {
      const receipt = await receiptOf<{ readonly status: Hex }>(this.first.ready.http, hash)
      if (receipt.status !== '0x1') throw new Error(`${hash} failed`)
    }
  }
}
