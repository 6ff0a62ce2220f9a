import { LIMITS } from '../../../config/limits.ts'
import type { Network } from '../../../network/network.ts'
import type { SealedBlock } from '../../../network/wire/consensus.ts'
import { type DecodedBlock, decodeBlockHeader } from '../../../primitives/block.ts'
import type { Certificate } from '../../../primitives/consensus/certificate.ts'
import { readExtraData } from '../../../primitives/extra-data.ts'
import { assert } from '../../../util/assert.ts'
import type { Hex } from '../../../util/bytes.ts'
import { CodedError, isCoded, undefinedIfCoded } from '../../../util/errors.ts'
import { claimsBlock, decodeFetchedBlocks } from '../../sync/fetch-blocks.ts'
import type { HistoryRange, HistoryTip } from '../backfill/history-rows.ts'
import type { SealedHeader } from './skipping-verification.ts'

export type PeerSource = Pick<Network, 'request' | 'reportForgery'>

/** No peer answered with what follows from what is known. */
export type FetchError = { readonly code: 'NOT_OBTAINED'; readonly what: string }

export const fetchFailed = (what: string) => new CodedError<FetchError>({ code: 'NOT_OBTAINED', what })

interface FetchedBlocks {
  readonly blocks: readonly Uint8Array[]
  readonly decoded: readonly DecodedBlock[]
  readonly certificate: Certificate
  readonly from: string
}

/** Up to `count` consecutive blocks from a number on, as they come: their numbers are right and the form is sound. Rejects as `request` does. */
const fetchBlocks = async (network: PeerSource, first: number, count: number): Promise<FetchedBlocks> => {
  const { answer, from } = await network.request(
    'getBlocks',
    { from: first, count },
    {
      among: peer => claimsBlock(peer, first),
      judge: blocks => (blocks.length === 0 ? 'empty' : blocks.length > count ? 'false' : 'good'),
    },
  )
  const { blocks: decoded, certificate } = (await decodeFetchedBlocks(network, answer, { from, first })).range
  return { blocks: answer.map(({ block }) => block), decoded, certificate, from }
}

/** A header with the certificate that came beside it, both by a peer's word alone; no body is read. */
const sealedHeaderOf = ({ block, certificate }: SealedBlock): SealedHeader => ({
  ...decodeBlockHeader(block, LIMITS.block.headerBytes),
  certificate,
})

/** Header of a block as one peer has it. Rejects as `request` does, or with BLOCK_MALFORMED. */
export const fetchSealedHeader = async (network: PeerSource, number: number, peer: string): Promise<SealedHeader> => {
  const { answer } = await network.request(
    'getBlocks',
    { from: number, count: 1 },
    { among: ({ id }) => id === peer, judge: blocks => (blocks.length === 1 ? 'good' : 'empty') },
  )
  const sealed = sealedHeaderOf(answer[0] as SealedBlock)
  if (sealed.header.number !== number) throw fetchFailed(`block ${number}`)
  return sealed
}

/** Header of the block that the operator named: whoever has another one is passed over, and not blamed. Rejects as `request` does. */
export const fetchCheckpoint = async (network: PeerSource, { number, hash }: BlockPlace): Promise<SealedHeader> => {
  const { answer } = await network.request(
    'getBlocks',
    { from: number, count: 1 },
    {
      among: peer => claimsBlock(peer, number),
      judge: ([block]) => (block !== undefined && headerOr(block)?.hash === hash ? 'good' : 'empty'),
    },
  )
  return sealedHeaderOf(answer[0] as SealedBlock)
}

/** Certificate of a block in the header of its child, which names it; whether it is one of a quorum is for the caller. Rejects as `request` does. */
export const fetchCertificate = async (network: PeerSource, { number, hash }: BlockPlace): Promise<Certificate> => {
  const certificateIn = (sealed: SealedBlock | undefined): Certificate | null => {
    const header = sealed && headerOr(sealed)?.header
    return header?.parentHash === hash ? (readExtraData(header)?.parentCertificate ?? null) : null
  }
  const { answer } = await network.request(
    'getBlocks',
    { from: number + 1, count: 1 },
    {
      among: peer => claimsBlock(peer, number + 1),
      judge: ([block]) => (certificateIn(block) === null ? 'empty' : 'good'),
    },
  )
  const certificate = certificateIn(answer[0])
  assert(certificate !== null, 'a good answer holds the certificate')
  return certificate
}

