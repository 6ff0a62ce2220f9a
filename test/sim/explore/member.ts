import { assert } from '@tandem/base/assert.ts'
import { type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { CONSENSUS_LIMITS } from '../../../src/config/limits/consensus.ts'
import { CONSENSUS_BOUNDS } from '../../../src/config/protocol-bounds.ts'
import { createCore, step } from '../../../src/consensus/core/core.ts'
import type {
  CoreState,
  Effect,
  HeightConfig,
  HeightState,
  Input,
  WalRecord,
} from '../../../src/consensus/core/types.ts'
import type { ConsensusMessage, SignedMessage } from '../../../src/primitives/consensus/message.ts'
import { type SignedStatements, saying, silence } from './said.ts'
import { HEIGHT, memberAddress, type Values } from './values.ts'

/** One honest member at one moment: the core itself, its log, and what it has signed. */
export interface ExploredMember {
  readonly core: CoreState
  readonly log: readonly WalRecord[]
  readonly said: SignedStatements
}

export interface MemberSetup {
  readonly values: Values
  readonly size: number
  /** Committee index; -1 only looks on. */
  readonly index: number
  readonly rounds: number
}

const SIGNATURE = new Uint8Array(65)

const configOf = ({ size, index }: MemberSetup): HeightConfig => ({
  number: HEIGHT,
  parentHash: ZERO_HASH,
  members: Array.from({ length: size }, (_, at) => memberAddress(at)),
  index,
  earliestMs: 0,
})

const coreOf = ({ values }: MemberSetup): CoreState =>
  createCore({ ...CONSENSUS_LIMITS, ...CONSENSUS_BOUNDS, baseTimeoutMs: 1, proposerOf: values.proposerOf })

export const heightOf = (member: ExploredMember): HeightState => {
  assert(member.core.height !== null, 'the height is open')
  return member.core.height
}

/** A member that has just opened the height, or opens it again from its log. */
export const openMember = (
  setup: MemberSetup,
  log: readonly WalRecord[] = [],
  said?: SignedStatements,
): ExploredMember => {
  const before = { core: coreOf(setup), log, said: said ?? silence(setup.rounds) }
  return run(setup, before, [{ type: 'newHeight', config: configOf(setup), records: log, nowMs: 0 }]).member
}

/** Next state of a member after inputs and the answers to its own requests; every block it is offered is valid. */
export const advance = (setup: MemberSetup, member: ExploredMember, inputs: readonly Input[]) =>
  run(setup, { ...member, core: copyCore(member.core) }, inputs)

export const hearing = (messages: readonly ConsensusMessage[]): readonly Input[] =>
  messages.map(message => ({ type: 'message', message, from: '', nowMs: 0 }))

const run = (
  { values, index }: MemberSetup,
  { core, log, said }: ExploredMember,
  inputs: readonly Input[],
): { readonly member: ExploredMember; readonly decided: Hex | null } => {
  const waiting = [...inputs]
  const records = [...log]
  let heard = said
  let decided: Hex | null = null
  for (let input = waiting.shift(); input !== undefined; input = waiting.shift()) {
    const { effects } = step(core, input)
    for (const effect of effects) {
      if (effect.type === 'persist') records.push(effect.record)
      if (effect.type === 'decide') decided = effect.block.hash
      if (effect.type === 'broadcast' && 'signature' in effect.message)
        heard = saying(heard, effect.message, values.valueOf)
    }
    waiting.unshift(...effects.flatMap(effect => answerTo(effect, index)))
  }
  return { member: { core, log: records, said: heard }, decided }
}

const answerTo = (effect: Effect, index: number): readonly Input[] => {
  if (effect.type === 'sign') {
    const message = { ...effect.message, sender: index, signature: SIGNATURE } as SignedMessage
    return [{ type: 'signed', message, nowMs: 0 }]
  }
  if (effect.type === 'validate') {
    const { number, block } = effect
    return [{ type: 'verdict', number, blockHash: block.hash, verdict: { valid: true }, nowMs: 0 }]
  }
  return []
}

/** A core that can be stepped without changing the first. The buffer of later heights is shared: none come here. */
const copyCore = (core: CoreState): CoreState => ({ ...core, height: core.height && copyHeight(core.height) })

const copyHeight = (height: HeightState): HeightState => ({
  ...height,
  proposals: new Map(height.proposals),
  blocks: new Map(height.blocks),
  logged: new Set(height.logged),
  verdicts: new Map(height.verdicts),
  accepted: new Map(height.accepted),
  prepares: height.prepares.copy(),
  commits: height.commits.copy(),
  roundChanges: new Map(height.roundChanges),
  asked: { ...height.asked },
  own: { ...height.own },
  wanted: new Set(height.wanted),
})
