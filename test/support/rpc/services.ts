import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { SimulatedChainBlock } from '../../../src/chain/simulation-service.ts'
import type { ChainBlock } from '../../../src/chain/store/types.ts'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import { signTypedData } from '../../../src/crypto/keys/typed-data.ts'
import { recoverSender } from '../../../src/crypto/recovery/recover-sender.ts'
import { sign } from '../../../src/crypto/signature.ts'
import { simulatedTransaction } from '../../../src/evm/calls/simulate/simulate-call.ts'
import type { SimulationRequest } from '../../../src/evm/calls/simulate/types.ts'
import type { AccessListResult, CallRequest, CallResult, CallService } from '../../../src/evm/calls/types.ts'
import { decodeTransaction, type Transaction, withSender } from '../../../src/primitives/transaction/transaction.ts'
import type { NodeInfo, SimulationPort, Wallet } from '../../../src/rpc/ports.ts'
import type { ClientPoolPort } from '../../../src/txpool/pool-service.ts'
import { KEY, SENDER } from './memory-chain.ts'

/** Holds what it is given; refuses with the error it was told. */
export class MemoryPool implements ClientPoolPort {
  readonly #pending = new Map<Hex, Transaction>()
  readonly #listeners = new Set<(transaction: Transaction) => void>()
  /** The next submission fails with this. */
  refusal: { readonly code: string } | undefined

  async submit(raw: Uint8Array): Promise<Hex> {
    if (this.refusal !== undefined) throw new CodedError(this.refusal)
    const transaction = withSender(decodeTransaction(raw), recoverSender(raw))
    this.add(transaction)
    return transaction.hash
  }
  add(transaction: Transaction): void {
    this.#pending.set(transaction.hash, transaction)
    for (const listener of this.#listeners) listener(transaction)
  }
  remove(hash: Hex): void {
    this.#pending.delete(hash)
  }
  get(hash: Hex): Transaction | undefined {
    return this.#pending.get(hash)
  }
  nextNonce(): number {
    return 5 + this.#pending.size
  }
  counts() {
    return { pending: this.#pending.size, queued: 0 }
  }
  content() {
    return { pending: Map.groupBy(this.#pending.values(), ({ from }) => from), queued: new Map<Hex, Transaction[]>() }
  }
  onPending(listener: (transaction: Transaction) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** Answers calls with their own data, or fails as told. */
export class EchoCalls implements CallService {
  failure: Error | undefined
  requests: CallRequest[] = []

  #take(request: CallRequest): void {
    this.requests.push(request)
    if (this.failure !== undefined) throw this.failure
  }
  async call(request: CallRequest): Promise<CallResult> {
    this.#take(request)
    return { output: request.message.data, gasUsed: 21_000n }
  }
  async estimateGas(request: CallRequest): Promise<bigint> {
    this.#take(request)
    return 21_000n
  }
  async createAccessList(request: CallRequest): Promise<AccessListResult> {
    this.#take(request)
    return { accessList: [], gasUsed: 21_000n }
  }
  async simulate(): Promise<never> {
    throw new Error('nothing is simulated here')
  }
  async close(): Promise<void> {}
}

/** Blocks like the head with the calls asked for: each answers its data, logs it, and the second of a block reverts. */
export class EchoSimulations implements SimulationPort {
  readonly #head: () => ChainBlock
  requests: SimulationRequest[] = []

  constructor(head: () => ChainBlock) {
    this.#head = head
  }

  async run(request: SimulationRequest): Promise<readonly SimulatedChainBlock[]> {
    this.requests.push(request)
    const head = this.#head()
    return request.blocks.map(({ calls }) => ({
      block: {
        ...head,
        transactions: calls.map(call =>
          simulatedTransaction(call, { chainId: 1, nonce: call.nonce ?? 0, gasLimit: call.gas ?? 50_000n }),
        ),
      },
      calls: calls.map(({ from, data }, index) => ({
        output: data,
        logs: index === 1 ? [] : [{ address: from, topics: [], data }],
        gasUsed: 21_000n,
        peakGas: 22_000n,
        failure: index === 1 ? { kind: 'revert' } : null,
      })),
    }))
  }
}

export const NODE: NodeInfo = {
  clientVersion: 'tandem/0.1.0/linux-x64/node26.0.0',
  protocolVersion: 1,
  coinbase: `0x${'c0'.repeat(20)}`,
  peerCount: () => 3,
  listening: () => true,
}

export const NO_KEYS: Wallet = {
  accounts: () => [],
  sign: address => {
    throw new CodedError({ code: 'UNKNOWN_ACCOUNT', address })
  },
  signTyped: async address => {
    throw new CodedError({ code: 'UNKNOWN_ACCOUNT', address })
  },
}

export const ONE_KEY: Wallet = {
  accounts: () => [SENDER],
  sign: (_, digest) => sign(digest, KEY),
  signTyped: (_, data) => signTypedData(data, KEY),
}

/** Filler data of a known hash. */
export const hashOf = (text: string): Hex => keccak256Hex(Buffer.from(text))
