import { isCoded } from '@tandem/base/errors.ts'
import { createRandom } from '@tandem/base/random.ts'
import { Ledger } from '../../../devtools/sim/member/ledger.ts'
import { simProofParams, solveProof } from '../../../devtools/sim/proof/sim-work.ts'
import { certificateFault, certificateFromCommits } from '../../../src/consensus/certificate.ts'
import type { Effect } from '../../../src/consensus/core/types.ts'
import { signConsensusMessage } from '../../../src/consensus/wal/sign-message.ts'
import { openWatermark } from '../../../src/consensus/wal/watermark.ts'
import { recoverAddress, sign } from '../../../src/crypto/signature.ts'
import { ProofPool } from '../../../src/powchain/proof-pool.ts'
import { blockVoteDigest, type SigningDomain } from '../../../src/primitives/consensus/vote.ts'
import { encodeProofHeader } from '../../../src/primitives/proof-header.ts'
import {
  block,
  CORE_LIMITS,
  CoreBench,
  commit,
  prepare,
  proposal,
  roundChange,
} from '../../support/consensus/core-bench.ts'
import { committeeOf, DOMAIN, keyOf, signerOf } from '../../support/consensus/member.ts'
import { MemoryFiles } from '../../support/consensus/memory-files.ts'

const SIZE = 4
const LATE_MS = 1_000_000
const SOME = block(1, 1)

/** Certificate sealed in one domain and checked in another. */
const sealedElsewhere = (elsewhere: SigningDomain): string | null => {
  const unsigned = { type: 'commit', number: 9, round: 2, blockHash: SOME.hash } as const
  const commits = [0, 1, 2].map(sender => ({
    ...unsigned,
    sender,
    signature: sign(blockVoteDigest(elsewhere, unsigned), keyOf(sender)),
  }))
  const certificate = certificateFromCommits(2, SIZE, commits)
  const fault = certificateFault(certificate, unsigned, committeeOf(SIZE), DOMAIN, recoverAddress)
  return fault === 'SEAL_INVALID' ? null : 'a certificate of another chain is taken'
}

const ownRoundClaimed = (): string | null => {
  const bench = new CoreBench(0)
  bench.hear(roundChange(1, 4, { round: 4, of: SOME, by: [1, 2, 3] }))
  return bench.state.height?.roundChanges.size === 0 ? null : 'a round change to round 4 with a block prepared in it'
}

const refusedWhileProposedAgain = (): string | null => {
  const bench = new CoreBench(0)
  const by = [1, 2, 3]
  bench.hear(proposal(1, 0, SOME))
  const roundChanges = by.map(sender => roundChange(sender, 1, { round: 0, of: SOME, by }))
  bench.hear(proposal(2, 1, SOME, { roundChanges, prepares: by.map(sender => prepare(sender, 0, SOME)) }))
  bench.judge(false, false)
  bench.judge(true)
  return bench.said().includes('prepare 1') ? null : 'the vote rule keeps a member from a block that a quorum prepared'
}

const flooded = (): string | null => {
  const size = 31
  const bench = new CoreBench(0, size)
  for (let number = 2; number <= CORE_LIMITS.futureHeights + 1; number++)
    for (let round = 0; round <= CORE_LIMITS.futureRounds; round++)
      for (let sender = 1; sender < size; sender++)
        bench.hear(prepare(sender, round, SOME, number), commit(sender, round, SOME, number))
  const { size: kept } = bench.state.future
  return kept <= CORE_LIMITS.bufferedMessages ? null : `${kept} messages of later heights are kept`
}

const proposedTwice = async (): Promise<string | null> => {
  const watermark = await openWatermark(new MemoryFiles(), 'watermark')
  const parts = { domain: DOMAIN, signer: signerOf(1), watermark }
  const { sender: _, signature: __, ...first } = proposal(1, 0, SOME)
  signConsensusMessage(first, 1, parts)
  try {
    signConsensusMessage({ ...first, block: block(2, 1) }, 1, parts)
  } catch (error) {
    if (isCoded(error) && error.code === 'SIGNING_REFUSED') return null
  }
  return 'two proposals of one round are signed'
}

/** Validations take longer than the timeouts of rounds 0 and 1 (1 and 2 s) and shorter than that of round 2. */
const VALIDATION_MS = 3_000
const DEADLINE_MS = 60_000

