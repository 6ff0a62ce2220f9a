import type { Patch } from '../../support/patch.ts'

/** A wrong engine: text of a source file replaced before it is loaded, in a worker of its own. No source knows of it. */
interface Mutant {
  readonly patches: readonly Patch[]
}

const mutant = (...patches: readonly (readonly [file: string, find: string, replace: string])[]): Mutant => ({
  patches: patches.map(([file, find, replace]) => ({ file, find, replace })),
})

const JUSTIFICATION = 'consensus/core/messages/justification.ts'

const WAITS =
  'const others = [...this.#running.values()].map(({ done }) => done)\n    return Promise.all(others).then(() => this.#run(workMs, { isKept: false }, { cancelled }))'

/** Mutants by name (docs/design/consensus.md#mutants). */
export const MUTANTS = {
  'restart forgets what is prepared': mutant([
    'consensus/core/height.ts',
    'height.prepared = record.certificate\n      for (const prepare of record.certificate.prepares) height.prepares.add(prepare)\n',
    '',
  ]),
  'quorum of 2f+1': mutant(['rules/council/quorum.ts', 'Math.ceil((2 * size) / 3)', '2 * faultsOf(size) + 1']),
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
    'consensus/core/messages/proposals.ts',
    'allowedProposal(proposalHead(proposal), members.length, height.quorum)',
    "{ kind: 'fresh' }",
  ]),
  'committee differs from round to round': mutant(
    // Each round leaves out another of five.
    ['rules/council/quorum.ts', 'Math.ceil((2 * size) / 3)', 'Math.ceil((2 * (size - 1)) / 3)'],
    [
      'consensus/core/effects.ts',
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
    ['consensus/core/messages/vote-set.ts', 'if (votes.has(vote.sender)) return false', ''],
    ['consensus/core/messages/vote-set.ts', 'votes.set(vote.sender, vote)', 'votes.set(votes.size, vote)'],
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
  'a justification by one round change less than a quorum': mutant([
    JUSTIFICATION,
    'if (!distinctSenders(roundChanges, size, quorum))',
    'if (!distinctSenders(roundChanges, size, quorum - 1))',
  ]),
  'prepares of another round accepted as proof': mutant([
    JUSTIFICATION,
    'vote.number === number && vote.round === prepared.round && ',
    'vote.number === number && ',
  ]),
  'adopted blocks end a quarantine': mutant([
    'consensus/engine/height-manager.ts',
    'validator.decided({ block, certificate }, committee, true)',
    'if (validator.decided({ block, certificate }, committee, false)) await this.#leaveQuarantine()',
  ]),
  'ranges adopted without their certificates': mutant(
    ['chain/sync/sync-run.ts', ': rangeFault(beginning, { ...rules, parent, committees })', ': null'],
    ['chain/sync/fetch-blocks.ts', 'return reason === null ? null : { number, reason }', 'return null'],
  ),
  'no lock': mutant([
    'consensus/core/rounds.ts',
    'const { prepared, config } = ctx.height',
    'const { config } = ctx.height\n  const prepared = null as typeof ctx.height.prepared',
  ]),
  // From here on those that need time, crashes or a clock: the simulator kills them.
  'no jump to the rounds of others': mutant(['consensus/core/messages/votes.ts', '  jump(ctx)\n', '']),
  'a jump after whoever is ahead most': mutant([
    'consensus/core/messages/votes.ts',
    'later[height.faults]',
    'later[0]',
  ]),
  'commits of earlier rounds dropped': mutant([
    'consensus/core/messages/votes.ts',
    'isNear(ctx, commit.round) && ctx.height.commits',
    'commit.round >= ctx.height.round && ctx.height.commits',
  ]),
  'sent before it is durable': mutant([
    'consensus/wal/wal-writer.ts',
    `        await log()
        await mark()
        await batch.held()
        if (this.#closed) return
        batch.release()
`,
    `        batch.release()
        await log()
        await mark()
`,
  ]),
  'votes without the log that it lost': mutant(
    ['consensus/wal/recovery.ts', "return head === 0 && watermark === 'missing' ? null : 'LOG_MISSING'", 'return null'],
    ['consensus/wal/recovery.ts', "? 'LOG_BEHIND_WATERMARK' : null", '? null : null'],
  ),
  'what is prepared not logged': mutant([
    'consensus/core/messages/votes.ts',
    "  persist(ctx, { type: 'prepared', number: config.number, certificate: height.prepared })\n",
    '',
  ]),
  'neither log nor watermark holds it to its word': mutant(
    [
      'consensus/core/height.ts',
      'for (const record of records) remember(height, record)',
      "for (const record of records) if (record.type === 'block') remember(height, record)",
    ],
    [
      'consensus/wal/watermark.ts',
      '  throw new CodedError<WatermarkError>({',
      '  if (number >= 0) return null\n  throw new CodedError<WatermarkError>({',
    ],
    [
      'consensus/wal/watermark.ts',
      'this.#last === null || comparePositions(mark, this.#last) > 0,',
      'this.#last === null || mark.number > 0,',
    ],
  ),
  'timestamp not checked': mutant([
    'consensus/engine/block-producer.ts',
    '  if (isTooFarInFuture(timestamp, clock.nowMs())) return false\n  await waitUntil(clock, timestamp * 1000, cancelled)\n',
    '',
  ]),
  'verdict of the execution ignored': mutant([
    'consensus/engine/block-producer.ts',
    'return await ports.execution.validate(block, context, cancelled)',
    'await ports.execution.validate(block, context, cancelled)\n    return { valid: true }',
  ]),
  'evidence names an honest member': mutant([
    'consensus/evidence/evidence.ts',
    'change.round > commit.round &&',
    'change.round !== commit.round &&',
  ]),
  'evidence from signatures that are not checked': mutant(
    [
      'consensus/signer/signature-verifier.ts',
      "if (own === undefined || !isSigned(own, committee)) return 'unsigned'",
      "if (own === undefined) return 'unsigned'",
    ],
    [
      'consensus/signer/signature-verifier.ts',
      'return cached(statementDigest(domain, statement), signed.signature) === member',
      'return cached(statementDigest(domain, statement), signed.signature) !== domain.genesisHash',
    ],
  ),
  'statements of the open round evicted': mutant(['consensus/evidence/detector.ts', 'Math.abs(round - open)', 'round']),
  'the last commit evicted': mutant(['consensus/evidence/detector.ts', 'other !== lock', 'true']),
  'no timer for a round entered later': mutant(['consensus/core/rounds.ts', '  startRoundTimer(ctx, ctx.nowMs)\n', '']),
  'a round given up alone': mutant(['consensus/core/rounds.ts', '  return count >= quorum\n', '  return count > 0\n']),
  'a round change sent once': mutant([
    'consensus/core/height.ts',
    'isolated && height.own.roundChange !== null',
    'false',
  ]),
  'a statement relayed once': mutant(['config/limits/network.ts', 'relayAgainMs: 400', 'relayAgainMs: 400_000_000']),
  'nothing relayed from one relay to another': mutant([
    'network/core/reachability.ts',
    'if (name === from || validator === author) continue',
    'if (name === from || validator === author || validator === null) continue',
  ]),
  'members that rest take turns': mutant([
    'rules/council/proposer-turns.ts',
    '(number + round) % proposers',
    '(number + round) % members.length',
  ]),
  'no status from who follows a lone member': mutant([
    'consensus/core/status.ts',
    'members.length > 1 || index < 0',
    'members.length > 1 || index < -1',
  ]),
  'no retransmission': mutant([
    'consensus/core/height.ts',
    '    broadcastStatus(ctx)\n    scheduleRetransmit(ctx, nowMs + config.retransmitMs)\n    return\n',
    '    return\n',
  ]),
  'a torn batch left in the log': mutant([
    'consensus/wal/wal.ts',
    'if (this.#tornBytes > 0) file.write(new Uint8Array(this.#tornBytes), this.#position)',
    'if (this.#tornBytes > 0) this.#position += this.#tornBytes',
  ]),
  'a decision in the log forgotten at the start': mutant([
    'consensus/wal/recovery.ts',
    '    await execution.commit(record.block, record.certificate)\n',
    '',
  ]),
  'parent certificate not checked': mutant([
    'consensus/engine/block-producer.ts',
    'return fault === null ? null : invalidProposal(true, `parent',
    'return fault !== undefined ? null : invalidProposal(true, `parent',
  ]),
  // Checks of forged messages on receipt.
  'certificate of a decision not checked': mutant([
    'consensus/engine/message-validator.ts',
    "    if (!this.#options.verifier.isDecided(claim, committee)) return 'reject'\n",
    '',
  ]),
  'claim of a round change not checked': mutant([
    'consensus/core/messages/justification.ts',
    '    ? change.prepares.length === 0\n    : change.prepared.round < change.round &&\n      isPreparedBy(change.prepares, change.number, change.prepared, size, quorum)\n',
    '    ? size > 0\n    : quorum > 0\n',
  ]),
  'signatures of a proof not checked': mutant([
    'consensus/signer/signature-verifier.ts',
    "return proof.every(statement => isSigned(statement, committee)) ? 'signed' : 'badProof'",
    "return 'signed'",
  ]),
  'proposer in the header not checked': mutant([
    'consensus/core/messages/proposals.ts',
    'return proposersOf(height, proposal, allowed).some(index => members[index] === proposer)',
    'return members.length > 0',
  ]),
  'parent not checked': mutant([
    'consensus/core/messages/proposals.ts',
    'header.number !== number || header.parentHash !== parentHash',
    'header.number !== number',
  ]),
  'proposals out of turn accepted': mutant(
    [
      'consensus/core/messages/proposals.ts',
      '  if (head.sender !== proposerIndex(height.config, number, head.round)) return false\n',
      '',
    ],
    [
      'consensus/engine/message-validator.ts',
      "message.type === 'proposal' && isWrongProposer(message, committee)",
      'false',
    ],
  ),
  'body of another header taken': mutant([
    'consensus/engine/message-validator.ts',
    'return extra === undefined || isBodyOf(block, extra)',
    'return true',
  ]),
  'any body taken': mutant(
    ['consensus/core/core.ts', '  if (!height.wanted.has(block.hash)) return\n', ''],
    [
      'consensus/engine/message-validator.ts',
      "return position.wanted.has(message.block.hash) ? acceptIfWhole(message.block) : 'ignore'",
      'return acceptIfWhole(message.block)',
    ],
    [
      'consensus/engine/message-validator.ts',
      "return position.wanted.has(claim.blockHash) ? 'accept' : 'ignore'",
      "return 'accept'",
    ],
    ['consensus/engine/driver.ts', 'height.wanted.has(claim.blockHash)', 'true'],
    [
      'consensus/core/messages/proposals.ts',
      '  for (const hash of blocks.keys()) if (!needed.has(hash)) blocks.delete(hash)\n',
      '',
    ],
  ),
  'claims whose body is missing not left out': mutant([
    'consensus/core/propose.ts',
    'chosen = chosen.filter(change => (change.prepared?.round ?? -1) < prepared.round)',
    'chosen = []',
  ]),
  'only the body of the highest claim requested': mutant([
    'consensus/core/propose.ts',
    'for (const blockHash of missing) requestBody(ctx, blockHash)',
    'if (missing[0] !== undefined) requestBody(ctx, missing[0])',
  ]),
  'the same missing body requested each time': mutant([
    'consensus/core/status.ts',
    'if (message.wanted !== null && height.wanted.delete(message.wanted)) height.wanted.add(message.wanted)',
    '',
  ]),
  'bodies of earlier rounds still requested': mutant(['consensus/core/rounds.ts', '  endRequests(height)\n', '']),
  'a decided block requested in one round only': mutant([
    'consensus/core/status.ts',
    'if (!commits.roundsOf(hash).some(round => commits.count(round, hash) >= quorum)) wanted.delete(hash)',
    'if (commits.roundsOf(hash).length <= quorum) wanted.delete(hash)',
  ]),
  'the body of the lock evicted': mutant(
    [
      'consensus/core/messages/proposals.ts',
      'new Set([height.round, prepared?.round, own.proposal?.round, own.prepare?.round])',
      'new Set([height.round, own.proposal?.round])',
    ],
    ['consensus/core/messages/proposals.ts', 'new Set([prepared?.blockHash, ...', 'new Set([...'],
  ),
  'the proposal of the current round evicted': mutant([
    'consensus/core/messages/proposals.ts',
    'new Set([height.round, prepared?.round, own.proposal?.round, own.prepare?.round])',
    'new Set([prepared?.round, own.proposal?.round, own.prepare?.round])',
  ]),
  'the body of the last prepare evicted': mutant([
    'consensus/core/messages/proposals.ts',
    ', own.prepare?.round])',
    '])',
  ]),
  'proposals of a height without a limit': mutant([
    'consensus/core/messages/proposals.ts',
    'Math.max(0, proposals.size - config.heldBlocks)',
    '0',
  ]),
  'bodies outlive their proposals': mutant([
    'consensus/core/messages/proposals.ts',
    '  for (const hash of blocks.keys()) if (!needed.has(hash)) blocks.delete(hash)\n',
    '',
  ]),
  'a restart keeps all bodies of its log': mutant(['consensus/core/height.ts', '  limitProposals(ctx)\n', '']),
  'heights sent again end a quarantine': mutant([
    'consensus/signer/start-gate.ts',
    'timestamp * 1_000 > sinceMs + CONSENSUS_LIMITS.freshMs',
    'timestamp * 1_000 > CONSENSUS_LIMITS.freshMs - sinceMs',
  ]),
  'signs before a quorum reports its height': mutant([
    'consensus/signer/start-gate.ts',
    '>= quorumOf(members.length) - 1)',
    '>= 0)',
  ]),
  'a report of a later height counts': mutant([
    'consensus/signer/start-gate.ts',
    'speaker === undefined || messageHeight(message) > open',
    'speaker === undefined || messageHeight(message) > open + 1_000',
  ]),
  'any neighbour reports for those it says to reach': mutant([
    'consensus/signer/start-gate.ts',
    '(this.#trusts ? speaker.reaches : [])',
    'speaker.reaches',
  ]),
  'a lower prepared certificate kept': mutant([
    'consensus/core/messages/votes.ts',
    'height.prepared = {',
    'height.prepared ??= {',
  ]),
  'the first prepared certificate of a log kept': mutant([
    'consensus/core/height.ts',
    'height.prepared = record.certificate\n',
    'height.prepared ??= record.certificate\n',
  ]),
  'a commit for one prepare less than a quorum': mutant([
    'consensus/core/messages/votes.ts',
    'prepares.count(round, blockHash) < quorum',
    'prepares.count(round, blockHash) < quorum - 1',
  ]),
  'a decision by one commit less than a quorum': mutant([
    'consensus/core/decide.ts',
    'height.commits.count(round, blockHash) < height.quorum',
    'height.commits.count(round, blockHash) < height.quorum - 1',
  ]),
  'a jump after as many as may lie': mutant([
    'consensus/core/messages/votes.ts',
    'later[height.faults]',
    'later[Math.max(0, height.faults - 1)]',
  ]),
  'a commit leaves before it is durable': mutant([
    'consensus/engine/driver.ts',
    'walWriter.whenDurable(() => network.broadcast(effect.message))',
    "if (effect.message.type === 'commit') network.broadcast(effect.message)\n        else walWriter.whenDurable(() => network.broadcast(effect.message))",
  ]),
  'a proposal on round changes to later rounds': mutant([
    'consensus/core/propose.ts',
    'change.round === height.round',
    'change.round >= height.round',
  ]),
  'quarantine of no height': mutant(['consensus/signer/local-validator.ts', 'const HEIGHTS = 2', 'const HEIGHTS = 0']),
  'validation not cancelled': mutant([
    'consensus/core/decide.ts',
    "    verdicts.delete(blockHash)\n    out.push({ type: 'cancelValidation', blockHash })\n",
    '',
  ]),
  'a cancelled validation goes on': mutant([
    'consensus/engine/block-producer.ts',
    'this.#validations.get(hash)?.abort(CANCELLED)\n',
    '\n',
  ]),
  'work of a height goes on after it': mutant(['consensus/engine/driver.ts', '          producer.cancelAll()\n', '']),
  'a transaction is never stopped': mutant([
    'consensus/timing/build-budget.ts',
    'return (this.#shareMs * this.#ms) / this.#mostMs',
    'return Number.MAX_SAFE_INTEGER',
  ]),
  // As chains do that work on one thing at a time; that the work is waste is not looked at here.
  'a builder waits for validations that nothing ends': mutant(
    ['../devtools/sim/member/executions.ts', 'return this.#run(workMs, { isKept: false }, { cancelled })', WAITS],
    [
      'consensus/core/decide.ts',
      "    verdicts.delete(blockHash)\n    out.push({ type: 'cancelValidation', blockHash })\n",
      '',
    ],
    ['../devtools/sim/member/sim-process.ts', "checker.report('waste',", 'String('],
  ),
  // Checks that no schedule of one chain and few members shows: scenarios of their own do.
  'a round change that claims its own round as prepared': mutant([
    JUSTIFICATION,
    'change.prepared.round < change.round',
    'change.prepared.round <= change.round',
  ]),
  'timeouts that do not grow': mutant(['consensus/core/rounds.ts', '2 ** Math.min(round, ', '2 ** Math.min(0, ']),
  'signatures not bound to the chain id': mutant([
    'primitives/consensus/vote.ts',
    '      uintItem(domain.chainId),\n',
    '',
  ]),
  'signatures not bound to the genesis': mutant([
    'primitives/consensus/vote.ts',
    '      hexToBytes(domain.genesisHash),\n',
    '',
  ]),
  'a buffer of later heights without a limit': mutant([
    'consensus/core/messages/future-buffer.ts',
    '    if (this.#size >= this.#limits.bufferedMessages && !this.#evictBeyond(message.number)) return\n',
    '',
  ]),
  'no watermark on proposals': mutant([
    'consensus/wal/sign-message.ts',
    'const given = watermark.check(position, digest)',
    "const given = message.type === 'proposal' ? null : watermark.check(position, digest)",
  ]),
  // Proof headers.
  'vote rule ignored': mutant([
    'powchain/proof-pool.ts',
    'return this.#pending.overdue(header.number, round, nowMs)',
    'return undefined',
  ]),
  'a block prepared before judged by the vote rule': mutant([
    'powchain/proof-pool.ts',
    'if (!fresh || proofHeaders.length > 0) return undefined',
    'if (proofHeaders.length > 0) return undefined',
  ]),
  'a refusal that counts for the block proposed again': mutant([
    'consensus/core/messages/proposals.ts',
    'for (const round of rounds) if (round > requested.requestedForRound) processProposal(ctx, round)',
    '',
  ]),
  'an anchor that is not committed': mutant(
    ['rules/proof/proof-header.ts', 'newest: including - 1,', 'newest: including,'],
    ['rules/proof/proof-header.ts', 'if (want !== anchorHash)', 'if (want !== undefined && want !== anchorHash)'],
  ),
  'difficulty from the reference of the first hash': mutant([
    'rules/proof/proof-header.ts',
    '    reference: isLastBeforeFork\n',
    '    reference: isLastBeforeFork && header.height < 0\n',
  ]),
  'a proof header included twice': mutant(
    ['rules/proof/proof-header.ts', 'if (height !== wantHeight)', 'if (height > wantHeight)'],
    [
      'rules/proof/proof-header.ts',
      'if (parentId !== state.tipId)',
      'if (height === wantHeight && parentId !== state.tipId)',
    ],
    ['rules/proof/proof-header.ts', 'if (anchorNumber < earliest)', 'if (anchorNumber + 1 < earliest)'],
  ),
  'seed of the cycle before': mutant([
    'rules/council/cycle.ts',
    'Math.max(0, cycle - 1) * cycleBlocks',
    'Math.max(0, cycle) * cycleBlocks',
  ]),
  'payee from the headers of the block itself': mutant([
    '../devtools/sim/member/ledger.ts',
    '      miner: this.proofState.coinbase,\n',
    '      miner: state.coinbase,\n',
  ]),
} as const satisfies Readonly<Record<string, Mutant>>

export type MutantName = keyof typeof MUTANTS
