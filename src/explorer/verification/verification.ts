import type { Hex } from '@tandem/base/bytes.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { createAddress } from '../../primitives/address.ts'
import { EMPTY_CODE_HASH } from '../../state/account.ts'
import type { ChainSource } from '../chain/chain-source.ts'
import type { NodeRpc } from '../chain/node-rpc.ts'
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
  const contractCode = async (address: Hex): Promise<ContractCode> => {
    const creationTransaction = (await index.account(address))?.creationTransaction ?? null
    return {
      address,
      codeHash: await codeHash(address),
      runtime: await source.onState(state => state.code(address)),
      creationTransaction,
      creation:
        creationTransaction === null ? undefined : await creationInput(source, node, address, creationTransaction),
    }
  }
  // Blocks of a development chain may have been taken back since they were indexed.
  const isCreatedBy = async (address: Hex, transaction: Hex): Promise<boolean> =>
    (await index.account(address))?.creationTransaction === transaction &&
    (await source.blocks.locate(transaction)) !== undefined
  return {
    contracts,
    verifier: new Verifier({
      compilers: new CompilerList(solcDirectory),
      contracts,
      contractCode,
      codeHash,
      isCreatedBy,
      nowMs,
      logger,
    }),
  }
}

/** Init code by which a transaction created a contract, with its arguments; undefined when it is not known. */
const creationInput = async (
  source: ChainSource,
  node: NodeRpc,
  address: Hex,
  hash: Hex,
): Promise<Uint8Array | undefined> => {
  const place = await source.blocks.locate(hash)
  const block = place && (await source.blocks.block(place.number))
  const transaction = place && block?.transactions[place.index]
  if (transaction === undefined) return undefined
  const isDirect = transaction.to === null && createAddress(transaction.from, transaction.nonce) === address
  return isDirect ? transaction.data : createdCode(node, hash, address)
}
