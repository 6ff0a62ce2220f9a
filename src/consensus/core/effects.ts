import type { Block } from '../../primitives/block.ts'
import type { StepContext, UnsignedMessage, WalRecord } from './types.ts'

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
