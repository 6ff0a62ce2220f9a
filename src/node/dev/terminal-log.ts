import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { asBuffer, bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { commonErrorAbi, type ErrorAbi } from '@tandem/base/solidity-errors.ts'
import type { Chain } from '../../chain/chain.ts'
import type { CommittedEvent } from '../../chain/store/types.ts'
import { TRACE_LIMITS } from '../../config/limits/clients.ts'
import { REASON } from '../../evm/failure-reasons.ts'
import type { TraceConfig } from '../../evm/tracers/config.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import { CODES, type RpcError } from '../../rpc/errors.ts'
import { failureOf, type TransactionFailure, traceOf } from '../../rpc/methods/eth/thrown-reverts.ts'
import type { Services } from '../../rpc/router/context.ts'

/** Lines of one block, and of refused requests in a second; more are counted in one line. */
const BLOCK_LINES = 32
const REFUSED_LINES = 32
/** Transactions that wait to be executed again, for reasons and lines of contracts; further ones have a line without. */
const EXECUTIONS = 32
/** Part of the address that `console.log` calls, and so of the code that does. */
const CONSOLE = 'console.log'
const CONSOLE_TRACE: TraceConfig = { tracer: { name: 'consoleTracer' }, timeoutMs: TRACE_LIMITS.timeoutMs }
/** Shape of a method's name. Anything else in its place may be a secret pasted by mistake, and is not logged. */
const METHOD_NAME = /^[a-z0-9]{1,20}_[A-Za-z]\w{0,50}$/

/** Refusals, by method and code, from which clients simply go on: no developer has to see them. */
const EXPECTED: ReadonlyMap<string, number> = new Map([
  // viem then estimates by itself, which is refused for the same reason.
  ['eth_fillTransaction', CODES.reverted],
  // Miners poll until there is work.
  ['eth_getWork', CODES.server],
  ['native_getWork', CODES.server],
])

interface TransactionLogOptions {
  readonly chain: Pick<Chain, 'onCommitted'>
  readonly reads: Pick<Services, 'view' | 'trace'>
  readonly logger: Logger
  /** Folder of ABIs with the errors of contracts (`devnet --abi`). */
  readonly abiFolder?: string | undefined
}

/** Logs each transaction of a development chain, with reason of failure and `console.log`. Returns the function that ends it. */
export const logTransactions = ({ chain, reads, logger, abiFolder }: TransactionLogOptions): (() => void) => {
  const errorText = createErrorTexts(abiFolder)
  let waiting = 0
  let last = Promise.resolve()
  /** Some code that came with a transaction writes lines. */
  let hasConsole = false
  const mayWrite = ({ to, data }: Transaction): boolean => {
    hasConsole ||= asBuffer(data).includes(CONSOLE)
    return hasConsole || (to !== null && asBuffer(reads.view.headState.code(to)).includes(CONSOLE))
  }
  const log = (fields: object, { status }: Receipt, { reason, logs }: Execution): void =>
    logger.info(
      { ...fields, ...(reason !== undefined && { reason }), ...(logs !== undefined && logs.length > 0 && { logs }) },
      status === 0 ? 'transaction failed' : 'transaction',
    )
  const logExecution = async (fields: object, hash: Hex, receipt: Receipt, writes: boolean): Promise<void> => {
    const reason = receipt.status === 0 ? failureOf(reads, hash).then(found => reasonOf(found, errorText)) : undefined
    const logs = writes ? traceOf<readonly string[]>(reads, hash, CONSOLE_TRACE) : undefined
    const [foundReason, foundLogs] = await Promise.allSettled([reason, logs])
    log(fields, receipt, { reason: settledValue(foundReason), logs: settledValue(foundLogs) })
    waiting--
  }
  return chain.onCommitted(({ block, receipts }: CommittedEvent) => {
    for (const [index, transaction] of block.transactions.slice(0, BLOCK_LINES).entries()) {
      const receipt = receipts[index] as Receipt
      const fields = fieldsOf(transaction, receipt)
      const writes = mayWrite(transaction)
      if ((receipt.status !== 0 && !writes) || waiting === EXECUTIONS) log(fields, receipt, {})
      else {
        waiting++
        last = last.then(() => logExecution(fields, transaction.hash, receipt, writes))
      }
    }
    const more = block.transactions.length - BLOCK_LINES
    if (more > 0) logger.info({ number: block.header.number, more }, 'further transactions')
  })
}

/** Details of an execution besides its receipt. */
interface Execution {
  readonly reason?: string | undefined
  readonly logs?: readonly string[] | undefined
}

const settledValue = <T>(settled: PromiseSettledResult<T>): T | undefined =>
  settled.status === 'fulfilled' ? settled.value : undefined

const fieldsOf = ({ hash, from, to, data }: Transaction, { gasUsed, contractAddress }: Receipt) => ({
  hash,
  from,
  ...(to === null ? { created: contractAddress } : { to }),
  ...(to !== null && data.byteLength >= 4 && { method: `0x${asBuffer(data).toString('hex', 0, 4)}` }),
  gas: gasUsed,
})

/** Returns the decoded reason, else the custom error or its selector, else the error of the execution. */
const reasonOf = async (
  { error, output = '0x', revertReason }: TransactionFailure,
  errorText: ErrorTexts,
): Promise<string | undefined> => {
  if (revertReason !== undefined || error !== REASON.revert) return revertReason ?? error
  if (output.length < 10) return 'reverted without a reason'
  return (await errorText(output).catch(() => undefined)) ?? `custom error ${output.slice(0, 10)}`
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

/** Largest revert data that is decoded, largest artifact that is read, and most artifacts of a folder. */
const DATA_BYTES = 16 * 1024
const FILE_BYTES = 16 * 1024 * 1024
const FILES = 10_000

/** Text of the custom error in revert data; undefined when it is unknown. */
type ErrorTexts = (data: Hex) => Promise<string | undefined>

/** Decodes errors of common libraries and of a folder of ABIs (`devnet --abi`), read for an unknown error, so it may change. */
export const createErrorTexts = (folder: string | undefined): ErrorTexts => {
  const known = new Map<string, readonly ErrorAbi[]>([['', commonErrorAbi()]])
  return async data => {
    if (data.length > 2 * DATA_BYTES) return undefined
    const found = await decoded(data, [...known.values()].flat())
    if (found !== undefined || folder === undefined) return found
    await readFolder(folder, known)
    return decoded(data, [...known.values()].flat())
  }
}

const decoded = async (data: Hex, abi: readonly ErrorAbi[]): Promise<string | undefined> => {
  const { decodeError } = await import('micro-eth-signer/abi.js')
  // Without names, so that the values come as a list.
  const unnamed = abi.map(({ inputs, ...entry }) => ({ ...entry, inputs: inputs.map(withoutName) }))
  try {
    const error = decodeError(hexToBytes(data), unnamed)
    if (error === undefined) return undefined
    const values =
      (unnamed.find(entry => error.signature.startsWith(`${entry.name}(`))?.inputs.length ?? 0) === 1
        ? [error.args]
        : error.args
    return `${error.name}(${Array.isArray(values) ? values.map(textOf).join(', ') : ''})`
  } catch {
    // Data of another error with the same selector, or cut short.
    return undefined
  }
}

const withoutName = (input: object): { readonly type: string } => {
  const { name: _, components, ...rest } = input as { type: string; name?: string; components?: readonly object[] }
  return { ...rest, ...(components && { components: components.map(withoutName) }) }
}

const textOf = (value: unknown): string => {
  if (value instanceof Uint8Array) return bytesToHex(value)
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`
  return typeof value === 'string' && !value.startsWith('0x') ? JSON.stringify(value) : String(value)
}

/** Adds the errors of files that are new or have changed, by name and time. */
const readFolder = async (folder: string, known: Map<string, readonly ErrorAbi[]>): Promise<void> => {
  const names = (await readdir(folder, { recursive: true })).filter(name => name.endsWith('.json')).slice(0, FILES)
  for (const name of names) {
    const path = join(folder, name)
    const { mtimeMs, size } = await stat(path)
    const key = `${path} ${mtimeMs}`
    if (known.has(key) || size > FILE_BYTES) continue
    known.set(key, errorsOf(await readFile(path, 'utf8')))
  }
}

/** Errors of an ABI, or of the artifact of a compiler, which has it as `abi`; none of any other JSON. */
const errorsOf = (text: string): readonly ErrorAbi[] => {
  try {
    const document = JSON.parse(text) as { readonly abi?: unknown }
    const abi: unknown = document.abi ?? document
    return Array.isArray(abi) ? abi.filter(isError) : []
  } catch {
    return []
  }
}

const isError = (entry: Partial<ErrorAbi> | null): entry is ErrorAbi =>
  entry?.type === 'error' && typeof entry.name === 'string' && Array.isArray(entry.inputs)
