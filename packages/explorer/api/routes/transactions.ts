import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { type ChainRules, splitFee } from '../../chain/rules.ts'
import type { IncludedReceipt, Log } from '../../chain/types.ts'
import { recordOfTransaction } from '../../indexer/block-record.ts'
import { transfersFromLogs } from '../../indexer/token-logs.ts'
import { checksumAddress } from '../../keccak.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import { TRANSACTION_KINDS, type TransactionKind } from '../../store/records.ts'
import type { TransactionRow } from '../../store/sql/rows.ts'
import { decodeCallByAbi, decodeLogByAbi } from '../../verification/abi/decoded-call.ts'
import { failureText } from '../../verification/abi/failure-text.ts'
import { decodeKnownCall, decodeKnownLog, knownFunctionName } from '../../verification/abi/known-signatures.ts'
import { proxyTarget } from '../../verification/proxies.ts'
import { invalidParameter, notFound } from '../api-error.ts'
import type { ApiContext, ApiRoute } from '../api-route.ts'
import { authorizationsBody } from '../authorizations.ts'
import { checksumOrNull } from '../format.ts'
import { ADDRESS, HASH, pageOfShape } from '../json-schema.ts'
import { type ListQuery, PAGE_QUERY, pageBody, pageRequest } from '../paging.ts'
import { TRANSACTION_ITEM_SHAPE, TRANSACTION_SHAPE } from '../shapes.ts'
import { internalTransfersOf } from './internal-transfers.ts'
import { movementBody, tokenReference } from './transfers.ts'

export const transactionItem = (row: TransactionRow) => ({
  hash: row.hash,
  blockNumber: row.blockNumber,
  blockHash: row.blockHash,
  timestamp: row.timestamp,
  transactionIndex: row.index,
  from: checksumAddress(row.from),
  to: checksumOrNull(row.to),
  contractAddress: checksumOrNull(row.created),
  value: row.value.toString(),
  gas: row.gas.toString(),
  gasUsed: row.gasUsed.toString(),
  gasPrice: row.gasPrice.toString(),
  feeWei: (row.gasUsed * row.gasPrice).toString(),
  nonce: row.nonce,
  type: row.type,
  status: row.status,
  txType: row.kind,
  method: knownFunctionName(row.methodId),
  methodId: row.methodId,
})

const transfersOf = async ({ index }: ApiContext, { receipt, firstLog }: IncludedReceipt) => {
  const found: Promise<ReturnType<typeof movementBody>>[] = []
  for (const [at, log] of receipt.logs.entries()) {
    for (const movement of transfersFromLogs(log)) {
      if (found.length >= EXPLORER_LIMITS.api.transfers) return Promise.all(found)
      const token = index.token(log.address).then(row => tokenReference(log.address, row))
      found.push(token.then(reference => movementBody({ ...movement, logIndex: firstLog + at }, reference)))
    }
  }
  return Promise.all(found)
}

/** The first logs of a transaction, as many as an answer has. */
const shownLogs = (logs: readonly Log[]): readonly Log[] => {
  const { dataBytes, logBytes, logs: most } = EXPLORER_LIMITS.api
  let bytes = 0
  const end = logs.findIndex(({ data }, at) => {
    bytes += Math.min(data.byteLength, dataBytes)
    return at >= most || bytes > logBytes
  })
  return end === -1 ? logs : logs.slice(0, end)
}

/**
 * ABI of the contract that a call or a log belongs to: its own, or that of what it is a proxy of. Those of one transaction are read as long
 * as their texts together are no longer than an answer may take time for.
 */
const abiFor = (context: ApiContext) => {
  const { verifier } = context.verification
  let left = EXPLORER_LIMITS.api.abiChars
  return async (address: Hex): Promise<readonly unknown[] | undefined> => {
    const own = await verifier.verified(address)
    const target = (await proxyTarget(context, address))?.implementation
    const behind = target ? await verifier.verified(target) : undefined
    const texts = [behind, own].flatMap(contract => (contract ? [contract.abi] : []))
    const chars = texts.reduce((sum, text) => sum + text.length, 0)
    if (texts.length === 0 || chars > left) return undefined
    left -= chars
    return texts.flatMap(text => JSON.parse(text) as readonly unknown[])
  }
}

