import { type Hex, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { CodedError, type Mismatch } from '@tandem/base/errors.ts'
import { forkHeight } from '../../config/forks.ts'
import type { ChainParams } from '../../config/networks.ts'
import { PROOF_BOUNDS } from '../../config/protocol-bounds.ts'
import type { ProofHeader, ProofTemplate } from '../../primitives/proof-header.ts'
import {
  maxTargetOf,
  type ProofVersion,
  proofTarget,
  proofVersionAt,
  proofWork,
  type TargetReference,
} from './proof-target.ts'

/** State of the proof chain after a header, or after a main block: all data needed to validate the next header. */
export interface ProofState {
  /** Id of the newest header; zero while there is none. */
  readonly tipId: Hex
  readonly tipHeight: number
  readonly tipAnchor: number
  readonly tipTarget: bigint
  /** Payee of the newest header: the `miner` of the main blocks after its inclusion; zero while there is none. */
  readonly coinbase: Hex
  /** Coinbases of the newest `paidHeaders` headers, the newest last: they share the miners' part of a cycle. */
  readonly coinbases: readonly Hex[]
  /** Sum of the work of all headers. */
  readonly totalWork: bigint
  readonly reference: TargetReference
}

/** Proof header that cannot follow its parent, with its value and the required one. */
export type ProofHeaderError =
  | { readonly code: 'PROOF_VERSION'; readonly have: number; readonly want: number; readonly reason: string }
  | Mismatch<'PROOF_HEIGHT' | 'PROOF_ANCHOR_ORDER' | 'PROOF_ANCHOR_STALE' | 'PROOF_ANCHOR_FUTURE', number>
  | Mismatch<'PROOF_PARENT' | 'PROOF_ANCHOR_HASH', Hex>
  | Mismatch<'PROOF_TARGET' | 'PROOF_WORK', bigint>
  | { readonly code: 'PROOF_COINBASE' }
  | { readonly code: 'PROOF_MIX_HASH'; readonly reason: string }

const fail = (detail: ProofHeaderError): never => {
  throw new CodedError(detail)
}

/** State before the first header: no tip, and the easiest target of the version at height 1. */
export const firstProofState = (params: ChainParams): ProofState => {
  const target = maxTargetOf(params.proofChain, proofVersionAt(params, 1))
  return {
    tipId: ZERO_HASH,
    tipHeight: 0,
    tipAnchor: 0,
    tipTarget: target,
    coinbase: ZERO_ADDRESS,
    coinbases: [],
    totalWork: 0n,
    reference: { height: 0, anchorNumber: 0, target },
  }
}

/** Target of a child of the tip with this anchor. */
export const nextProofTarget = (params: ChainParams, state: ProofState, anchorNumber: number): bigint =>
  proofTarget(
    params.proofChain,
    proofVersionAt(params, state.tipHeight + 1),
    state.reference,
    { height: state.tipHeight, anchorNumber: state.tipAnchor },
    anchorNumber,
  )

/** Steps of the idle valve are up to this factor apart from what its ends show. */
const VALVE_SLACK = 2n

/**
 * Bound of the target of a header of this height and anchor above the tip, whatever headers lie between: the easier of that with a parent
 * right before its anchor and that with one at the tip, where the idle valve eases it. Beyond the fork any target is possible.
 */
export const easiestTarget = (
  params: ChainParams,
  state: ProofState,
  { height, anchorNumber }: Pick<ProofTemplate, 'height' | 'anchorNumber'>,
): bigint => {
  const version = proofVersionAt(params, height)
  const limit = maxTargetOf(params.proofChain, version)
  if (version !== proofVersionAt(params, state.tipHeight + 1)) return limit
  const below = (parentAnchor: number): bigint =>
    proofTarget(
      params.proofChain,
      version,
      state.reference,
      { height: height - 1, anchorNumber: parentAnchor },
      anchorNumber,
    )
  const [oldest, newest] = [below(state.tipAnchor), below(Math.max(state.tipAnchor, anchorNumber - 1))]
  const easiest = (oldest > newest ? oldest : newest) * VALVE_SLACK
  return easiest < limit ? easiest : limit
}

/** Main chain as needed for the validation of a header. */
export interface AnchorView {
  /** Number of the main block that is to include the header. */
  readonly including: number
  /** Hash of a committed main block. */
  hashOf(number: number): Hex | undefined
}

/** View of the child of a main block; `hashOf` gives the hashes of the blocks below it. */
export const anchorViewAbove = (
  { number, hash }: { readonly number: number; readonly hash: Hex },
  hashOf: AnchorView['hashOf'],
): AnchorView => ({ including: number + 1, hashOf: at => (at === number ? hash : hashOf(at)) })

/** Checks version and size of the mix hash by the height. Throws CodedError<ProofHeaderError>. */
export const checkProofVersion = (params: ChainParams, { version, height, mixHash }: ProofHeader): ProofVersion => {
  const want = proofVersionAt(params, height)
  if (version !== want) {
    const fork = forkHeight(params.forks, 'nativeHash')
    const reason =
      want === 2
        ? `outdated work: from the fork nativeHash at proof height ${fork} on, headers have version 2 (${params.proofChain.after}); upgrade the miner`
        : `work ahead of the fork: below proof height ${fork ?? 'of the fork nativeHash, which is not scheduled'}, headers have version 1 (${params.proofChain.before})`
    fail({ code: 'PROOF_VERSION', have: version, want, reason })
  }
  const size = want === 2 ? 32 : 0
  if (mixHash.byteLength !== size)
    fail({ code: 'PROOF_MIX_HASH', reason: `${mixHash.byteLength} bytes, want ${size} under version ${want}` })
  return want
}

/** Lowest anchor that a child of the tip may have: anchors strictly increase, and only the first header may use genesis. */
export const earliestAnchor = ({ tipHeight, tipAnchor }: ProofState): number => (tipHeight === 0 ? 0 : tipAnchor + 1)

/** Range of anchors of headers that a main block can include, both ends included. */
export const anchorsFor = (
  { proofChain }: Pick<ChainParams, 'proofChain'>,
  including: number,
): { readonly oldest: number; readonly newest: number } => ({
  oldest: including - proofChain.maxAnchorAgeBlocks,
  newest: including - 1,
})

const checkAnchor = (params: ChainParams, state: ProofState, header: ProofHeader, view: AnchorView): void => {
  const { anchorNumber, anchorHash } = header
  const earliest = earliestAnchor(state)
  if (anchorNumber < earliest) fail({ code: 'PROOF_ANCHOR_ORDER', have: anchorNumber, want: earliest })
  const { oldest, newest } = anchorsFor(params, view.including)
  if (anchorNumber < oldest) fail({ code: 'PROOF_ANCHOR_STALE', have: anchorNumber, want: oldest })
  if (anchorNumber > newest) fail({ code: 'PROOF_ANCHOR_FUTURE', have: anchorNumber, want: newest })
  const want = view.hashOf(anchorNumber)
  if (want !== anchorHash) fail({ code: 'PROOF_ANCHOR_HASH', have: anchorHash, want: want ?? ZERO_HASH })
}

/** Checks all rules of a header except its work, without a hash: version to exact target. Throws CodedError<ProofHeaderError>. */
export const checkProofHeader = (
  params: ChainParams,
  state: ProofState,
  header: ProofHeader,
  view: AnchorView,
): void => {
  const { parentId, height, coinbase, target } = header
  const wantHeight = state.tipHeight + 1
  if (height !== wantHeight) fail({ code: 'PROOF_HEIGHT', have: height, want: wantHeight })
  checkProofVersion(params, header)
  if (parentId !== state.tipId) fail({ code: 'PROOF_PARENT', have: parentId, want: state.tipId })
  if (coinbase === ZERO_ADDRESS) fail({ code: 'PROOF_COINBASE' })
  checkAnchor(params, state, header, view)
  const want = nextProofTarget(params, state, header.anchorNumber)
  if (target !== want) fail({ code: 'PROOF_TARGET', have: target, want })
}

/** State after a valid header. The last header of version 1 is the reference of version 2. */
export const extendProofState = (
  params: ChainParams,
  state: ProofState,
  header: ProofTemplate,
  id: Hex,
): ProofState => {
  const version = proofVersionAt(params, header.height)
  const isLastBeforeFork = version === 1 && proofVersionAt(params, header.height + 1) === 2
  return {
    tipId: id,
    tipHeight: header.height,
    tipAnchor: header.anchorNumber,
    tipTarget: header.target,
    coinbase: header.coinbase,
    coinbases: [...state.coinbases, header.coinbase].slice(-PROOF_BOUNDS.paidHeaders),
    totalWork: state.totalWork + proofWork(version, header.target),
    reference: isLastBeforeFork
      ? { height: header.height, anchorNumber: header.anchorNumber, target: params.proofChain.maxTargetAfter }
      : state.reference,
  }
}

export const MAX_PROOF_HEADERS_PER_BLOCK = 2
