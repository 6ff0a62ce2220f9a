import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { askResult, type NodeRpc } from '../chain/node-rpc.ts'
import type { ChainSource } from '../chain/rpc-chain.ts'
import { keccak256Hex } from '../keccak.ts'
import type { ContractStore } from '../store/contract-store.ts'
import type { SqlReader } from '../store/sql/sql-reader.ts'
import { CompilerList } from './compiler/compiler-list.ts'
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

/** Frame of a trace of debug_traceTransaction, of the tracer callTracer. */
interface TraceFrame {
  readonly type?: unknown
  readonly to?: unknown
  readonly input?: unknown
  readonly error?: unknown
  readonly calls?: unknown
}

/**
 * Init code by which a contract was created inside a transaction, from a trace of it; undefined when the node does not trace the
 * transaction: it does not serve traces, or none as long, or the state before it is gone.
 */
export const createdCode = async (node: NodeRpc, transaction: Hex, contract: Hex): Promise<Uint8Array | undefined> => {
  const params = [transaction, { tracer: 'callTracer', timeout: '5s' }]
  const frames = [await askResult(node, 'debug_traceTransaction', params)]
  let found: Uint8Array | undefined
  for (let frame = frames.pop(); frame !== undefined; frame = frames.pop()) {
    if (typeof frame !== 'object' || frame === null) continue
    const { type, to, input, error, calls } = frame as TraceFrame
    // Whatever stands below a frame that failed was taken back.
    if (error !== undefined) continue
    const isCreation = type === 'CREATE' || type === 'CREATE2'
    // The last creation counts: a contract may destroy itself and be created again.
    if (isCreation && to === contract && found === undefined && isData(input)) found = hexToBytes(input)
    if (Array.isArray(calls)) frames.push(...calls)
  }
  return found
}

const isData = (value: unknown): value is Hex => typeof value === 'string' && /^0x([0-9a-f]{2})*$/.test(value)