interface BlockPlace {
  readonly number: number
  readonly hash: Hex
}

const headerOr = (sealed: SealedBlock) => undefinedIfCoded(() => sealedHeaderOf(sealed))

interface FetchedHistory {
  readonly range: HistoryRange
  readonly from: { readonly blocks: string; readonly receipts: readonly string[] }
  /** How many blocks to ask for next time: as many as come in one answer. */
  readonly nextCount: number
}

/**
 * The blocks that end with `tip`, up to `count` of them, with their receipts. Blocks that do not fit in one answer are asked for again in
 * smaller ranges, since those at the end are wanted first.
 */
const fetchHistory = async (network: PeerSource, tip: HistoryTip, count: number): Promise<FetchedHistory> => {
  let wanted = Math.min(count, tip.number)
  for (;;) {
    const fetched = await fetchBlocks(network, tip.number - wanted + 1, wanted)
    if (fetched.blocks.length < wanted) {
      wanted = Math.max(1, Math.min(fetched.blocks.length, wanted - 1))
      continue
    }
    const receipts = await fetchReceipts(network, fetched.decoded)
    const nextCount = Math.min(LIMITS.snapshot.historyBlocks, 2 * wanted)
    return {
      range: { blocks: fetched.blocks, receipts: receipts.bytes },
      from: { blocks: fetched.from, receipts: receipts.from },
      nextCount,
    }
  }
}

/**
 * Fetches blocks as `fetchHistory` does and puts them in; whoever sent what is false is named. Answers the tip of those before, and
 * how many to ask for next time. Rejects as the request and `put` do.
 */
export const importHistory = async (
  network: PeerSource,
  tip: HistoryTip,
  count: number,
  put: (range: HistoryRange, tip: HistoryTip) => Promise<HistoryTip>,
): Promise<{ readonly tip: HistoryTip; readonly nextCount: number }> => {
  const { range, from, nextCount } = await fetchHistory(network, tip, count)
  try {
    return { tip: await put(range, tip), nextCount }
  } catch (error) {
    blame(network, error, from)
    throw error
  }
}

/** Whoever sent blocks or receipts that are false. */
const blame = (network: PeerSource, error: unknown, from: FetchedHistory['from']): void => {
  if (!isCoded(error)) return
  if (error.code === 'SNAPSHOT_FALSE') network.reportForgery(from.blocks, error.message)
  if (error.code === 'RECEIPTS_FALSE')
    for (const peer of new Set(from.receipts)) network.reportForgery(peer, error.message)
}

/** Where there are no transactions there is nothing to ask for. */
const NO_RECEIPTS = Uint8Array.of(0xc0)

const fetchReceipts = async (
  network: PeerSource,
  blocks: readonly DecodedBlock[],
): Promise<{ readonly bytes: readonly Uint8Array[]; readonly from: readonly string[] }> => {
  const bytes: Uint8Array[] = blocks.map(() => NO_RECEIPTS)
  const wanted = blocks.flatMap(({ hash, transactions }, at) => (transactions.length > 0 ? [{ hash, at }] : []))
  const from: string[] = []
  for (let done = 0; done < wanted.length; ) {
    const asked = wanted.slice(done, done + LIMITS.network.receiptsPerRequest)
    const peerAnswer = await network.request(
      'getReceipts',
      asked.map(({ hash }) => hash),
      { judge: answer => (answer.length === 0 ? 'empty' : answer.length > asked.length ? 'false' : 'good') },
    )
    for (const [index, receipts] of peerAnswer.answer.entries()) bytes[asked[index]?.at as number] = receipts
    done += peerAnswer.answer.length
    from.push(peerAnswer.from)
  }
  return { bytes, from }
}
