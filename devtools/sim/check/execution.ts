import type { Hex } from '@tandem/base/bytes.ts'
import type { CommitteePort, ExecutionPort } from '../../../src/consensus/ports.ts'
import type { Block } from '../../../src/primitives/block.ts'
import { readExtraData } from '../../../src/primitives/consensus/extra-data.ts'
import { isBodyOf } from '../../../src/rules/body.ts'
import { short } from '../network/envelope.ts'

interface Asked {
  /** Hash of the own block of a height; genesis counts. undefined: there is none yet. */
  readonly hashAt: (number: number) => Hex | undefined
  readonly committee: CommitteePort['committee']
  readonly report: (text: string) => void
}

/**
 * Conditions on a block before a chain is asked to validate it: executing a block that cannot be proposed is wasted work (ports.ts).
 */
const faultOf = (block: Block, round: number, { hashAt, committee }: Asked): string | null => {
  const { number, parentHash } = block.header
  if (parentHash !== hashAt(number - 1)) return 'on another parent'
  const extra = readExtraData(block.header)
  if (extra === undefined) return null
  if (!isBodyOf(block, extra)) return 'with the body of another'
  const { members, proposers = members.length } = committee(number) ?? { members: [] }
  const index = members.indexOf(extra.proposer)
  const mayPropose = Array.from({ length: Math.min(round + 1, proposers) }, (_, back) => round - back)
  return mayPropose.some(at => (number + at) % proposers === index) ? null : 'whose proposer had no turn'
}

/** Execution port that checks that it only gets blocks the engine has checked. */
export const checkedExecution = (execution: ExecutionPort, asked: Asked): ExecutionPort => ({
  ...execution,
  validate(block, context, cancelled) {
    const fault = faultOf(block, context.round, asked)
    if (fault !== null)
      asked.report(`had ${short(block.hash)} of ${context.number}/${context.round} validated, ${fault}`)
    return execution.validate(block, context, cancelled)
  },
})
