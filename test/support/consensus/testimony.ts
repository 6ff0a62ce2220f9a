import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { claimFromProposal, type Statement, statementDigest } from '../../../src/consensus/evidence/statement.ts'
import { recoverAddress } from '../../../src/crypto/signature.ts'
import type { ProposalHead } from '../../../src/primitives/consensus/proposal.ts'
import type { SigningDomain, Vote } from '../../../src/primitives/consensus/vote.ts'

/** Messages of one member at one height. */
interface Account {
  /** By kind and round: the digest of what was signed. */
  readonly digests: Map<string, Hex>
  committedRound: number
  /** Round changes: to which round, with what prepared. */
  readonly changes: Map<number, number>
}

/**
 * Everything that validators are known to have signed, whoever had it, held against each other by whose signature it is. Written apart
 * from the evidence of the node itself, which is what it judges.
 */
export class Testimony {
  readonly #domain: SigningDomain
  readonly #authors: ReadonlySet<Hex>
  readonly #accounts = new Map<string, Account>()
  readonly #heard = new Set<string>()
  readonly #contradictions: string[] = []
  readonly #counts = new Map<Hex, number>()

  /** `authors`: addresses of all validators. */
  constructor(domain: SigningDomain, authors: readonly Hex[]) {
    this.#domain = domain
    this.#authors = new Set(authors)
  }

  /** Two things signed where only one is allowed, and what nobody signed. */
  get contradictions(): readonly string[] {
    return this.#contradictions
  }

  /** Different statements of each validator. */
  get counts(): ReadonlyMap<Hex, number> {
    return this.#counts
  }

  hear(message: Vote | ProposalHead): void {
    this.#take(message.type === 'proposal' ? claimFromProposal(message) : message)
    // The justification of a message holds messages of other members.
    if (message.type === 'proposal') for (const change of message.roundChanges) this.#take(change)
    if (message.type === 'proposal' || message.type === 'roundChange')
      for (const prepare of message.prepares) this.#take(prepare)
  }

  #take(statement: Statement): void {
    const digest = statementDigest(this.#domain, statement)
    const key = `${bytesToHex(digest)}${bytesToHex(statement.signature)}`
    if (this.#heard.has(key)) return
    this.#heard.add(key)
    const author = recovered(digest, statement.signature)
    const { type, number, round } = statement
    if (author === undefined || !this.#authors.has(author)) {
      this.#contradictions.push(`${type} ${number}/${round} is signed by no validator: ${author}`)
      return
    }
    this.#counts.set(author, (this.#counts.get(author) ?? 0) + 1)
    this.#hold(author, statement, bytesToHex(digest))
  }

  #hold(author: Hex, statement: Statement, digest: Hex): void {
    const { type, number, round } = statement
    const account = this.#accountOf(author, number)
    const before = account.digests.get(`${type} ${round}`)
    if (before !== undefined && before !== digest)
      this.#contradictions.push(`${author} signed two: ${type} ${number}/${round}`)
    account.digests.set(`${type} ${round}`, digest)
    if (type === 'commit') account.committedRound = Math.max(account.committedRound, round)
    if (type === 'roundChange') account.changes.set(round, statement.prepared?.round ?? -1)
    // A member that committed in a round is prepared in it, and its later round changes must claim so.
    for (const [to, prepared] of account.changes)
      if (to > account.committedRound && prepared < account.committedRound)
        this.#contradictions.push(
          `${author} forgot: round change ${number}/${to} after its commit in ${account.committedRound}`,
        )
  }

  #accountOf(author: Hex, number: number): Account {
    const place = `${author} ${number}`
    const known = this.#accounts.get(place)
    if (known !== undefined) return known
    const made: Account = { digests: new Map(), committedRound: -1, changes: new Map() }
    this.#accounts.set(place, made)
    return made
  }
}

const recovered = (digest: Uint8Array, signature: Uint8Array): Hex | undefined => {
  try {
    return recoverAddress(digest, signature)
  } catch {
    return undefined
  }
}
