import type { Block } from '../../primitives/block.ts'
import type { HeightState, StepContext, UnsignedMessage, WalRecord } from './types.ts'

/** Records that restore the open height, so that many rounds fill no log. Bodies left out of `logged` are logged again when needed. */
export const walCheckpoint = (height: HeightState): readonly WalRecord[] => {
  const { config, round, own, prepared, decided, blocks, proposals } = height
  const { number } = config
  const current = proposals.get(round)
  // A body is logged when its proposal is accepted, or is this node's own.
  const accepted = current !== undefined && height.logged.has(current.block.hash) ? current : null
  const kept = new Set([own.proposal, accepted].filter(proposal => proposal !== null))
  const hashes = [prepared?.blockHash, own.prepare?.blockHash, own.commit?.blockHash, decided?.block.hash]
  for (const { block } of kept) hashes.push(block.hash)
  const bodies = [...new Set(hashes)].flatMap(hash => (hash === undefined ? [] : (blocks.get(hash) ?? [])))
  if (decided !== null && !bodies.includes(decided.block)) bodies.push(decided.block)
  height.logged.clear()
  for (const { hash } of bodies) height.logged.add(hash)
  const votes = [own.roundChange, own.prepare, own.commit].filter(vote => vote !== null)
  return [
    ...bodies.map((block): WalRecord => ({ type: 'block', block })),
    ...(round > 0 ? [{ type: 'round', number, round } as const] : []),
    ...[...kept].map((proposal): WalRecord => ({ type: 'proposal', proposal })),
    ...(prepared === null ? [] : [{ type: 'prepared', number, certificate: prepared } as const]),
    ...votes.map((vote): WalRecord => ({ type: 'signed', vote })),
    ...(decided === null ? [] : [{ type: 'decided', ...decided } as const]),
  ]
}

export const isMember = ({ height }: StepContext): boolean => height.config.index >= 0

/** Logs a record; only members have anything that a restart must not forget. */
export const persist = (ctx: StepContext, record: WalRecord): void => {
  if (isMember(ctx)) ctx.out.push({ type: 'persist', record })
}

/** Logs a body once. */
export const persistBlock = (ctx: StepContext, block: Block): void => {
  const { logged } = ctx.height
  if (logged.has(block.hash)) return
  logged.add(block.hash)
  persist(ctx, { type: 'block', block })
}

/** Requests a signature at most once per kind and round, and never for a lower round than before. */
export const requestSignature = (ctx: StepContext, message: UnsignedMessage): void => {
  const { asked } = ctx.height
  if (!isMember(ctx) || asked[message.type] >= message.round) return
  asked[message.type] = message.round
  ctx.out.push({ type: 'sign', message })
}
