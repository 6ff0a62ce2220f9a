import { bytesToHex, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { evmForkAt, forkHeight, isForkSince } from '../../config/forks.ts'
import type { NetworkParams } from '../../config/networks.ts'
import type { BlockExecution } from '../../evm/executor-types.ts'
import type { Block } from '../../primitives/block.ts'
import { requestsHash, unclesHash, withdrawalsRoot } from '../../primitives/ethereum-roots.ts'
import type { Header } from '../../primitives/header.ts'
import { receiptsRoot, transactionsRoot } from '../../primitives/roots.ts'
import { nextBaseFee } from '../../rules/money/base-fee.ts'
import { blobGasUsed } from '../../rules/money/blob-fee.ts'
import { excessBlobGasAfter } from './rules.ts'

/** A member of a recorded header differs from this node's result. Values as text, `none` for an absent member. */
interface BlockMismatch {
  readonly code: 'BLOCK_MISMATCH'
  readonly number: number
  readonly field: string
  readonly recorded: string
  readonly computed: string
}

/** Members of a header by name; undefined: the header must not have the member. */
type Fields = { readonly [Name in keyof Header]?: Header[Name] | undefined }

/** Returns the members that follow from the parent and the body alone. */
export const fieldsBefore = (block: Block, parent: Pick<Block, 'header' | 'hash'>, params: NetworkParams): Fields => {
  const { header, ethereum } = block
  const number = parent.header.number + 1
  const fork = evmForkAt(params.forks, number)
  const hasBlobs = isForkSince(fork, 'cancun')
  return {
    number,
    parentHash: parent.hash,
    transactionsRoot: transactionsRoot(block.transactions),
    sha3Uncles: unclesHash(ethereum?.uncles ?? []),
    baseFeePerGas: isForkSince(fork, 'london') ? nextBaseFee(parent.header, params.baseFee) : undefined,
    withdrawalsRoot: isForkSince(fork, 'shanghai') ? withdrawalsRoot(ethereum?.withdrawals ?? []) : undefined,
    blobGasUsed: hasBlobs ? blobGasUsed(block.transactions) : undefined,
    excessBlobGas: hasBlobs ? excessBlobGasAfter(params, parent.header) : undefined,
    // Only its presence can be checked, not its value.
    parentBeaconBlockRoot: hasBlobs ? (header.parentBeaconBlockRoot ?? ZERO_HASH) : undefined,
  }
}

const LEAST_GAS_LIMIT = 5_000n
const GAS_LIMIT_STEPS = 1_024n

/** Throws CodedError<BlockMismatch> for a gas limit or a time that the parent does not allow (Yellow Paper 4.4.4, EIP-1559). */
export const checkAgainstParent = (header: Header, parent: Header, { forks }: NetworkParams): void => {
  const { number, gasLimit, timestamp } = header
  const refuse = (field: 'gasLimit' | 'timestamp', computed: string): never => {
    throw new CodedError<BlockMismatch>({
      code: 'BLOCK_MISMATCH',
      number,
      field,
      recorded: textOf(header[field]),
      computed,
    })
  }
  if (timestamp <= parent.timestamp) refuse('timestamp', `after ${parent.timestamp}`)
  // London doubles the limit, so that its target is the limit before.
  const isLondon = forkHeight(forks, 'london') === number
  const before = isLondon ? 2n * parent.gasLimit : parent.gasLimit
  const change = gasLimit > before ? gasLimit - before : before - gasLimit
  if (gasLimit < LEAST_GAS_LIMIT || change >= before / GAS_LIMIT_STEPS) refuse('gasLimit', `near ${before}`)
}

/** Returns the members that follow from the execution. */
export const fieldsAfter = (execution: BlockExecution, stateRoot: Hex): Fields => ({
  gasUsed: execution.gasUsed,
  logsBloom: execution.logsBloom,
  receiptsRoot: receiptsRoot(execution.receipts),
  requestsHash: execution.requests && requestsHash(execution.requests),
  stateRoot,
})

/** Throws CodedError<BlockMismatch> for the first member that differs. */
export const checkFields = (header: Header, fields: Fields): void => {
  for (const [field, value] of Object.entries(fields)) {
    const [recorded, computed] = [textOf(header[field as keyof Header]), textOf(value)]
    if (recorded !== computed)
      throw new CodedError<BlockMismatch>({ code: 'BLOCK_MISMATCH', number: header.number, field, recorded, computed })
  }
}

const textOf = (value: Fields[keyof Fields]): string => {
  if (value === undefined) return 'none'
  return value instanceof Uint8Array ? bytesToHex(value) : String(value)
}
