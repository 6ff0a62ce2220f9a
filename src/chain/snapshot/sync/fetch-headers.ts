import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError, isCoded, undefinedIfCoded } from '@tandem/base/errors.ts'
import { NETWORK_LIMITS } from '../../../config/limits/network.ts'
import { SNAPSHOT_LIMITS } from '../../../config/limits/sync.ts'
import { BLOCK_BOUNDS } from '../../../config/protocol-bounds.ts'
import type { SealedBlock } from '../../../network/messages/consensus-messages.ts'
import type { Network } from '../../../network/network.ts'
import type { Peer } from '../../../network/peer/peer.ts'
import { type DecodedBlock, decodeBlockHeader } from '../../../primitives/block.ts'
import type { Certificate } from '../../../primitives/consensus/certificate.ts'
import { readExtraData } from '../../../primitives/consensus/extra-data.ts'
import { claimsBlock, decodeFetchedBlocks } from '../../sync/fetch-blocks.ts'
import type { HistoryRange, HistoryTip } from '../backfill/history-rows.ts'
import type { SealedHeader } from './skipping-verification.ts'

export type PeerSource = Pick<Network, 'request' | 'reportForgery'>

/** No peer returned data that follows from verified data. */
type FetchError = { readonly code: 'NOT_OBTAINED'; readonly what: string }

export const fetchFailed = (what: string) => new CodedError<FetchError>({ code: 'NOT_OBTAINED', what })

/** Fetches up to `count` consecutive blocks from a number on, unverified except for their numbers and form. Rejects as `request` does. */
const fetchBlocks = async (network: PeerSource, first: number, count: number) => {
  const { answer, from } = await network.request(
    'getBlocks',
    { from: first, count },
    {
      among: peer => claimsBlock(peer, first),
      validate: blocks => (blocks.length === 0 ? 'empty' : blocks.length > count ? 'false' : 'good'),
    },
  )
  const { blocks: decoded, certificate } = (await decodeFetchedBlocks(network, answer, { from, first })).range
  return { blocks: answer.map(({ block }) => block), decoded, certificate, from }
}

/** Returns a header with its certificate, both unverified; no body is decoded. */
const sealedHeaderOf = ({ block, certificate }: SealedBlock): SealedHeader => ({
  ...decodeBlockHeader(block, BLOCK_BOUNDS.headerBytes),
  certificate,
})

/** Fetches one block that `isWanted` accepts, from `peer` or else from one that claims to have it. Rejects as `request` does. */
const fetchOne = async (
  network: PeerSource,
  number: number,
  isWanted: (sealed: SealedBlock) => boolean,
  peer?: string,
): Promise<SealedBlock> => {
  const among = (other: Peer) => (peer === undefined ? claimsBlock(other, number) : other.id === peer)
  const validate = ([block]: readonly SealedBlock[]) => (block !== undefined && isWanted(block) ? 'good' : 'empty')
  const { answer } = await network.request('getBlocks', { from: number, count: 1 }, { among, validate })
  return answer[0] as SealedBlock
}

/** Fetches the header of a block from one peer. Rejects as `request` does, or with BLOCK_MALFORMED. */
export const fetchSealedHeader = async (network: PeerSource, number: number, peer: string): Promise<SealedHeader> => {
  const sealed = sealedHeaderOf(await fetchOne(network, number, () => true, peer))
  if (sealed.header.number !== number) throw fetchFailed(`block ${number}`)
  return sealed
}

/** Fetches the header of the block named by the operator: a peer with another one is skipped and not blamed. Rejects as `request` does. */
export const fetchCheckpoint = async (network: PeerSource, { number, hash }: BlockPlace): Promise<SealedHeader> =>
  sealedHeaderOf(await fetchOne(network, number, sealed => headerOr(sealed)?.hash === hash))

/** Fetches the certificate of a block from its child's header; the caller verifies the quorum. Rejects as `request` does. */
export const fetchCertificate = async (network: PeerSource, { number, hash }: BlockPlace): Promise<Certificate> => {
  const certificateIn = (sealed: SealedBlock): Certificate | null => {
    const header = headerOr(sealed)?.header
    return header?.parentHash === hash ? (readExtraData(header)?.parentCertificate ?? null) : null
  }
  const certificate = certificateIn(await fetchOne(network, number + 1, sealed => certificateIn(sealed) !== null))
  assert(certificate !== null, 'a valid response has the certificate')
  return certificate
}

