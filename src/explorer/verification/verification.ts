import { createAddress } from '../../primitives/address.ts'
import { EMPTY_CODE_HASH } from '../../state/account.ts'
import type { Hex } from '../../util/bytes.ts'
import type { Logger } from '../../util/logger.ts'
import type { ChainSource } from '../indexer/chain-source.ts'
import type { NodeRpc } from '../source/node-rpc.ts'
import type { ContractStore } from '../store/contract-store.ts'
import type { IndexReader } from '../store/index-store.ts'
import { CompilerList } from './compiler/compiler-list.ts'
import { createdCode } from './created-code.ts'
import { type ContractCode, Verifier } from './jobs/verifier.ts'

/** Contract verification, as routes use it. */
export interface Verification {
  readonly contracts: ContractStore
  readonly verifier: Verifier
}

interface VerificationOptions {
  readonly index: IndexReader
  readonly source: ChainSource
  readonly contracts: ContractStore
  readonly node: NodeRpc
  /** Directory with more compilers. */
  readonly solcDirectory?: string | undefined
  readonly nowMs: () => number
  readonly logger: Logger
}

/** Verification over the chain, the index and the store of verified contracts. */
export const createVerification = ({
  index,
  source,
  contracts,
  node,
  solcDirectory,
  nowMs,
  logger,
}: VerificationOptions): Verification => {
  const codeHash = (address: Hex): Promise<Hex> =>
    source.onState(async state => (await state.account(address))?.codeHash ?? EMPTY_CODE_HASH)
  const contractCode = async (address: Hex): Promise<ContractCode> => ({
    address,
    codeHash: await codeHash(address),
    runtime: await source.onState(state => state.code(address)),
    creation: await creationInput({ index, source, node }, address),
  })
  return {
    contracts,
    verifier: new Verifier({
      compilers: new CompilerList(solcDirectory),
      contracts,
      contractCode,
      codeHash,
      nowMs,
      logger,
    }),
  }
}

/** Init code by which a contract was created, with its arguments; undefined when it is not known. */
const creationInput = async (
  { index, source, node }: Pick<VerificationOptions, 'index' | 'source' | 'node'>,
  address: Hex,
): Promise<Uint8Array | undefined> => {
  const hash = (await index.account(address))?.creationTransaction
  const place = hash ? await source.blocks.locate(hash) : undefined
  const block = place && (await source.blocks.block(place.number))
  const transaction = place && block?.transactions[place.index]
  if (hash == null || transaction === undefined) return undefined
  const isDirect = transaction.to === null && createAddress(transaction.from, transaction.nonce) === address
  return isDirect ? transaction.data : createdCode(node, hash, address)
}
