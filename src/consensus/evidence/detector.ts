import { getOrMake } from '@tandem/base/get-or-make.ts'
import type { SignedHead } from '../../primitives/consensus/message.ts'
import type { Committee } from '../committee.ts'
import { type Evidence, isAmnesia, isConflict, isUnjustified, isWrongProposer } from './evidence.ts'
import { type SignatureCheck, type Statement, statementsFromMessage } from './statement.ts'

/** Heights below the current one whose statements are compared, and statements kept per member and height: honest ones make few in a round. */
type DetectorLimits = Readonly<Record<'heights' | 'statements', number>>

/** Statements of one member at one height. */
interface MemberStatements {
  readonly statements: Map<string, Statement>
  accused: boolean
}

interface HeightStatements {
  /** Last round in which the height was open. */
  round: number
  readonly members: Map<number, MemberStatements>
}

/**
 * Compares every signed statement with earlier ones of its signer. Messages must be verified before. One accusation of a member
 * per height is enough; the first statement of each kind and round is kept, of too many those nearest to the open round.
 */
export class EvidenceDetector {
  readonly #heights = new Map<number, HeightStatements>()
  readonly #limits: DetectorLimits
  #lowest = 0

  constructor(limits: DetectorLimits) {
    this.#limits = limits
  }

  /** Number of statements held, for the bound on memory. */
  get size(): number {
    let size = 0
    for (const { members } of this.#heights.values())
      for (const { statements } of members.values()) size += statements.size
    return size
  }

  /** Returns the evidence a message gives against its sender, or its statements against their signers. */
  observe(message: SignedHead, committee: Committee, isSigned: SignatureCheck): readonly Evidence[] {
    const found: Evidence[] = []
    if (message.number < this.#lowest) return found
    for (const statement of statementsFromMessage(message)) {
      // A proof may only name its own height; any other is checked with the proposal that contains it.
      if (statement.number !== message.number) continue
      const said = this.#saidBy(statement)
      const evidence = said.accused ? null : contradiction(said, statement, committee)
      if (evidence !== null) {
        said.accused = true
        found.push(evidence)
      } else this.#keep(said, statement)
    }
    found.push(...this.#checkProposal(message, committee, isSigned))
    return found
  }

  /** Sets the open height and its round, and drops heights too far below. */
  advance(number: number, round: number): void {
    this.#lowest = number - this.#limits.heights
    for (const height of this.#heights.keys()) if (height < this.#lowest) this.#heights.delete(height)
    this.#heightOf(number).round = round
  }

  #checkProposal(proposal: SignedHead, committee: Committee, isSigned: SignatureCheck): readonly Evidence[] {
    if (proposal.type !== 'proposal') return []
    const said = this.#saidBy(proposal)
    if (said.accused || !isUnjustified(proposal, committee, isSigned)) return []
    said.accused = true
    return [{ kind: 'unjustified', proposal }]
  }

  #heightOf(number: number): HeightStatements {
    return getOrMake(this.#heights, number, () => ({ round: 0, members: new Map() }))
  }

  #saidBy({ number, sender }: { readonly number: number; readonly sender: number }): MemberStatements {
    const { members } = this.#heightOf(number)
    return getOrMake(members, sender, () => ({ statements: new Map(), accused: false }))
  }

  /**
   * The statement farthest from the open round goes first: neither a long stall nor votes for rounds that never come then hide a second
   * vote. The last commit up to that round stays: any later round change that forgets a lock forgets this one.
   */
  #keep({ statements }: MemberStatements, statement: Statement): void {
    const place = placeOf(statement)
    if (statements.has(place)) return
    statements.set(place, statement)
    if (statements.size <= this.#limits.statements) return
    const { round: open } = this.#heightOf(statement.number)
    const distanceOf = ({ round }: Statement): number => Math.abs(round - open)
    let [lock, farthest]: (Statement | undefined)[] = []
    // In two passes: a member that says much is not worth a sort for each statement.
    for (const other of statements.values())
      if (other.type === 'commit' && other.round <= open && other.round >= (lock?.round ?? 0)) lock = other
    for (const other of statements.values())
      if (other !== lock && (farthest === undefined || distanceOf(other) > distanceOf(farthest))) farthest = other
    if (farthest !== undefined) statements.delete(placeOf(farthest))
  }
}

const placeOf = ({ type, round }: Statement): string => `${type} ${round}`

const contradiction = (
  { statements }: MemberStatements,
  statement: Statement,
  committee: Committee,
): Evidence | null => {
  if (isWrongProposer(statement, committee) && statement.type === 'proposal') {
    return { kind: 'wrongProposer', proposal: statement }
  }
  const known = statements.get(placeOf(statement))
  if (known !== undefined) {
    return isConflict(known, statement) ? { kind: 'conflict', first: known, second: statement } : null
  }
  const others = [...statements.values()]
  const commit = others.find(earlier => isAmnesia(earlier, statement))
  if (commit !== undefined) return { kind: 'amnesia', first: commit, second: statement }
  const change = others.find(later => isAmnesia(statement, later))
  return change === undefined ? null : { kind: 'amnesia', first: statement, second: change }
}
