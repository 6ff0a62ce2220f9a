import { asBuffer, type Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { Chain } from '../../chain/chain.ts'
import type { CommittedEvent } from '../../chain/store/types.ts'
import { REASON } from '../../evm/failure-reasons.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import { CODES, type RpcError } from '../../rpc/errors.ts'
import { failureOf, type TransactionFailure } from '../../rpc/methods/eth/thrown-reverts.ts'
import type { Services } from '../../rpc/router/context.ts'

/** Lines of one block, and of refused requests in a second; more are counted in one line. */
const BLOCK_LINES = 32
const REFUSED_LINES = 32
/** Executions under way for the reasons of failed transactions; failures beyond have a line without a reason. */
const REASONS = 4
/** Shape of a method's name. Anything else in its place may be a secret pasted by mistake, and is not logged. */
const METHOD_NAME = /^[a-z0-9]{1,20}_[A-Za-z]\w{0,50}$/

/** Refusals, by method and code, from which clients simply go on: no developer has to see them. */
const EXPECTED: ReadonlyMap<string, number> = new Map([
  // viem then estimates by itself, which is refused for the same reason.
  ['eth_fillTransaction', CODES.reverted],
  // Miners ask again until there is work.
  ['eth_getWork', CODES.server],
  ['native_getWork', CODES.server],
])

interface TransactionLogOptions {
  readonly chain: Pick<Chain, 'onCommitted'>
  readonly reads: Pick<Services, 'view' | 'trace'>
  readonly logger: Logger
}

/** Logs a line for each transaction of a development chain. Returns the function that ends it. */
export const logTransactions = ({ chain, reads, logger }: TransactionLogOptions): (() => void) => {
  let looking = 0
  const logFailed = async (fields: object, hash: Hex): Promise<void> => {
    looking++
    const reason = await failureOf(reads, hash).then(reasonOf, () => undefined)
    looking--
    logger.info({ ...fields, ...(reason !== undefined && { reason }) }, 'transaction failed')
  }
  return chain.onCommitted(({ block, receipts }: CommittedEvent) => {
    for (const [index, transaction] of block.transactions.slice(0, BLOCK_LINES).entries()) {
      const receipt = receipts[index] as Receipt
      const fields = fieldsOf(transaction, receipt)
      if (receipt.status !== 0) logger.info(fields, 'transaction')
      else if (looking < REASONS) void logFailed(fields, transaction.hash)
      else logger.info(fields, 'transaction failed')
    }
    const more = block.transactions.length - BLOCK_LINES
    if (more > 0) logger.info({ number: block.header.number, more }, 'further transactions')
  })
}

const fieldsOf = ({ hash, from, to, data }: Transaction, { gasUsed, contractAddress }: Receipt) => ({
  hash,
  from,
  ...(to === null ? { created: contractAddress } : { to }),
  ...(to !== null && data.byteLength >= 4 && { method: `0x${asBuffer(data).toString('hex', 0, 4)}` }),
  gas: gasUsed,
})

/** Returns the decoded reason, else the selector of a custom error, else the error of the execution. */
const reasonOf = ({ error, output = '0x', revertReason }: TransactionFailure): string | undefined => {
  if (revertReason !== undefined || error !== REASON.revert) return revertReason ?? error
  return output.length >= 10 ? `custom error ${output.slice(0, 10)}` : 'reverted without a reason'
}

/** Returns a listener that logs refused requests; at level debug those that are part of how clients work. */
export const createRefusalLog = (
  logger: Logger,
  clock: Pick<Clock, 'nowMs'>,
): ((method: string, error: RpcError) => void) => {
  let second = 0
  let count = 0
  return (method, { code, message, data }) => {
    if (EXPECTED.get(method) === code) return logger.debug({ method, code, error: message }, 'request refused')
    const now = Math.floor(clock.nowMs() / 1_000)
    if (now !== second) {
      if (count > REFUSED_LINES) logger.info({ more: count - REFUSED_LINES }, 'further requests refused')
      second = now
      count = 0
    }
    if (++count > REFUSED_LINES) return
    const fields = METHOD_NAME.test(method)
      ? { method, code, error: message, ...hintOf(data) }
      : { code, error: 'not the name of a method' }
    logger.info(fields, 'request refused')
  }
}

const hintOf = (data: unknown): { readonly hint?: string } =>
  typeof data === 'object' && data !== null && 'hint' in data && typeof data.hint === 'string'
    ? { hint: data.hint }
    : {}
