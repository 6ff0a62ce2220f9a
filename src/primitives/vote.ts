import { LIMITS } from '../config/limits.ts'
import { keccak256 } from '../crypto/hash.ts'
import { bigintToBytes, bytesToBigint, bytesToHex, type Hex, hexToBytes } from '../util/bytes.ts'
import { CodedError } from '../util/errors.ts'
import { encodeRlp, type RlpItem } from './rlp.ts'

/** Type codes of signed consensus messages (reference/consensus.md 1.2). */
export const VOTE_CODE = { proposal: 0, prepare: 1, commit: 2, roundChange: 3 } as const
export type VoteType = keyof typeof VOTE_CODE

interface Signed {
  readonly number: number
  readonly round: number
  /** Index in the height's committee. */
  readonly sender: number
  /** r, s and recovery id, 65 bytes. */
  readonly signature: Uint8Array
}

export interface Prepare extends Signed {
  readonly type: 'prepare'
  readonly blockHash: Hex
}

/** Its signature is the seal that certificates carry. */
export interface Commit extends Signed {
  readonly type: 'commit'
  readonly blockHash: Hex
}

/** What a round change claims and signs. */
export interface RoundChangePayload extends Signed {
  readonly type: 'roundChange'
  /** null: nothing prepared. */
  readonly prepared: { readonly round: number; readonly blockHash: Hex } | null
}

export interface RoundChange extends RoundChangePayload {
  /** The quorum of prepares behind `prepared`, not covered by the signature; empty when nothing is prepared. */
  readonly prepares: readonly Prepare[]
}

export type Vote = Prepare | Commit | RoundChange

/** What binds a signature to one chain. */
export interface SigningDomain {
  readonly chainId: number
  readonly genesisHash: Hex
}

const PROTOCOL = new TextEncoder().encode('native-pbft/1')

export const rlpNumber = (value: number): Uint8Array => bigintToBytes(BigInt(value))

/** keccak256(RLP[protocol, type, chain id, genesis hash, number, round, body...]) (reference/consensus.md 1.2). */
export const signingDigest = (
  domain: SigningDomain,
  type: VoteType,
  number: number,
  round: number,
  body: readonly RlpItem[],
): Uint8Array =>
  keccak256(
    encodeRlp([
      PROTOCOL,
      rlpNumber(VOTE_CODE[type]),
      rlpNumber(domain.chainId),
      hexToBytes(domain.genesisHash),
      rlpNumber(number),
      rlpNumber(round),
      ...body,
    ]),
  )

export const prepareDigest = (domain: SigningDomain, number: number, round: number, blockHash: Hex): Uint8Array =>
  signingDigest(domain, 'prepare', number, round, [hexToBytes(blockHash)])

/** What a seal signs: bound to chain, height, round and block. */
export const commitDigest = (domain: SigningDomain, number: number, round: number, blockHash: Hex): Uint8Array =>
  signingDigest(domain, 'commit', number, round, [hexToBytes(blockHash)])

export const roundChangeDigest = (
  domain: SigningDomain,
  number: number,
  round: number,
  prepared: RoundChangePayload['prepared'],
): Uint8Array => signingDigest(domain, 'roundChange', number, round, [preparedItem(prepared)])

const preparedItem = (prepared: RoundChangePayload['prepared']): RlpItem =>
  prepared === null ? [] : [rlpNumber(prepared.round), hexToBytes(prepared.blockHash)]

/** The RLP of a vote without its type code: [number, round, body..., sender, signature(, prepares)]. */
export const voteToRlp = (vote: Vote): RlpItem =>
  vote.type === 'roundChange'
    ? [...roundChangeItems(vote), vote.prepares.map(voteToRlp)]
    : [
        rlpNumber(vote.number),
        rlpNumber(vote.round),
        hexToBytes(vote.blockHash),
        rlpNumber(vote.sender),
        vote.signature,
      ]

/** The signed part of a round change alone, as a proposal's justification carries it. */
export const roundChangePayloadToRlp = (payload: RoundChangePayload): RlpItem => roundChangeItems(payload)

const roundChangeItems = (payload: RoundChangePayload): RlpItem[] => [
  rlpNumber(payload.number),
  rlpNumber(payload.round),
  preparedItem(payload.prepared),
  rlpNumber(payload.sender),
  payload.signature,
]

export const prepareFromRlp = (item: RlpItem): Prepare => ({ type: 'prepare', ...blockVote(item) })
export const commitFromRlp = (item: RlpItem): Commit => ({ type: 'commit', ...blockVote(item) })

const blockVote = (item: RlpItem) => {
  const [number, round, hash, sender, signature] = fields(item, 5)
  return { number: numberOf(number), round: numberOf(round), blockHash: hashOf(hash), ...signed(sender, signature) }
}

export const roundChangePayloadFromRlp = (item: RlpItem): RoundChangePayload => payload(fields(item, 5))

export const roundChangeFromRlp = (item: RlpItem): RoundChange => {
  const items = fields(item, 6)
  const prepares = listOf(items[5]).map(prepareFromRlp)
  return { ...payload(items), prepares }
}

const payload = (items: readonly RlpItem[]): RoundChangePayload => ({
  type: 'roundChange',
  number: numberOf(items[0]),
  round: numberOf(items[1]),
  prepared: preparedFrom(listOf(items[2], 2)),
  ...signed(items[3], items[4]),
})

const preparedFrom = (items: readonly RlpItem[]): RoundChangePayload['prepared'] => {
  if (items.length === 0) return null
  if (items.length !== 2) throw malformed('prepared round')
  return { round: numberOf(items[0]), blockHash: hashOf(items[1]) }
}

const signed = (sender: RlpItem | undefined, signature: RlpItem | undefined) => ({
  sender: numberOf(sender, LIMITS.consensus.committee),
  signature: bytesOf(signature, 65),
})

export type VoteDecodeError = { readonly code: 'CONSENSUS_MESSAGE_MALFORMED'; readonly part: string }

export const malformed = (part: string) => new CodedError<VoteDecodeError>({ code: 'CONSENSUS_MESSAGE_MALFORMED', part })

/** A list of exactly `count` items. */
export const fields = (item: RlpItem | undefined, count: number): readonly RlpItem[] => {
  if (item === undefined || item instanceof Uint8Array || item.length !== count) throw malformed(`list of ${count}`)
  return item
}

/** A list of at most `max` items: no list in a message is longer than a committee. */
export const listOf = (item: RlpItem | undefined, max: number = LIMITS.consensus.committee): readonly RlpItem[] => {
  if (item === undefined || item instanceof Uint8Array || item.length > max) throw malformed('list')
  return item
}

export const bytesOf = (item: RlpItem | undefined, size: number): Uint8Array => {
  if (!(item instanceof Uint8Array) || item.byteLength !== size) throw malformed(`${size} bytes`)
  return item
}

export const hashOf = (item: RlpItem | undefined): Hex => bytesToHex(bytesOf(item, 32))

/** Heights and rounds: canonical integers up to `max`. */
export const numberOf = (item: RlpItem | undefined, max: number = MAX_NUMBER): number => {
  if (!(item instanceof Uint8Array) || item.byteLength > 6 || item[0] === 0) throw malformed('integer')
  const value = Number(bytesToBigint(item))
  if (value > max) throw malformed('integer')
  return value
}

/** Six bytes: far above any height or round, far below the loss of precision. */
const MAX_NUMBER = 2 ** 48 - 1