type DecodedData = ReturnType<typeof decodeCallByAbi>

/** Decodes by the ABI of a verified contract, or else by the bundled list; null when neither fits. */
const decodedBy = <T>(
  abi: readonly unknown[] | undefined,
  data: T,
  byAbi: (abi: readonly unknown[], data: T) => DecodedData,
  byList: (data: T) => DecodedData,
) => {
  const decoded = abi === undefined ? byList(data) : byAbi(abi, data)
  return decoded === undefined ? null : { ...decoded, verified: abi !== undefined }
}

/** Addresses of one transaction whose ABI is looked up. */
const DECODED_CONTRACTS = 20

/** Decoded calldata and logs: by the ABI of a verified contract, or else where they look like those of a common standard. */
const decodedParts = async (
  context: ApiContext,
  { transaction }: Pick<IncludedReceipt, 'transaction'>,
  logs: readonly Log[],
) => {
  const addresses = new Set([transaction.to ?? undefined, ...logs.map(({ address }) => address)])
  addresses.delete(undefined)
  const lookUp = abiFor(context)
  const abis = new Map<Hex, readonly unknown[] | undefined>()
  for (const address of [...addresses].slice(0, DECODED_CONTRACTS) as Hex[]) abis.set(address, await lookUp(address))
  const called = transaction.to === null ? undefined : abis.get(transaction.to)
  return {
    abi: called,
    input: transaction.to === null ? null : decodedBy(called, transaction.data, decodeCallByAbi, decodeKnownCall),
    logs: logs.map(log => decodedBy(abis.get(log.address), log, decodeLogByAbi, decodeKnownLog)),
  }
}

/** Cause of a failure; null: it succeeded, or the node does not know the cause. */
const failureOf = async (
  { index, source }: ApiContext,
  { receipt, blockNumber, index: at }: IncludedReceipt,
  abi: readonly unknown[] | undefined,
): Promise<{ readonly revertReason: string | null; readonly revertData: Hex | null }> => {
  if (receipt.status !== 0) return { revertReason: null, revertData: null }
  const isIndexed = ((await index.position())?.number ?? -1) >= blockNumber
  const failed = isIndexed
    ? await index.failedExecution(blockNumber, at)
    : await source.failedExecution({ number: blockNumber, index: at })
  if (failed === undefined) return { revertReason: null, revertData: null }
  return { revertReason: failureText(failed, abi), revertData: bytesToHex(failed.output) }
}

const dataText = (data: Uint8Array): Hex => bytesToHex(data.subarray(0, EXPLORER_LIMITS.api.dataBytes))

/** Burnt part of a fee: by the shares of the chain, elsewhere the base fee. */
const burntOf = (feeWei: bigint, baseWei: bigint, { tandem }: ChainRules): bigint =>
  tandem === undefined ? baseWei : splitFee(feeWei, tandem.feeShares, true).burnt

