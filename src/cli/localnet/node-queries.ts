import { type Hex, toQuantity } from '@tandem/base/bytes.ts'
import { LOCALNET_LIMITS } from '../../config/limits/commands.ts'
import type { Health } from './report/status.ts'

/** Returns the /health of a node; undefined when it does not answer in time, or not in this node's format. */
export const queryHealth = async (url: string): Promise<Health | undefined> => {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(LOCALNET_LIMITS.answerMs) })
    return readHealth(await response.json())
  } catch {
    // Not listening, too slow or not JSON: shown as silent.
    return undefined
  }
}

/** Returns the hash of a node's block; throws when it does not return one. */
export const queryBlockHash = async (url: string, number: number): Promise<Hex> => {
  const params = [toQuantity(number), false]
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params }),
    signal: AbortSignal.timeout(LOCALNET_LIMITS.hashMs),
  })
  const answer = (await response.json()) as { readonly result?: { readonly hash?: Hex } | null }
  const hash = answer.result?.hash
  if (hash === undefined) throw new Error(`${url} does not return block ${number}.`)
  return hash
}

const readHealth = (answer: unknown): Health | undefined => {
  if (typeof answer !== 'object' || answer === null) return undefined
  const { number, hash, syncing, mode, round, peers } = answer as Record<string, unknown>
  if (typeof number !== 'number' || typeof round !== 'number' || typeof peers !== 'number') return undefined
  if (typeof hash !== 'string' || typeof mode !== 'string') return undefined
  return { number, hash: hash as Hex, syncing: syncing === true, mode, round, peers }
}
