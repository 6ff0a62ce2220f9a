import type { SignedHead } from '../../primitives/consensus/message.ts'
import type { Committee } from '../committee.ts'
import { type Evidence, isAmnesia, isConflict, isUnjustified, isWrongProposer } from './evidence.ts'
import { type SignatureCheck, type Statement, statementsFromMessage } from './statement.ts'

interface DetectorLimits {
  /** Number of heights below the current one whose statements are still compared. */
  readonly heights: number
  /** Limit of statements kept per member and height; an honest member makes a few in each round. */
  readonly statements: number
}

/** Statements of one member at one height. */
interface Record {
  readonly statements: Map<string, Statement>
  accused: boolean
}

/**
 * Compares every signed statement with earlier ones of its signer. Messages must be verified before. One accusation of a member
 * per height is enough; the first statement of each kind and round is kept, of too many those of the lowest rounds.
 */
export class EvidenceDetector {
  readonly #heights = new Map<number, Map<number, Record>>()
  readonly #limits: DetectorLimits
  #lowest = 0

  constructor(limits: DetectorLimits) {
    this.#limits = limits
  }

  /** Number of statements held, for the bound on memory. */
  get size(): number {
    let size = 0
    for (const records of this.#heights.values()) for (const { statements } of records.values()) size += statements.size
    return size
  }

  /** Returns the evidence a message gives against its sender, or its statements against their signers. */
  observe(message: SignedHead, committee: Committee, isSigned: SignatureCheck): readonly Evidence[] {
    const found: Evidence[] = []
    if (message.number < this.#lowest) return found
    for (const statement of statementsFromMessage(message)) {
      // A proof may only name its own height; any other is checked with the proposal that contains it.
      if (statement.number !== message.number) continue
      const record = this.#recordOf(statement)
      const evidence = record.accused ? null : contradiction(record, statement, committee)
      if (evidence !== null) {
        record.accused = true
        found.push(evidence)
      } else this.#keep(record, statement)
    }
    found.push(...this.#checkProposal(message, committee, isSigned))
    return found
  }

  /** Drops heights too far below `number`. */
  advance(number: number): void {
    this.#lowest = number - this.#limits.heights
    for (const height of this.#heights.keys()) if (height < this.#lowest) this.#heights.delete(height)
  }

  #checkProposal(proposal: SignedHead, committee: Committee, isSigned: SignatureCheck): readonly Evidence[] {
    if (proposal.type !== 'proposal') return []
    const record = this.#recordOf(proposal)
    if (record.accused || !isUnjustified(proposal, committee, isSigned)) return []
    record.accused = true
    return [{ kind: 'unjustified', proposal }]
  }

  #recordOf({ number, sender }: { readonly number: number; readonly sender: number }): Record {
    const records = this.#heights.get(number) ?? new Map<number, Record>()
    this.#heights.set(number, records)
    const record = records.get(sender) ?? { statements: new Map(), accused: false }
    records.set(sender, record)
    return record
  }

  /** The farthest round goes first: else votes for rounds that never come would hide contradictions in those that do. */
  #keep({ statements }: Record, statement: Statement): void {
    const place = placeOf(statement)
    if (statements.has(place)) return
    statements.set(place, statement)
    if (statements.size <= this.#limits.statements) return
    const farthest = [...statements.values()].reduce((far, other) => (other.round > far.round ? other : far))
    statements.delete(placeOf(farthest))
  }
}

const placeOf = ({ type, round }: Statement): string => `${type} ${round}`

const contradiction = (record: Record, statement: Statement, committee: Committee): Evidence | null => {
  if (isWrongProposer(statement, committee) && statement.type === 'proposal') {
    return { kind: 'wrongProposer', proposal: statement }
  }
  const known = record.statements.get(placeOf(statement))
  if (known !== undefined) {
    return isConflict(known, statement) ? { kind: 'conflict', first: known, second: statement } : null
  }
  const others = [...record.statements.values()]
  const commit = others.find(earlier => isAmnesia(earlier, statement))
  if (commit !== undefined) return { kind: 'amnesia', first: commit, second: statement }
  const change = others.find(later => isAmnesia(statement, later))
  return change === undefined ? null : { kind: 'amnesia', first: statement, second: change }
}
