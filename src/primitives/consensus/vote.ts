import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { CONSENSUS_BOUNDS } from '../../config/protocol-bounds.ts'
import { keccak256 } from '../../crypto/hash.ts'
import { decodeOrMalformed, malformed } from '../rlp/malformed.ts'
import { encodeRlp, type RlpItem, uintItem } from '../rlp/rlp.ts'
import { type RlpCursor, readWholeList } from '../rlp/rlp-cursor.ts'

/** Key of a validator. `sign` returns r, s and recovery id (65 bytes) over a 32-byte digest. */
export interface ValidatorSigner {
  readonly address: Hex
  sign(digest: Uint8Array): Uint8Array
}

/** Type codes of signed consensus messages (docs/design/consensus.md#messages). */
export const VOTE_TYPE_CODE = { proposal: 0, prepare: 1, commit: 2, roundChange: 3 } as const
export type VoteType = keyof typeof VOTE_TYPE_CODE

export interface SignedVote {
  readonly number: number
  readonly round: number
  /** Index in the height's committee. */
  readonly sender: number
  /** r, s and recovery id, 65 bytes. */
  readonly signature: Uint8Array
}

export interface Prepare extends SignedVote {
  readonly type: 'prepare'
  readonly blockHash: Hex
}

/** Its signature is the seal in certificates. */
export interface Commit extends SignedVote {
  readonly type: 'commit'
  readonly blockHash: Hex
}

/** Block with a quorum of prepares in a round. */
export interface PreparedBlock {
  readonly round: number
  readonly blockHash: Hex
}

/** Signed content of a round change. */
export interface RoundChangePayload extends SignedVote {
  readonly type: 'roundChange'
  /** null: nothing prepared. */
  readonly prepared: PreparedBlock | null
}

export interface RoundChange extends RoundChangePayload {
  /** Quorum of prepares for `prepared`, not covered by the signature; empty when nothing is prepared. */
  readonly prepares: readonly Prepare[]
}

export type Vote = Prepare | Commit | RoundChange

/** Chain to which a signature is bound. */
export interface SigningDomain {
  readonly chainId: number
  readonly genesisHash: Hex
}

const PROTOCOL = new TextEncoder().encode('native-pbft/1')
const SIGNATURE_BYTES = 65

/** keccak256(RLP[protocol, type, chain id, genesis hash, number, round, body...]) (docs/design/consensus.md#messages). */
export const signingDigest = (
  domain: SigningDomain,
  type: VoteType,
  position: { readonly number: number; readonly round: number },
  body: readonly RlpItem[],
): Uint8Array =>
  keccak256(
    encodeRlp([
      PROTOCOL,
      uintItem(VOTE_TYPE_CODE[type]),
      uintItem(domain.chainId),
      hexToBytes(domain.genesisHash),
      uintItem(position.number),
      uintItem(position.round),
      ...body,
    ]),
  )

/** Digest of a prepare, or of a commit's seal: bound to chain, height, round and block. */
export const blockVoteDigest = (
  domain: SigningDomain,
  vote: Pick<Prepare | Commit, 'type' | 'number' | 'round' | 'blockHash'>,
): Uint8Array => signingDigest(domain, vote.type, vote, [hexToBytes(vote.blockHash)])

export const roundChangeDigest = (
  domain: SigningDomain,
  change: Pick<RoundChangePayload, 'number' | 'round' | 'prepared'>,
): Uint8Array => signingDigest(domain, 'roundChange', change, [preparedItem(change.prepared)])

/** The empty list means that nothing is prepared. */
const preparedItem = (prepared: PreparedBlock | null): RlpItem =>
  prepared === null ? [] : [uintItem(prepared.round), hexToBytes(prepared.blockHash)]

/** [number, round, block hash, sender, signature] */
export const blockVoteItem = (vote: Prepare | Commit): readonly RlpItem[] => [
  uintItem(vote.number),
  uintItem(vote.round),
  hexToBytes(vote.blockHash),
  uintItem(vote.sender),
  vote.signature,
]

/** [number, round, prepared, sender, signature]: the signed part, as in a proposal's justification. */
export const roundChangePayloadItem = (change: RoundChangePayload): readonly RlpItem[] => [
  uintItem(change.number),
  uintItem(change.round),
  preparedItem(change.prepared),
  uintItem(change.sender),
  change.signature,
]

/** [type code, vote(, prepares)]; at most CONSENSUS_BOUNDS.voteBytes. */
export const encodeVote = (vote: Vote): Uint8Array => {
  const code = uintItem(VOTE_TYPE_CODE[vote.type])
  if (vote.type !== 'roundChange') return encodeRlp([code, blockVoteItem(vote)])
  return encodeRlp([code, roundChangePayloadItem(vote), vote.prepares.map(blockVoteItem)])
}

/** Strict; signatures are views of `bytes`. Checks form only. Throws VOTE_MALFORMED. */
export const decodeVote = (bytes: Uint8Array): Vote =>
  decodeOrMalformed('VOTE_MALFORMED', () => {
    if (bytes.byteLength > CONSENSUS_BOUNDS.voteBytes) throw malformed('VOTE_MALFORMED', 'too long')
    return readWholeList(bytes, cursor => readVote(cursor, cursor.safeUint()))
  })

const readVote = (cursor: RlpCursor, code: number): Vote => {
  switch (code) {
    case VOTE_TYPE_CODE.prepare:
      return readPrepare(cursor)
    case VOTE_TYPE_CODE.commit:
      return { type: 'commit', ...readBlockVote(cursor) }
    case VOTE_TYPE_CODE.roundChange:
      return { ...readRoundChangePayload(cursor), prepares: readVotes(cursor, readPrepare) }
    default:
      throw malformed('VOTE_MALFORMED', `no vote has the code ${code}`)
  }
}

export const readPrepare = (cursor: RlpCursor): Prepare => ({ type: 'prepare', ...readBlockVote(cursor) })

const readBlockVote = (cursor: RlpCursor) =>
  cursor.list(() => ({
    number: cursor.safeUint(),
    round: cursor.safeUint(),
    blockHash: cursor.hex(32),
    ...readSigned(cursor),
  }))

export const readRoundChangePayload = (cursor: RlpCursor): RoundChangePayload =>
  cursor.list(() => {
    const [number, round] = [cursor.safeUint(), cursor.safeUint()]
    return { type: 'roundChange', number, round, prepared: readPrepared(cursor), ...readSigned(cursor) }
  })

const readPrepared = (cursor: RlpCursor): PreparedBlock | null =>
  cursor.takeEmptyList() ? null : cursor.list(() => ({ round: cursor.safeUint(), blockHash: cursor.hex(32) }))

export const readSigned = (cursor: RlpCursor): Pick<SignedVote, 'sender' | 'signature'> => {
  const sender = cursor.safeUint()
  if (sender >= CONSENSUS_BOUNDS.committee) throw malformed('VOTE_MALFORMED', `no committee has a member ${sender}`)
  const signature = cursor.bytes()
  if (signature.byteLength !== SIGNATURE_BYTES) throw malformed('VOTE_MALFORMED', 'a signature has 65 bytes')
  return { sender, signature }
}

/** Reads a list; none in a consensus message is longer than the largest committee. */
export const readVotes = <Item>(cursor: RlpCursor, read: (cursor: RlpCursor) => Item): readonly Item[] =>
  cursor.items(read, CONSENSUS_BOUNDS.committee)
