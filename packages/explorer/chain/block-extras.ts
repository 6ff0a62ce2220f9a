import { type Hex, toQuantity } from '@tandem/base/bytes.ts'
import type { BlockInternalTransfer, FailedExecution, ProofRecord } from '../store/records.ts'
import {
  type BlockShares,
  blockFrom,
  failedFrom,
  inclusionOf,
  internalTransferFrom,
  proofFrom,
  sharesFrom,
} from './decode.ts'
import { undefinedIfRefused } from './network.ts'
import type { NodeClient } from './node-client.ts'
import { invalidResult, type NodeValue } from './node-value.ts'
import type { Block, Decision, Receipt, TransactionLocation } from './types.ts'

/** Block with its receipts. */
export interface ExecutedBlock {
  readonly block: Block
  readonly receipts: readonly Receipt[]
}

/** Data of a block besides its own and its receipts. */
export interface BlockExtras {
  readonly shares: BlockShares
  readonly internal: readonly BlockInternalTransfer[]
  /** Causes of failures, as far as the node knows them. */
  readonly failed: readonly FailedExecution[]
  /** Proof headers that the block made final. */
  readonly proofs: readonly ProofRecord[]
}

/** Reads that nodes of this project have methods for, and others do without. */
export interface ExtraReads {
  /** Blocks of a range, ascending; fewer when the chain became shorter. */
  blocks(from: number, to: number): Promise<readonly Block[]>
  /** Extras of successive blocks after the proof header of a height; undefined when the node has other blocks by now. */
  extras(blocks: readonly ExecutedBlock[], proofHeight: number): Promise<readonly BlockExtras[] | undefined>
  failedExecution(place: TransactionLocation): Promise<FailedExecution | undefined>
  decision(number: number): Promise<Decision>
}

/** Blocks, shares and proof headers of one request. */
export const RANGE = 100

/** Gas of a transfer to an address without code. */
const PLAIN_GAS = 21_000n
/** Gas that code pays at least for moving wei or creating a contract. */
const LEAST_GAS = 2_000n

/** Reads by the methods of the namespace `native`. */
export class TandemReads implements ExtraReads {
  readonly #node: NodeClient

  constructor(node: NodeClient) {
    this.#node = node
  }

  async blocks(from: number, to: number): Promise<readonly Block[]> {
    const range = [toQuantity(from), toQuantity(to), true]
    const found = await this.#node.call('native_getBlockWithConsensusInfoRange', ...range).catch(undefinedIfRefused)
    return found?.items().map((block, at) => blockFrom(block, from + at)) ?? []
  }

