import { LIMITS } from '../../config/limits.ts'
import type { Hex } from '../../util/bytes.ts'
import type { Health } from './status.ts'

/** The /health of a node; undefined when it does not answer in time, or not as one of ours. */
export const askHealth = async (url: string): Promise<Health | undefined> => {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(LIMITS.localnet.answerMs) })
    return readHealth(await response.json())
  } catch {
    // Not listening, too slow or no JSON: it shows as silent.
    return undefined
  }
}

const readHealth = (answer: unknown): Health | undefined => {
  if (typeof answer !== 'object' || answer === null) return undefined
  const { number, hash, syncing, mode, round, peers } = answer as Record<string, unknown>
  if (typeof number !== 'number' || typeof round !== 'number' || typeof peers !== 'number') return undefined
  if (typeof hash !== 'string' || typeof mode !== 'string') return undefined
  return { number, hash: hash as Hex, syncing: syncing === true, mode, round, peers }
}