export interface BlockPlace {
  readonly number: number
  readonly hash: Hex
}

const headerOr = (sealed: SealedBlock) => undefinedIfCoded(() => sealedHeaderOf(sealed))

/** Senders of blocks, or of receipts, by the number of the block. */
type Senders = ReadonlyMap<number, string>

/**
 * Fetches a range by as many responses as it takes: a peer that sends fewer blocks delays only its own part. `longest`: blocks in the longest
 * response; `isWhole` is false where the rest was not fetched, since these are too many bytes already.
 */
const fetchJoined = async (network: PeerSource, first: number, count: number) => {
  const blocks: Uint8Array[] = []
  const decoded: DecodedBlock[] = []
  const from = new Map<number, string>()
  let [longest, bytes] = [0, 0]
  while (blocks.length < count && bytes <= SNAPSHOT_LIMITS.historyBytes) {
    const part = await fetchBlocks(network, first + blocks.length, count - blocks.length)
    for (const { header } of part.decoded) from.set(header.number, part.from)
    for (const block of part.blocks) bytes += block.byteLength
    blocks.push(...part.blocks)
    decoded.push(...part.decoded)
    longest = Math.max(longest, part.blocks.length)
  }
  return { blocks, decoded, from, longest, isWhole: blocks.length === count }
}

/** Fetches up to `count` blocks that end with `tip`, with receipts; in smaller ranges, the last first, when they are large. */
const fetchHistory = async (network: PeerSource, tip: HistoryTip, count: number) => {
  for (let wanted = Math.min(count, tip.number); ; ) {
    const { blocks, decoded, from, longest, isWhole } = await fetchJoined(network, tip.number - wanted + 1, wanted)
    if (!isWhole) {
      wanted = Math.min(longest, wanted - 1)
      continue
    }
    const receipts = await fetchReceipts(network, decoded)
    return {
      range: { blocks, receipts: receipts.bytes },
      blocksFrom: from,
      receiptsFrom: receipts.from,
      /** Number of blocks for the next request. */
      nextCount: Math.min(SNAPSHOT_LIMITS.historyBlocks, 2 * longest),
    }
  }
}

/** Fetches as `fetchHistory`, imports, reports the sender of a false block. Returns the next tip and number. Rejects as request and `put`. */
export const importHistory = async (
  network: PeerSource,
  tip: HistoryTip,
  count: number,
  put: (range: HistoryRange, tip: HistoryTip) => Promise<HistoryTip>,
): Promise<{ readonly tip: HistoryTip; readonly nextCount: number }> => {
  const { range, blocksFrom, receiptsFrom, nextCount } = await fetchHistory(network, tip, count)
  try {
    return { tip: await put(range, tip), nextCount }
  } catch (error) {
    if (isCoded(error)) {
      const { code, number } = error.detail as { readonly code: string; readonly number?: number }
      const senders = code === 'SNAPSHOT_FALSE' ? blocksFrom : code === 'RECEIPTS_FALSE' ? receiptsFrom : undefined
      const liar = senders?.get(number ?? -1)
      if (liar !== undefined) network.reportForgery(liar, error.message)
    }
    throw error
  }
}

/** Receipts of a block without transactions, which need no request. */
const NO_RECEIPTS = Uint8Array.of(0xc0)

const fetchReceipts = async (
  network: PeerSource,
  blocks: readonly DecodedBlock[],
): Promise<{ readonly bytes: readonly Uint8Array[]; readonly from: Senders }> => {
  const bytes: Uint8Array[] = blocks.map(() => NO_RECEIPTS)
  const wanted = blocks.flatMap(({ hash, transactions }, at) => (transactions.length > 0 ? [{ hash, at }] : []))
  const from = new Map<number, string>()
  for (let done = 0; done < wanted.length; ) {
    const asked = wanted.slice(done, done + NETWORK_LIMITS.receiptsPerRequest)
    const peerAnswer = await network.request(
      'getReceipts',
      asked.map(({ hash }) => hash),
      { validate: answer => (answer.length === 0 ? 'empty' : answer.length > asked.length ? 'false' : 'good') },
    )
    for (const [index, receipts] of peerAnswer.answer.entries()) {
      const at = asked[index]?.at as number
      bytes[at] = receipts
      from.set(blocks[at]?.header.number as number, peerAnswer.from)
    }
    done += peerAnswer.answer.length
  }
  return { bytes, from }
}
