import type { Hex } from '@tandem/base/bytes.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { ChainSource } from '../chain/chain-source.ts'
import type { NodeRpc } from '../chain/node-rpc.ts'
import { keccak256Hex } from '../keccak.ts'
import type { ContractStore } from '../store/contract-store.ts'
import type { SqlReader } from '../store/sql/sql-reader.ts'
import { CompilerList } from './compiler/compiler-list.ts'
import { createdCode } from './created-code.ts'
import { type ContractCode, Verifier } from './jobs/verifier.ts'

/** Contract verification, as routes use it. */
export interface Verification {
  readonly contracts: ContractStore
  readonly verifier: Verifier
}

interface VerificationOptions {
  readonly index: SqlReader
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
  const codeHash = async (address: Hex): Promise<Hex | undefined> => {
    const code = await source.state.code(address)
    return code.byteLength === 0 ? undefined : keccak256Hex(code)
  }
  const contractCode = async (address: Hex): Promise<ContractCode> => {
    const creationTransaction = (await index.account(address))?.creationTransaction ?? null
    const runtime = await source.state.code(address)
    return {
      address,
      codeHash: keccak256Hex(runtime),
      runtime,
      creationTransaction,
      creation:
        creationTransaction === null ? undefined : await creationInput(source, node, address, creationTransaction),
    }
  }
  // Blocks of a development chain may have been taken back since they were indexed.
  const isCreatedBy = async (address: Hex, transaction: Hex): Promise<boolean> =>
    (await index.account(address))?.creationTransaction === transaction &&
    (await source.locate(transaction)) !== undefined
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
  const found = await source.receipt(hash)
  if (found === undefined) return undefined
  const isDirect = found.receipt.contractAddress === address
  return isDirect ? found.transaction.data : createdCode(node, hash, address)
}
