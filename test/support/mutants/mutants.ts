/** A wrong engine: text of a source file replaced before it is loaded, in a worker of its own. No source knows of it. */
export interface Mutant {
  readonly patches: readonly Patch[]
}

export interface Patch {
  /** Below `src`. */
  readonly file: string
  /** Must stand in the file exactly once, or the mutant is out of date. */
  readonly find: string
  readonly replace: string
}

const mutant = (...patches: readonly (readonly [file: string, find: string, replace: string])[]): Mutant => ({
  patches: patches.map(([file, find, replace]) => ({ file, find, replace })),
})

const JUSTIFICATION = 'consensus/core/justification.ts'

/** reference/consensus.md 2.3. */
export const MUTANTS = {
  'restart forgets what is prepared': mutant([
    'consensus/core/height.ts',
    'height.prepared = record.certificate\n      for (const prepare of record.certificate.prepares) height.prepares.add(prepare)\n',
    '',
  ]),
  'quorum of 2f+1': mutant(['consensus/committee.ts', 'Math.ceil((2 * size) / 3)', '2 * faultsOf(size) + 1']),
  'seals not bound to the round': mutant([
    'consensus/core/decide.ts',
    'height.commits.count(round, blockHash)',
    'new Set(height.commits.roundsOf(blockHash).flatMap(at => height.commits.votesFor(at, blockHash).map(vote => vote.sender))).size',
  ]),
  'any prepared round instead of the highest': mutant([
    JUSTIFICATION,
    'if (highest === null || prepared.round > highest.round) highest = prepared',
    'if (highest === null) highest = prepared',
  ]),
  'justification not checked': mutant([
    'consensus/core/proposals.ts',
    'allowedBy(proposalHead(proposal), members.length, height.quorum)',
    "{ kind: 'fresh' }",
  ]),
  'committee differs from round to round': mutant(
    // Each round leaves out another of five.
    ['consensus/committee.ts', 'Math.ceil((2 * size) / 3)', 'Math.ceil((2 * (size - 1)) / 3)'],
    [
      'consensus/core/out.ts',
      'height.config.index >= 0',
      'height.config.index >= 0 && height.config.index !== height.round',
    ],
  ),
  'a signer counted twice in a justification': mutant([
    JUSTIFICATION,
    'return senders.size === messages.length && ',
    'return ',
  ]),
  'a signer counted twice among votes': mutant(
    ['consensus/core/vote-set.ts', 'if (votes.has(vote.sender)) return false', ''],
    ['consensus/core/vote-set.ts', 'votes.set(vote.sender, vote)', 'votes.set(votes.size, vote)'],
  ),
  'round changes of another height accepted': mutant([
    JUSTIFICATION,
    'change.number !== number || change.round !== round',
    'change.round !== round',
  ]),
  'round changes of another round accepted': mutant([
    JUSTIFICATION,
    'change.number !== number || change.round !== round',
    'change.number !== number',
  ]),
  'a claim accepted without its prepares': mutant([
    JUSTIFICATION,
    "if (!isPreparedBy(prepares, number, highest, size, quorum)) return unjustified('no quorum of prepares')",
    '',
  ]),
  'one prepare repeated accepted as proof': mutant([
    JUSTIFICATION,
    '  distinctSenders(prepares, size, quorum) &&\n',
    '  prepares.length >= quorum &&\n',
  ]),
  'no lock': mutant([
    'consensus/core/rounds.ts',
    'const { prepared, config } = turn.height',
    'const { config } = turn.height\n  const prepared = null as typeof turn.height.prepared',
  ]),
} as const satisfies Readonly<Record<string, Mutant>>

export type MutantName = keyof typeof MUTANTS