/** Throws NOT_FOUND. */
export const transactionBody = async (context: ApiContext, hash: Hex) => {
  const { source, rules } = context
  const included = await source.receipt(hash)
  const header = included && (await source.header(included.blockNumber))
  const head = (await source.headNumber()) ?? 0
  if (included === undefined || header === undefined || included.blockNumber > head)
    throw notFound(`transaction ${hash} is in no block`)
  const { transaction, receipt, firstLog, blockNumber, blockHash, index } = included
  const tokenTransfers = await transfersOf(context, included)
  const logs = shownLogs(receipt.logs)
  const decoded = await decodedParts(context, included, logs)
  const record = recordOfTransaction(transaction, index, receipt, tokenTransfers.length > 0)
  const feeWei = receipt.gasUsed * receipt.effectiveGasPrice
  const isDynamic = transaction.type >= 2
  return {
    ...transactionItem({ ...record, blockNumber, blockHash, timestamp: header.timestamp }),
    input: dataText(transaction.data),
    decodedInput: decoded.input,
    cumulativeGasUsed: receipt.cumulativeGasUsed.toString(),
    effectiveGasPrice: receipt.effectiveGasPrice.toString(),
    baseFeePerGas: header.baseFeePerGas.toString(),
    burntWei: burntOf(feeWei, receipt.gasUsed * header.baseFeePerGas, rules).toString(),
    v: transaction.v.toString(),
    r: bytesToHex(transaction.r),
    s: bytesToHex(transaction.s),
    accessList:
      transaction.type === 0
        ? null
        : transaction.accessList.map(({ address, storageKeys }) => ({
            address: checksumAddress(address),
            storageKeys,
          })),
    authorizations: await authorizationsBody(context, transaction.authorizationList),
    maxFeePerGas: isDynamic ? transaction.maxFeePerGas.toString() : null,
    maxPriorityFeePerGas: isDynamic ? transaction.maxPriorityFeePerGas.toString() : null,
    ...(await failureOf(context, included, decoded.abi)),
    logCount: receipt.logs.length,
    logs: logs.map(({ address, topics, data }, at) => ({
      logIndex: firstLog + at,
      address: checksumAddress(address),
      topics,
      data: dataText(data),
      decoded: decoded.logs[at] ?? null,
    })),
    tokenTransfers,
    internalTransfers: await internalTransfersOf(context, blockNumber, index),
    confirmations: head - blockNumber + 1,
  }
}

/** Total number of items; null where no running sum has it. */
const totalOf = async (
  { index }: ApiContext,
  { kind, from, to }: { readonly kind?: TransactionKind; readonly from?: Hex; readonly to?: Hex },
): Promise<number | null> => {
  const given = [kind, from, to].filter(filter => filter !== undefined).length
  if (given > 1) return null
  if (from !== undefined) return (await index.account(from))?.sent ?? 0
  if (to !== undefined) return (await index.account(to))?.received ?? 0
  const counters = await index.counters()
  return kind === undefined ? counters.transactions : counters.kinds[kind]
}

const addressFilter = (query: Readonly<Record<string, unknown>>, field: 'from' | 'to'): Hex | undefined => {
  const text = query[field]
  if (text === undefined || text === '') return undefined
  if (typeof text !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(text))
    throw invalidParameter(field, `${field}: an address, 0x and 40 hex digits`)
  return text.toLowerCase() as Hex
}

/** A page of transactions, newest first. Throws INVALID_PARAMETER. */
export const transactionsBody = async (context: ApiContext, query: ListQuery) => {
  const request = pageRequest(query, ['number', 'number'])
  const from = addressFilter(query, 'from')
  const to = addressFilter(query, 'to')
  const kind = query['txType'] as TransactionKind | undefined
  const filter = { ...(kind && { kind }), ...(from && { from }), ...(to && { to }) }
  const page = await context.index.transactions(filter, request)
  return pageBody(page, page.items.map(transactionItem), request, await totalOf(context, filter))
}

/** A page of what an address sent and received, newest first. Throws INVALID_PARAMETER. */
export const addressTransactionsBody = async ({ index }: ApiContext, party: Hex, query: ListQuery) => {
  const request = pageRequest(query, ['number', 'number'])
  const page = await index.transactions({ party }, request)
  const total = (await index.account(party))?.transactions ?? 0
  return pageBody(page, page.items.map(transactionItem), request, total)
}

export const transactionRoutes: readonly ApiRoute[] = [
  {
    path: '/api/transactions',
    summary: 'Transactions, newest first',
    query: {
      ...PAGE_QUERY,
      txType: { type: 'string', enum: TRANSACTION_KINDS, description: 'Only of this kind' },
      from: { ...ADDRESS, description: 'Only of this sender' },
      to: { ...ADDRESS, description: 'Only to this recipient, or creating this contract' },
    },
    result: pageOfShape(TRANSACTION_ITEM_SHAPE),
    needsIndex: true,
    handler: (context, { query }) => transactionsBody(context, query),
  },
  {
    path: '/api/transactions/:hash',
    summary: 'One transaction with its receipt, logs and token transfers',
    params: { hash: { ...HASH, description: 'Hash of a transaction' } },
    result: TRANSACTION_SHAPE,
    needsIndex: false,
    handler: (context, { params }) => transactionBody(context, (params['hash'] as string).toLowerCase() as Hex),
  },
]