  async extras(blocks: readonly ExecutedBlock[], proofHeight: number): Promise<readonly BlockExtras[] | undefined> {
    const [shares, proofs, ...others] = await Promise.all([
      this.#shares(blocks),
      this.#proofs(blocks, proofHeight),
      ...blocks.map(block => Promise.all([this.#internalTransfers(block), this.#failedExecutions(block)])),
    ])
    if (shares === undefined) return undefined
    const extras: BlockExtras[] = []
    for (const [at, { block }] of blocks.entries()) {
      const [internal, failed] = others[at] ?? []
      if (internal === undefined || failed === undefined) return undefined
      extras.push({ shares: shares[at] as BlockShares, internal, failed, proofs: proofs.get(block.number) ?? [] })
    }
    return extras
  }

  async failedExecution({ number, index }: TransactionLocation): Promise<FailedExecution | undefined> {
    const failed = await this.#failuresOf(number, undefined)
    return failed?.find(({ transactionIndex }) => transactionIndex === index)
  }

  async decision(number: number): Promise<Decision> {
    const certificate = await this.#node.call('native_getCertificate', toQuantity(number))
    if (certificate.isNull) return { round: null, committee: await this.#committee(number), committers: null }
    return {
      round: certificate.member('round').whole(0),
      committee: certificate.member('committee').hexes(20),
      committers: certificate.member('signers').hexes(20),
    }
  }

  /** Committee in the order of its members' indexes: that of proposals turns by one with every block. */
  async #committee(number: number): Promise<readonly Hex[] | null> {
    const found = await this.#node.call('native_getCommittee', toQuantity(number)).catch(undefinedIfRefused)
    const members = found?.hexes(20) ?? []
    if (members.length === 0) return null
    const first = members.length - (number % members.length)
    return [...members.slice(first), ...members.slice(0, first)]
  }

  async #shares(blocks: readonly ExecutedBlock[]): Promise<readonly BlockShares[] | undefined> {
    const [first, last] = [blocks[0]?.block.number ?? 0, blocks.at(-1)?.block.number ?? 0]
    const range = [first, last].map(toQuantity)
    const found = (await this.#node.call('native_getRewardShares', ...range).catch(undefinedIfRefused))?.items()
    const isSame = blocks.every(({ block }, at) => found?.[at]?.member('blockHash').hex(32) === block.hash)
    return isSame ? found?.map(sharesFrom) : undefined
  }

  /** Proof headers behind a height by the number of the block that made them final. */
  async #proofs(blocks: readonly ExecutedBlock[], after: number): Promise<ReadonlyMap<number, readonly ProofRecord[]>> {
    const last = blocks.at(-1)?.block.number ?? 0
    const byBlock = new Map<number, ProofRecord[]>()
    for (let from = after + 1; Number.isSafeInteger(from); from += RANGE) {
      const headers = await this.#proofRange(from)
      for (const header of headers) {
        const number = inclusionOf(header)
        if (number === undefined || number > last) return byBlock
        byBlock.set(number, [...(byBlock.get(number) ?? []), proofFrom(header)])
      }
      if (headers.length < RANGE) return byBlock
    }
    return byBlock
  }

  async #proofRange(from: number): Promise<readonly NodeValue[]> {
    const range = [from, from + RANGE - 1].map(toQuantity)
    return (await this.#node.call('native_getProofHeaderRange', ...range)).items()
  }

  /** undefined: the node has another block at the number by now. */
  async #internalTransfers({ block }: ExecutedBlock): Promise<readonly BlockInternalTransfer[] | undefined> {
    const { number, hash, gasUsed, transactions } = block
    // Every transaction is a plain transfer: no code was run.
    if (gasUsed === PLAIN_GAS * BigInt(transactions.length)) return []
    const transfers: BlockInternalTransfer[] = []
    for (;;) {
      const before = transfers.length
      const page = await this.#node.call('native_getInternalTransfers', toQuantity(number), toQuantity(before))
      if (page.isNull || page.member('blockHash').hex(32) !== hash) return undefined
      for (const item of page.member('transfers').items())
        transfers.push(internalTransferFrom(item, transactions.length))
      if (page.member('next').isNull) return transfers
      // The node decides how many pages there are, as far as the gas of the block allows.
      if (BigInt(transfers.length) * LEAST_GAS > gasUsed || transfers.length === before)
        throw invalidResult(`block ${number} has too many internal transfers`)
    }
  }

  /** undefined: the node has another block at the number by now. */
  async #failedExecutions({ block, receipts }: ExecutedBlock): Promise<readonly FailedExecution[] | undefined> {
    if (receipts.every(({ status }) => status !== 0)) return []
    const failed = await this.#failuresOf(block.number, block.hash)
    if (failed?.some(({ transactionIndex }) => receipts[transactionIndex]?.status !== 0))
      throw invalidResult(`block ${block.number} has a failure of a transaction that did not fail`)
    return failed
  }

  async #failuresOf(number: number, hash: Hex | undefined): Promise<readonly FailedExecution[] | undefined> {
    const failed: FailedExecution[] = []
    for (;;) {
      const page = [number, failed.length].map(toQuantity)
      const found = await this.#node.call('native_getFailedTransactions', ...page)
      if (found.isNull || (hash !== undefined && found.member('blockHash').hex(32) !== hash)) return undefined
      const items = found.member('failed').items()
      for (const item of items) failed.push(failedFrom(item, failed.at(-1)?.transactionIndex ?? -1))
      if (found.member('next').isNull) return failed
      // Each page has failures behind those before it, so the block bounds their number.
      if (items.length === 0) throw invalidResult(`block ${number} has an empty page of failures`)
    }
  }
}

/** Reads from any node of Ethereum: fees go to the miner but for the base fee, and nothing is known of minting, votes and causes. */
export class PlainReads implements ExtraReads {
  readonly #node: NodeClient

  constructor(node: NodeClient) {
    this.#node = node
  }

  async blocks(from: number, to: number): Promise<readonly Block[]> {
    const numbers = Array.from({ length: to - from + 1 }, (_, at) => from + at)
    const found = await Promise.all(
      numbers.map(number => this.#node.call('eth_getBlockByNumber', toQuantity(number), true)),
    )
    const missing = found.findIndex(({ isNull }) => isNull)
    const known = missing === -1 ? found : found.slice(0, missing)
    return known.map((block, at) => blockFrom(block, from + at))
  }

  async extras(blocks: readonly ExecutedBlock[]): Promise<readonly BlockExtras[]> {
    return blocks.map(({ block, receipts }) => {
      const feesWei = receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n)
      const burntWei = block.gasUsed * block.baseFeePerGas
      const minerWei = feesWei - burntWei
      const shares = { cycle: 0, feesWei, burntWei, mintedWei: 0n, proposerWei: 0n, minerWei, minerCredits: [] }
      return { shares, internal: [], failed: [], proofs: [] }
    })
  }

  async failedExecution(): Promise<undefined> {
    return undefined
  }

  async decision(): Promise<Decision> {
    return { round: null, committee: null, committers: null }
  }
}
