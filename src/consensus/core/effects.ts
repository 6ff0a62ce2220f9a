import type { Block } from '../../primitives/block.ts'
import type { Turn, UnsignedMessage, WalRecord } from './types.ts'

export const isMember = ({ height }: Turn): boolean => height.config.index >= 0

/** Only members have something a restart must not forget. */
export const persist = (turn: Turn, record: WalRecord): void => {
  if (isMember(turn)) turn.out.push({ type: 'persist', record })
}

/** Logs a body once. */
export const persistBlock = (turn: Turn, block: Block): void => {
  const { logged } = turn.height
  if (logged.has(block.hash)) return
  logged.add(block.hash)
  persist(turn, { type: 'block', block })
}

/** Asks for a signature, once for each kind and round and never for a lower round again. */
export const ask = (turn: Turn, message: UnsignedMessage): void => {
  const { asked } = turn.height
  if (!isMember(turn) || asked[message.type] >= message.round) return
  asked[message.type] = message.round
  turn.out.push({ type: 'sign', message })
}
