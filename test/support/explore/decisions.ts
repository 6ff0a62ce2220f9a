import { createForge } from './forge.ts'
import { advance, hearing, type MemberSetup, openMember } from './member.ts'
import type { SignedStatements } from './said.ts'
import { VALUES, type Value } from './values.ts'

/**
 * Decision of a follower that receives all commits: those of honest members, and any that Byzantine ones could
 * give, twice over. The core itself says so; equal commits are asked about once.
 */
export const createDecisionObserver = (setup: Omit<MemberSetup, 'index'>, byzantine: number) => {
  const follower = { ...setup, index: -1 }
  const forge = createForge(setup.values, setup.size)
  const known = new Map<string, boolean>()
  const fresh = openMember(follower)
  const commitsFor = (value: Value, said: readonly SignedStatements[]) =>
    Array.from({ length: setup.rounds }, (_, round) => {
      const honest = said.flatMap(({ commits }, at) => ((commits[round] as number) & (1 << value) ? [at] : []))
      const liars = Array.from({ length: byzantine }, (_, at) => setup.size - 1 - at)
      return [...honest, ...liars, ...liars].map(sender => forge.commit(sender, round, value))
    }).flat()
  const decides = (value: Value, said: readonly SignedStatements[]): boolean => {
    const key = `${value} ${said.map(({ commits }) => commits.map(bits => (bits >> value) & 1).join('')).join(' ')}`
    let answer = known.get(key)
    if (answer === undefined) {
      const body = { type: 'body', block: setup.values.block(value, 0) } as const
      answer = advance(follower, fresh, hearing([...commitsFor(value, said), body])).decided !== null
      known.set(key, answer)
    }
    return answer
  }
  return {
    /** True when certificates of both blocks exist. */
    isForked: (said: readonly SignedStatements[]): boolean => VALUES.every(value => decides(value, said)),
  }
}