/** Four members in virtual time whose messages arrive at once. */
const slowCommittee = (): string | null => {
  const members = Array.from({ length: SIZE }, (_, index) => new CoreBench(index, SIZE))
  const queue: { readonly atMs: number; readonly run: () => void }[] = []
  const at = (atMs: number, run: () => void) => void queue.push({ atMs, run })
  const carryOut = (member: CoreBench, effects: readonly Effect[]): void => {
    const feed = (input: Parameters<CoreBench['feed']>[0]) => carryOut(member, member.feed(input))
    const { nowMs } = member
    for (const effect of effects) {
      if (effect.type === 'schedule') {
        const { timer, number, round, atMs } = effect
        at(atMs, () => feed({ type: 'timeout', timer, number, round, nowMs: atMs }))
      } else if (effect.type === 'build') {
        const { number, round } = effect
        const built = block(100 + round, member.index)
        at(nowMs, () => feed({ type: 'built', number, round, block: built, nowMs }))
      } else if (effect.type === 'validate') {
        const verdict = { valid: true } as const
        const { block: asked, number } = effect
        const atMs = nowMs + VALIDATION_MS
        at(atMs, () => feed({ type: 'verdict', number, blockHash: asked.hash, verdict, nowMs: atMs }))
      } else if (effect.type === 'broadcast' && 'signature' in effect.message) {
        const { message } = effect
        for (const other of members) if (other !== member) at(nowMs, () => carryOut(other, other.hear(message)))
      }
    }
  }
  for (const member of members) carryOut(member, member.effects)
  for (;;) {
    const next = queue.reduce(
      (first, event) => (event.atMs < first.atMs ? event : first),
      queue[0] as (typeof queue)[0],
    )
    if (next.atMs > DEADLINE_MS) return `no decision within ${DEADLINE_MS} ms`
    queue.splice(queue.indexOf(next), 1)
    for (const member of members) member.nowMs = next.atMs
    next.run()
    if (members.every(member => member.decided() !== undefined)) return null
  }
}

/** A proof header that was known for long, and a block without it which a quorum prepared. */
const preparedIsExempt = async (): Promise<string | null> => {
  const params = simProofParams(null)
  const [blockTimeMs, hostileMs, firstSalt, cycleBlocks, executionMs] = [1_000, 0, 0, 2, 1]
  const times = { blockTimeMs, hostileMs, firstSalt, cycleBlocks, executionMs }
  const ledger = new Ledger({ ...times, random: createRandom(1), proofParams: params, onCommitted: () => {} })
  const pool = new ProofPool({
    params,
    head: { ...ledger.mainHead(), number: 1 },
    hashOf: number => (number === 1 ? ledger.hashAt(0) : ledger.hashAt(number)),
    verifier: ledger.proofs.verifier,
  })
  const template = pool.template(`0x${'a1'.repeat(20)}`, Uint8Array.of(1))
  if (template === undefined) return 'no work'
  await pool.submit(encodeProofHeader(solveProof(template)), 0)
  const proposed = { header: { number: 2 }, proofHeaders: [] } as unknown as Parameters<ProofPool['omittedBy']>[0]
  const omitted = (fresh: boolean) => pool.omittedBy(proposed, { round: 0, fresh }, LATE_MS) !== undefined
  if (!omitted(true)) return 'a fresh block may leave it out'
  return omitted(false) ? 'the vote rule judges a block that a quorum prepared' : null
}

/** Scenarios by name; each returns the fault it shows, null where there is none. */
export const SCENARIOS = {
  'a claim of its own round is ignored': ownRoundClaimed,
  'a committee slower than the first timeout decides': slowCommittee,
  'seals of another chain id are invalid': () => sealedElsewhere({ ...DOMAIN, chainId: DOMAIN.chainId + 1 }),
  'seals of another genesis are invalid': () => sealedElsewhere({ ...DOMAIN, genesisHash: `0x${'77'.repeat(32)}` }),
  'a block proposed again while it was being refused is judged anew': refusedWhileProposedAgain,
  'messages of later heights are bounded': flooded,
  'a second proposal of one round is not signed': proposedTwice,
  'a block that a quorum prepared may leave out a proof header': preparedIsExempt,
} as const satisfies Readonly<Record<string, () => string | null | Promise<string | null>>>

export type ScenarioName = keyof typeof SCENARIOS
